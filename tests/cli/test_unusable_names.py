"""Names that a user gives: one that is too long, a device, or one without permission is a sentence and exit code 2."""

from pathlib import Path

import pytest
from cli.command import command

LONG = "a" * 5000
ON_P7 = ("run", "--methods", "alt", "--graphs", "p7", "--budgets", "8")


def sentence(capsys, *words):
    assert command(*words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    *_, last = said.err.splitlines()  # after those of the progress display
    assert last.startswith("aacbench: ")
    return last


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--protocol", f"./{LONG}"),
        ("run", "--graphs", f"file:{LONG}.gr"),
        ("run", "--plugin", LONG),
        ("run", "--prereg", f"{LONG}.toml"),
        (*ON_P7, "--queries", f"{LONG}.csv"),
        (*ON_P7, "--out", LONG, "--dry-run"),
        ("report", LONG),
        ("status", LONG),
        ("stats", LONG),
        ("compare", LONG, LONG),
        ("replay", "ab", "--study", LONG),
        ("export", "ab", "x", "--study", LONG),
        ("new-method", "mine", "--out", LONG),
        ("prereg", "new", f"{LONG}.toml", "--from", "quick", "--title", "t"),
        ("prereg", "verify", f"{LONG}.toml"),
    ],
    ids=lambda words: " ".join(word for word in words if LONG not in word),
)
def test_a_name_that_is_too_long(capsys, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert "File name too long" in sentence(capsys, *words)
    assert not list(tmp_path.iterdir())


def test_a_protocol_whose_name_is_too_long_for_a_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f'protocol = "{LONG}"\nsummary = "long"\ngraphs = ["p7"]\nbudgets = [8]\nseeds = [1]\n'
    text += '[queries]\nmode = "uniform"\ntest = 3\n[[methods]]\nname = "alt"\n'
    Path("long.toml").write_text(text, encoding="utf-8")
    assert "cannot be used (File name too long); choose another name" in sentence(
        capsys, "run", "--dry-run", "--protocol", "long.toml"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.toml", ("run", "--protocol", "x.toml")),
        ("x.gr", ("graphs", "show", "file:x.gr")),
        ("x.csv", (*ON_P7, "--queries", "x.csv")),
        ("x.scen", (*ON_P7, "--queries", "x.scen")),
        ("x.py", ("plugins", "--plugin", "x.py")),
        ("x.toml", ("prereg", "plan", "x.toml")),
    ],
    ids=["protocol", "graph", "queries", "scenario", "plugin", "registration"],
)
def test_a_device_in_place_of_a_file(capsys, tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    Path(name).symlink_to("/dev/null")
    assert "is a pipe or a device; write its content to a file" in sentence(capsys, *words)


@pytest.mark.parametrize("file", ["device.py", "loop.py", "~nobody-here/x.py"])
def test_a_plugin_of_the_environment_that_cannot_be_read_is_listed_with_the_reason(capsys, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    Path("device.py").symlink_to("/dev/null")
    Path("loop.py").symlink_to("loop.py")
    monkeypatch.setenv("AACBENCH_PLUGINS", file)
    assert command("plugins") == 0
    assert f"{tmp_path / file}): It cannot be imported" in capsys.readouterr().out


def test_a_graph_in_the_home_of_an_unknown_user(capsys):
    assert "~nobody-here/x.gr does not exist" in sentence(capsys, "graphs", "show", "file:~nobody-here/x.gr")


def test_a_folder_that_may_not_be_entered(capsys, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refused)
    assert sentence(capsys, "report", "s") == (
        "aacbench: s/plan.json cannot be used (Permission denied); choose another name or folder."
    )
