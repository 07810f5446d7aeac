"""The plugin layer is tested with one built-in, whichever others are shipped."""

import pytest


@pytest.fixture(autouse=True)
def one_built_in(monkeypatch):
    monkeypatch.setattr("aacbench.plugins.loader.BUILT_IN", ("dijkstra",))
    monkeypatch.setattr("aacbench.plugins.loader.ENCODERS", ())
