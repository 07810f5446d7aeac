"""`aacbench encoders` says what each encoder is, what it learns from and takes, and where to read about it."""

import json
import shlex
from pathlib import Path

import pytest
from cli.command import command
from project import ROOT

from aacbench.cli.encoders import description
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.protocols.choices import parse_methods

GOOD = Path(__file__).parents[1] / "plugins" / "good.py"
BUILT_IN = load_plugins(environment={"AACBENCH_PLUGINS": ""}).encoders()


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_encoder_names_its_page_and_an_example_with_settings_it_takes(name):
    record = description(BUILT_IN[name])
    assert (ROOT / record["docs"]).is_file()
    words = shlex.split(record["example"])
    (choice,) = parse_methods(words[words.index("--encoders") + 1])
    assert choice.name == name
    resolve(BUILT_IN[name].encoder, choice.settings)


def test_the_list_has_every_encoder_and_those_of_plugin_files(capsys):
    own = set(load_plugins((GOOD,)).encoders()) - set(BUILT_IN)
    assert own
    assert command("encoders", "--plugin", GOOD) == 0
    said = capsys.readouterr().out
    assert all(f"\n{name} " in said for name in {*BUILT_IN, *own})
    assert command("encoders", "--json") == 0
    assert [record["name"] for record in json.loads(capsys.readouterr().out)] == list(BUILT_IN)


def test_one_encoder_is_shown_with_labels_parameters_and_page(capsys):
    assert command("encoders", "cnn") == 0
    said = capsys.readouterr().out
    assert "Learns from: costs or paths\n" in said
    assert "loss=classes  (one of classes, mse, spo, gap, dbb, fy)" in said
    assert "docs/contextual.md" in said
    assert command("encoders", "true") == 0
    assert "oracle" in capsys.readouterr().out
    (own,) = set(load_plugins((GOOD,)).encoders()) - set(BUILT_IN)
    assert command("encoders", own, "--plugin", GOOD, "--json") == 0
    assert json.loads(capsys.readouterr().out)["from"] == f"{GOOD} 1.2"


def test_an_unknown_encoder_is_one_sentence(capsys):
    assert command("encoders", "cn") == 2
    assert "did you mean 'cnn'?" in capsys.readouterr().err
