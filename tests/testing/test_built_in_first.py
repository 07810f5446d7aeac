"""Every built-in method keeps its claims: the first share; one that is added is checked without being named here."""

import pytest
from testing.built_in import check_conformance, share


@pytest.mark.parametrize("name", share(0))
def test_a_built_in_method_conforms(name):
    check_conformance(name)
