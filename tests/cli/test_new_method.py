"""`aacbench new-method`: what it writes installs without a network, passes its own tests, and is found and checked."""

import os
import subprocess
import sys

import pytest
from cli.command import command


def run(folder, *words, site=None):
    clean = {key: value for key, value in os.environ.items() if key != "AACBENCH_PLUGINS"}
    path = os.pathsep.join(filter(None, [str(site) if site else "", clean.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=folder,
        env={**clean, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_package_installs_and_passes_as_it_is(tmp_path, capsys):
    package, site = tmp_path / "mine", tmp_path / "site"
    assert command("new-method", "my-method", "--out", package) == 0
    assert "aacbench check my-method" in capsys.readouterr().out
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    run(tmp_path, "pip", "install", *offline, "--target", site, package)
    listed = run(tmp_path, "aacbench", "plugins", site=site)
    (line,) = [line for line in listed.splitlines() if line.startswith("my-method")]
    assert line.split() == ["my-method", "0.1.0", "aacbench-my-method", "my-method"]
    tested = run(package, "pytest", "-q", "-p", "no:cacheprovider", site=site)
    assert "17 passed, 1 skipped" in tested


def test_the_method_is_short_and_uses_the_budget(tmp_path, capsys):
    assert command("new-method", "hubs", "--out", tmp_path / "hubs") == 0
    source = (tmp_path / "hubs" / "aacbench_hubs.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 40
    assert "$" not in "".join(path.read_text() for path in (tmp_path / "hubs").rglob("*.*"))
    hubs = tmp_path / "hubs" / "aacbench_hubs.py"
    where = ("--graphs", "grid-8", "--budgets", "32", "--queries", "3/5", "--workers", "1", "--out", tmp_path / "study")
    assert command("run", "--plugin", hubs, "--methods", "hubs", *where) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "| hubs" in line]
    assert "| K=8 " in row  # eight labels of four bytes, on a symmetric graph


def test_nothing_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command("new-method", "mine") == 0
    (tmp_path / "aacbench-mine" / "setup.cfg").write_text("precious")
    assert command("new-method", "mine") == 2
    assert "aacbench-mine exists" in capsys.readouterr().err
    assert (tmp_path / "aacbench-mine" / "setup.cfg").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    assert command("new-method", "mine", "--out", "empty") == 2
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("name", ["My Method", "9lives", "a_b", "../up", "-x-", "", "é", "a" * 60])
def test_a_name_must_be_one(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    assert command("new-method", "--", name) == 2
    assert "small letters, digits and hyphens" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["alt", "fps-rr10"])
def test_a_name_that_is_taken_is_refused(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    assert command("new-method", name) == 2
    assert f"The name {name!r} is taken" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert command("new-method", "mine", "--out", tmp_path / "file" / "below") == 2
    assert "cannot be written" in capsys.readouterr().err
