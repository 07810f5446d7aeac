"""The contract for authors of methods: frozen records and plain functions. There is nothing to inherit."""
