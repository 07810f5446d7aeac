"""The conformance suite for heuristic methods: ours, and those of plugin authors in their own tests."""

from aacbench.testing.pytest_support import parametrize_with_checks
from aacbench.testing.report import Counterexample, Report, Result
from aacbench.testing.suite import CHECKS, Check, check_method
from aacbench.testing.zoo import zoo

__all__ = [
    "CHECKS",
    "Check",
    "Counterexample",
    "Report",
    "Result",
    "check_method",
    "parametrize_with_checks",
    "zoo",
]
