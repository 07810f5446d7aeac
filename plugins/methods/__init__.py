"""The built-in methods: ordinary plugins, one module or package each, that happen to come with aacbench."""

BUILT_IN = ("dijkstra", "alt", "aac", "cdh", "greedy", "fastmap", "fastmap_paper", "hybrid")
