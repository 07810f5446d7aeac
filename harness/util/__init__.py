"""Paths, atomic files, canonical JSON, texts: small things without knowledge of graphs or heuristics."""
