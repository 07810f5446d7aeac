"""Runs: a study is planned as cells, executed, audited and committed to a store that survives."""
