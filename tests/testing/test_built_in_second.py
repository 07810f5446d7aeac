"""Every built-in method keeps its claims: the second share; one that is added is checked without being named here."""

import pytest
from testing.built_in import check_conformance, share


@pytest.mark.parametrize("name", share(1))
def test_a_built_in_method_conforms(name):
    check_conformance(name)
