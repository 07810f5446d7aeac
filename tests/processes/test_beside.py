"""Work in a forked process."""

import os
import time

import pytest

from aacbench.processes.beside import beside


def test_the_work_is_done_in_another_process_at_the_end_of_the_block(tmp_path):
    def work():
        time.sleep(0.05)
        (tmp_path / "done").write_text(str(os.getpid()))

    with beside(work):
        (tmp_path / "here").write_text(str(os.getpid()))
    assert (tmp_path / "here").read_text() == str(os.getpid()) != (tmp_path / "done").read_text()


def test_work_that_fails_there_is_done_here(tmp_path):
    calls = []

    def work():
        calls.append(os.getpid())
        raise ValueError("no space")

    with pytest.raises(ValueError, match="no space"), beside(work):
        pass
    assert calls == [os.getpid()]


def test_an_error_of_the_block_is_the_one_that_is_seen(tmp_path):
    with pytest.raises(LookupError), beside(lambda: 1 / 0):
        raise LookupError
