"""Needs a package that nobody has."""

import aacbench_no_such_package  # noqa: F401
