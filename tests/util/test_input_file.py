"""Files that a user names: a pipe or a device is refused before it is opened, and every error has a reason."""

import os

import pytest

from aacbench.util.input_file import read_input
from aacbench.util.paths import expanded


def test_a_file_is_read_whole(tmp_path):
    (tmp_path / "file").write_bytes(b"\r\n\0")
    (tmp_path / "link").symlink_to("file")
    assert read_input(tmp_path / "link") == b"\r\n\0"


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_may_have_no_end_is_refused(tmp_path, kind):
    path = tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="it is a pipe or a device; write its content to a file"):
        read_input(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "Is a directory"), ("none", "No such file"), ("a" * 5000, "too long"), ("a\0b", "contains a NUL character")],
    ids=["folder", "missing", "long", "NUL"],
)
def test_an_error_has_a_reason(tmp_path, name, reason):
    with pytest.raises(OSError, match=reason) as raised:
        read_input(tmp_path / name)
    assert raised.value.strerror


def test_the_home_of_an_unknown_user_stays_as_it_is_written(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert str(expanded("~/x")) == "/home/me/x"
    assert str(expanded("~nobody-here/x")) == "~nobody-here/x"
