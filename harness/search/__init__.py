"""Search: compiled Dijkstra and A*, their policies, and the plain-Python tier."""
