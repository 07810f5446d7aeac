"""Closes what the command prints to."""

import sys

sys.stdout.close()
