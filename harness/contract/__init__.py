"""What the author of a method works with: frozen records and plain functions, nothing to inherit."""
