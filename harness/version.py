"""The version of aacbench, in one place."""

VERSION = "0.1.0"
