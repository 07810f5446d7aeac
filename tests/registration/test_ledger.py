"""The ledger: a chain that nothing can be taken from, put into or changed in without a sentence about it."""

import multiprocessing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import LockError
from aacbench.prereg.ledger import FIRST, append, entry, parse, read_ledger

TIME = "2026-01-01T00:00:00.000+00:00"


def chain(count):
    made = []
    for number in range(1, count + 1):
        event = ("close", "withdraw")[number % 2]
        made.append(entry(number, event, "r", {"reason": str(number)}, made[-1].digest if made else FIRST, TIME))
    return [line.line() for line in made]


LEDGERS = st.integers(2, 6).map(chain)


@given(LEDGERS)
def test_a_sound_chain_is_sound(lines):
    entries, problems = parse(b"".join(lines))
    assert problems == []
    assert [found.number for found in entries] == list(range(1, len(lines) + 1))


@given(LEDGERS, st.data())
def test_no_byte_changes_unseen(lines, data):
    whole = bytearray(b"".join(lines))
    at = data.draw(st.integers(0, len(whole) - 1))
    new = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    whole[at] = new
    assert parse(bytes(whole))[1]


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
    lines.insert(at, entry(at + 1, "close", "r", {"reason": "none"}, FIRST, TIME).line())
    assert parse(b"".join(lines))[1]


@given(st.binary(max_size=60))
def test_junk_is_told_and_not_raised(junk):
    assert not junk or parse(junk)[1]


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
    entries, problems = read_ledger(path)
    assert problems == []
    assert len(entries) == 40
