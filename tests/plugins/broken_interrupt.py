"""Stands for a user who presses Ctrl-C while it is imported."""

raise KeyboardInterrupt
