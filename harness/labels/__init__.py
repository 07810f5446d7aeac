"""Landmark labels: pools, distance tables and covering radii."""
