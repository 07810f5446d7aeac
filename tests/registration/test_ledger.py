"""The ledger: every removed, inserted or changed line is reported."""

import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import LockError
from aacbench.prereg.ledger import FIRST, append, make_entry, parse, read_ledger

TIME = "2026-01-01T00:00:00.000+00:00"


def chain(count):
    made = []
    for number in range(1, count + 1):
        event = ("close", "withdraw")[number % 2]
        made.append(make_entry(number, event, "r", {"reason": str(number)}, made[-1].digest if made else FIRST, TIME))
    return [line.line() for line in made]


LEDGERS = st.integers(2, 6).map(chain)


@given(LEDGERS)
def test_a_sound_chain_is_sound(lines):
    entries, problems, torn = parse(b"".join(lines))
    assert (problems, torn) == ([], False)
    assert [found.number for found in entries] == list(range(1, len(lines) + 1))


@given(LEDGERS, st.data())
def test_no_byte_changes_unseen(lines, data):
    whole = bytearray(b"".join(lines))
    at = data.draw(st.integers(0, len(whole) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    whole[at] = new
    found = parse(bytes(whole))
    assert found.problems or found.torn


@given(LEDGERS, st.data())
def test_no_line_but_the_last_goes_unseen(lines, data):
    del lines[data.draw(st.integers(0, len(lines) - 2))]
    assert parse(b"".join(lines))[1]


@given(LEDGERS, st.data())
def test_no_two_lines_change_places_unseen(lines, data):
    first = data.draw(st.integers(0, len(lines) - 2))
    second = data.draw(st.integers(first + 1, len(lines) - 1))
    lines[first], lines[second] = lines[second], lines[first]
    assert parse(b"".join(lines))[1]


@given(LEDGERS, st.data())
def test_no_line_comes_in_unseen(lines, data):
    at = data.draw(st.integers(0, len(lines) - 1))
    lines.insert(at, make_entry(at + 1, "close", "r", {"reason": "none"}, FIRST, TIME).line())
    assert parse(b"".join(lines))[1]


@given(st.binary(max_size=60))
def test_junk_is_told_and_not_raised(junk):
    found = parse(junk)
    assert not junk or found.problems or found.torn


def test_the_digest_of_a_line_is_what_it_was():
    facts = {"what": ["seed"], "reason": "é 1e-7", "x": [0.1, 1e-7]}
    line = make_entry(2, "deviate", "r", facts, FIRST, TIME)
    assert line.digest == "68e4723e8117dfaaa3d618c779ecbb66e9bc29fb987538539d520d1154e94059"


def test_a_line_with_nan_is_reported_and_not_raised():
    line = chain(1)[0].replace(b'"number":1', b'"number":1e400')
    assert parse(line)[1]
    assert parse(chain(1)[0].replace(b'"reason":"1"', b'"reason":"1","x":NaN')).problems


def test_a_broken_ledger_is_not_written_on(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"".join(chain(3)[1:]))
    with pytest.raises(LockError, match="written as line 2"):
        append(path, "close", "r", {"reason": "none"})


def _many(path):
    for number in range(20):
        append(path, "deviate", "r", {"what": [], "reason": str(number)})


def test_two_processes_write_one_chain(tmp_path):
    path = tmp_path / "new" / "ledger.jsonl"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_many, args=(path,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    entries, problems, _ = read_ledger(path)
    assert problems == []
    assert len(entries) == 40
