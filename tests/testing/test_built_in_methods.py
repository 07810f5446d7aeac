"""Every method that comes with aacbench keeps its claims; one that is added is checked without being named here."""

from functools import cache, partial

import pytest

from aacbench.cli.methods import method_in_worker
from aacbench.plugins.manager import load_plugins
from aacbench.testing import check_method


@cache
def built_in():
    plugins = load_plugins(environment={"AACBENCH_PLUGINS": ""})
    assert plugins.problems() == []
    return {name: loaded.method for name, loaded in plugins.methods().items()}


@pytest.mark.parametrize("name", sorted(built_in()))
def test_a_built_in_method_conforms(name):
    report = check_method(built_in()[name], locate=partial(method_in_worker, (), name))
    assert report.ok, report.text()
    assert report.ran == report.due, report.text()
