"""Whether torch can be used: a user may have left it out, or have a broken copy of it."""

from importlib.util import find_spec

from aacbench.errors import UsageError
from aacbench.util.text import describe

MISSING = "torch is not installed; install it with pip (a CPU build is enough)"


def torch_missing() -> bool:
    """Return whether there is no torch at all; this imports nothing."""
    return find_spec("torch") is None


def require_torch() -> None:
    """Import torch, and say what to do where that fails: what is raised then is the library's, and may be anything."""
    try:
        from torch import nn  # noqa: F401  a folder that pip left behind is importable, and empty
    except Exception as error:
        raise UsageError(
            f"torch is installed but cannot be used ({describe(error)}); install it again with pip, then run "
            "again with --existing retry-failed."
        ) from error
