"""What the exit codes of `aacbench` mean."""

ALL_OK, SOME_FAILED, USAGE, SOME_WRONG, MISMATCH, NOTHING_RAN = range(6)
