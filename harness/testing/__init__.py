"""The conformance suite for heuristic methods: for those of aacbench, and for plugin authors in their own tests."""

from aacbench.testing.report import Counterexample, Report, Result
from aacbench.testing.runners import check_method, parametrize_with_checks
from aacbench.testing.suite import CHECKS, Check
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
