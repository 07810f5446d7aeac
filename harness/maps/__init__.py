"""Map sets: images of terrain with the cost of each cell and a shortest path, for contextual planning."""
