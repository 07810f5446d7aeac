"""Reports: what a study found, as tables that can be pasted."""
