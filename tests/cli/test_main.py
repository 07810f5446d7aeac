"""The top of the command: what is wrong with the input is one sentence and exit code 2, and a traceback on request."""

import subprocess
import sys

import pytest

from aacbench.cli.main import main


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--graphs", "atlantis"], "Unknown graph 'atlantis'"),
        (["--graphs", "p7", "--methods", "magic"], "Unknown method 'magic'"),
        (["--graphs", "p7", "--budgets", "a"], "budgets"),
        (["--protocol", "nowhere.toml"], "nowhere.toml"),
        (["--graphs", "file:nowhere.gr"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, tmp_path, words, sentence):
    with pytest.raises(SystemExit) as ended:
        main(["run", "--out", str(tmp_path / "study"), *words])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert sentence in printed.err.splitlines()[-1]
    assert "Traceback" not in printed.err
    assert not (tmp_path / "study").exists()


def test_a_dry_run_shows_files_by_name_and_each_path_once(capsys, tmp_path):
    graph = tmp_path / "line.gr"
    graph.write_text("p sp 50 50\n" + "".join(f"a {i} {i % 50 + 1} 1\n" for i in range(1, 51)))
    with pytest.raises(SystemExit) as ended:
        main(["run", "--dry-run", "--graphs", f"p7,file:{graph}", "--methods", "alt", "--budgets", "32"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert "| file:line.gr |" in text
    assert text.count(str(graph)) == 1


def test_debug_shows_the_traceback(tmp_path):
    command = [sys.executable, "-m", "aacbench", "--debug", "run", "--graphs", "atlantis", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr
