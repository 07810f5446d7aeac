"""`aacbench methods` says what each method is, what it claims and takes, and where to read about it."""

import json
import shlex
from dataclasses import fields, replace
from pathlib import Path

import pytest
from cli.command import command
from project import ROOT

from aacbench.cli.methods import CLAIMS, description
from aacbench.contract.method import Claims
from aacbench.plugins.checks import check_method
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.records import PluginError
from aacbench.plugins.settings import resolve
from aacbench.protocols.choices import parse_methods

GOOD = Path(__file__).parents[1] / "plugins" / "good.py"
BUILT_IN = load_plugins(environment={"AACBENCH_PLUGINS": ""}).methods()


def test_every_claim_has_words():
    assert list(CLAIMS) == [claim.name for claim in fields(Claims)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_method_names_a_page_that_names_it(name):
    page = ROOT / BUILT_IN[name].method.docs
    assert page.is_file()
    assert f"`{name}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_example_of_a_method_is_a_command_with_settings_it_takes(name):
    words = shlex.split(description(BUILT_IN[name])["example"])
    _, choice = parse_methods(words[words.index("--methods") + 1])
    assert choice.name == name
    resolve(BUILT_IN[name].method, choice.settings)


def test_only_methods_for_maps_alone_have_an_example_on_maps():
    on_maps = {name for name in BUILT_IN if "--encoders" in description(BUILT_IN[name])["example"]}
    assert on_maps == {"hops", "chebyshev", "cells"}


def test_the_list_has_every_method_and_those_of_plugin_files(capsys):
    assert command("methods", "--json", "--plugin", GOOD) == 0
    records = {record["name"]: record for record in json.loads(capsys.readouterr().out)}
    assert {*BUILT_IN, "flat"} <= set(records)
    assert records["flat"]["from"] == f"{GOOD} 1.2"
    assert records["fastmap-paper"]["claims_in_short"] == "not admissible, not consistent"
    assert command("methods") == 0
    said = capsys.readouterr().out
    assert "admissible, consistent, oracle" in said
    assert all(f"\n{name} " in said for name in BUILT_IN)


def test_claims_that_depend_on_a_setting_are_named_with_it(capsys):
    assert command("methods", "greedy-train") == 0
    assert "\n  but not consistent with labels=u16, labels=u8, labels=u6\n" in capsys.readouterr().out
    assert command("methods", "greedy-train[labels=u8]") == 0
    said = capsys.readouterr().out
    assert "\n  not consistent: vertices may be expanded again" in said
    assert "but not" not in said
    assert command("methods", "greedy-train[labels=u9]") == 2
    assert "takes one of auto" in capsys.readouterr().err
    assert description(BUILT_IN["ch"])["waived"] == {}


def test_one_method_is_shown_with_claims_parameters_search_and_page(capsys):
    assert command("methods", "cdh") == 0
    said = capsys.readouterr().out
    assert "not consistent: vertices may be expanded again" in said
    assert "P=64  (a whole number from 1 to 1024)" in said
    assert "Search: bpmx=on reopen=on" in said
    assert "docs/methods/cdh.md" in said


def test_claims_of_a_method_made_of_others_are_said_to_depend_on_them(capsys):
    assert command("methods", "best") == 0
    assert "Claims by itself; with its parts it makes those that all of them make" in capsys.readouterr().out


def test_labels_are_explained_where_they_are_a_parameter(capsys):
    assert command("methods", "alt") == 0
    said = " ".join(capsys.readouterr().out.split())
    page = (ROOT / "docs" / "methods" / "alt.md").read_text(encoding="utf-8")
    for value in BUILT_IN["alt"].method.parameters["labels"].choices:
        assert f"{value} (" in said or f"{value} is" in said
        assert f"| `{value}`" in page


def test_an_unknown_method_is_one_sentence(capsys):
    assert command("methods", "atl") == 2
    assert "did you mean 'alt'?" in capsys.readouterr().err


def test_a_page_that_is_not_text_refuses_the_plugin():
    with pytest.raises(PluginError, match="`docs` of method 'alt' must be text"):
        check_method(replace(BUILT_IN["alt"].method, docs=GOOD))
