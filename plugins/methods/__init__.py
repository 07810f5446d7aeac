"""The built-in methods: ordinary plugins, one module or package each."""

BUILT_IN = ("dijkstra", "alt", "aac", "cdh", "greedy", "fastmap", "hybrid")
