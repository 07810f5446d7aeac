"""`aacbench demo` prints real rows, and says in one sentence what is wrong with its input."""

import subprocess
import sys

import pytest

from aacbench.cli.main import main


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_the_demonstration_counts_what_it_says(capsys):
    code, out, _ = run(capsys, "demo", "--graphs", "p7,road-500", "--landmarks", "1,2", "--queries", "30")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines() if "|" in line][2:]
    assert code == 0
    assert [row[0] for row in rows] == ["p7"] * 3 + ["road-500"] * 3
    assert [int(row[2]) for row in rows] == [0, 4, 8, 0, 8, 16]
    assert {row[-1] for row in rows} == {"yes"}
    for row in rows:
        base = next(other for other in rows if other[0] == row[0])
        assert float(row[5]) == pytest.approx(100 * (1 - float(row[3]) / float(base[3])), abs=0.3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--graphs", "atlantis"], "no graph 'atlantis'"),
        (["--graphs", "p7", "--landmarks", "8"], "8 landmarks cannot"),
        (["--graphs", "p7", "--landmarks", "a"], "4,8,16"),
        (["--graphs", "p7", "--queries", "0"], "0"),
        (["--graphs", "file:nowhere.gr"], "no file"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, words, sentence):
    code, out, err = run(capsys, "demo", *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_debug_shows_the_traceback():
    command = [sys.executable, "-m", "aacbench", "--debug", "demo", "--graphs", "atlantis"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr
