"""Generators: graphs made by a recipe and a seed, the same on every machine."""
