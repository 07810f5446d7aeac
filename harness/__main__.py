"""`python -m aacbench` is the `aacbench` command."""

from aacbench.cli import main

main()
