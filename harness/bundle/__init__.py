"""A heuristic as deployed: arrays and a description on disk, counted, held against a budget, made searchable."""
