"""What a comparison comes to, in four words, and the states in which it comes to nothing."""

EQUIVALENT = "equivalent"
DIFFERENT = "different"
WITHIN = "different but within the margin"
INCONCLUSIVE = "inconclusive"
OUTCOMES = (EQUIVALENT, WITHIN, DIFFERENT, INCONCLUSIVE)

OK = "ok"
DEGENERATE = "degenerate"  # differences without any spread: the difference is exact, and no test applies
QUERIES_ONLY = "queries only"  # fewer than two seeds: nothing is said about other builds
NOT_TESTED = "not tested"  # an estimate, and no inference that this profile allows
UNDEFINED = "undefined"  # not even an estimate
STATUSES = (OK, DEGENERATE, QUERIES_ONLY, NOT_TESTED, UNDEFINED)


def four_way(differs: bool, is_equivalent: bool) -> str:
    """A difference that was shown, equivalence that was shown, both, or neither: not rejected is never rejected."""
    if differs:
        return WITHIN if is_equivalent else DIFFERENT
    return EQUIVALENT if is_equivalent else INCONCLUSIVE
