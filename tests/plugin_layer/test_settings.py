"""Settings of a method: defaults, conversion from text, and errors that say what there is."""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.contract.method import Method, Parameter
from aacbench.contract.parameters import SEARCH_SWITCHES, as_text
from aacbench.errors import UsageError
from aacbench.plugins import settings
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve

GOOD = Path(__file__).parent.parent / "plugins" / "good.py"
DEFAULTS = {"K0": 64, "rate": 0.001, "start": "lowest", "sound": True}


@pytest.fixture(scope="module")
def manager():
    return load_plugins([GOOD], {"AACBENCH_PLUGINS": ""})


@pytest.fixture(scope="module")
def flat(manager):
    return manager.method("flat").method


def test_defaults_are_filled_in_in_declared_order(flat):
    assert list(resolve(flat, {"sound": "no", "K0": "8"}).items()) == [
        ("K0", 8),
        ("rate", 0.001),
        ("start", "lowest"),
        ("sound", False),
    ]
    assert resolve(flat, {}) == DEFAULTS


def test_a_whole_number_serves_where_a_number_is_wanted(flat):
    rate = resolve(flat, {"rate": 1})["rate"]
    assert (rate, type(rate)) == (1.0, float)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"k0": 8},
            r"'flat' has no parameter 'k0'; did you mean 'K0'\? It has K0 \(a whole number from 1 to 512\);",
        ),
        ({"zzz": 8}, r"'flat' has no parameter 'zzz'\. It has K0 .*; sound \(true or false\)\.$"),
        ({"K0": "8.0"}, r"'K0' of method 'flat' takes a whole number from 1 to 512, not '8.0'"),
        ({"K0": 8.0}, r"a whole number from 1 to 512, not 8.0"),
        ({"K0": True}, r"a whole number from 1 to 512, not True"),
        ({"K0": 0}, r"a whole number from 1 to 512, not 0"),
        ({"K0": "513"}, r"a whole number from 1 to 512, not '513'"),
        ({"rate": "nan"}, r"'rate' of method 'flat' takes a number from 0, not 'nan'"),
        ({"rate": "inf"}, r"a number from 0, not 'inf'"),
        ({"rate": 10**400}, r"a number from 0, not 1000"),
        ({"rate": None}, r"a number from 0, not None"),
        ({"start": "highest"}, r"'start' of method 'flat' takes one of lowest, random, not 'highest'"),
        ({"start": 3}, r"one of lowest, random, not 3"),
        ({"sound": "maybe"}, r"'sound' of method 'flat' takes true or false, not 'maybe'"),
        ({"sound": 1}, r"true or false, not 1"),
    ],
)
def test_a_wrong_setting_is_a_usage_error_that_says_what_is_right(flat, settings, message):
    with pytest.raises(UsageError, match=message):
        resolve(flat, settings)


def test_a_method_without_parameters_says_so(manager):
    with pytest.raises(UsageError, match=r"'dijkstra' has no parameter 'K0'; it has no parameters"):
        resolve(manager.method("dijkstra").method, {"K0": 1})


KINDS = [st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()]


@given(st.one_of([st.tuples(kind, kind) for kind in KINDS]))
def test_what_is_written_is_read_back(default_and_value):
    default, value = default_and_value
    method = Method("any", "any", None, None, parameters={"key": Parameter(default)})
    read = resolve(method, {"key": as_text(value)})["key"]
    assert (read, type(read)) == (value, type(value))


def test_an_unknown_method_gets_a_suggestion_and_the_list(manager):
    wanted = r"Unknown method 'djikstra'; did you mean 'dijkstra'\? Known methods: dijkstra, (.*, )?flat, flat-twin\."
    with pytest.raises(UsageError, match=wanted):
        manager.method("djikstra")


def test_an_unknown_method_beside_a_broken_plugin_points_to_it():
    manager = load_plugins([GOOD.parent / "broken_half.py"], {"AACBENCH_PLUGINS": ""})
    with pytest.raises(UsageError, match="could not be loaded and may define it: broken_half"):
        manager.method("better-half")


def test_the_switches_of_the_search_are_those_of_its_policy():
    from dataclasses import fields

    from aacbench.search.policy import Policy

    assert set(SEARCH_SWITCHES) == {field.name for field in fields(Policy)}


def checked(check):
    parameters = {"low": Parameter(1), "high": Parameter(2)}
    return Method("span", "two ends", lambda *_: {}, lambda _: None, parameters=parameters, check=check)


def test_a_method_may_object_to_settings_that_do_not_go_together():
    span = checked(lambda params: "" if params["low"] <= params["high"] else "low is at most high.")
    assert resolve(span, {"high": "3"}) == {"low": 1, "high": 3}
    with pytest.raises(UsageError, match="Method 'span': low is at most high"):
        resolve(span, {"low": 5})


def test_a_check_that_fails_is_told_and_not_passed_on():
    with pytest.raises(UsageError, match="Method 'span': its check of the settings failed with KeyError: 'middle'"):
        resolve(checked(lambda params: params["middle"]), {})
    with pytest.raises(UsageError, match="its check of the settings failed with SystemExit: 3"):
        resolve(checked(lambda params: sys.exit(3)), {})
    with pytest.raises(UsageError, match="its check of the settings must return text, not None"):
        resolve(checked(lambda params: params.clear()), {})


def test_a_check_that_hangs_is_told(monkeypatch):
    monkeypatch.setattr(settings, "CHECK_SECONDS", 0.1)
    with pytest.raises(UsageError, match=r"failed with TimeoutError: it took longer than 0\.1 seconds"):
        resolve(checked(lambda params: time.sleep(60)), {})
