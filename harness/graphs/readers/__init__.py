"""Readers: one file per format, each a function from a path to a `Graph`."""
