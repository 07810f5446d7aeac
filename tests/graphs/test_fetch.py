"""Data files are found, verified and downloaded; never is half a file left behind."""

import errno
import gzip
import hashlib
import http.server
import os
import subprocess
import sys
import threading
import warnings
from types import SimpleNamespace

import pytest

from aacbench.errors import DataError, MissingDataError, StoreError
from aacbench.graphs import fetch
from aacbench.graphs.catalogue import DataFile

CONTENT = b"p sp 2 1\na 1 2 7\n" * 2000


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Answers(http.server.BaseHTTPRequestHandler):
    """What a path is named after is what goes wrong with it."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if "gone" in self.path or ("flaky" in self.path and self.server.asked.count(self.path) == 1):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT) + 1000 * ("truncated" in self.path)))
        self.end_headers()
        self.wfile.write(CONTENT[::-1] if "corrupted" in self.path else CONTENT)

    def log_message(self, *args):
        """Keep the test's output clean."""


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as listening:
        listening.asked = []
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield SimpleNamespace(at=f"http://127.0.0.1:{listening.server_address[1]}", asked=listening.asked)
        listening.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "RETRIES", 0)
    return SimpleNamespace(own=tmp_path / "own", cached=tmp_path / "cache" / "data")


def wanted(address=None, **changes):
    fields = {"at": "set/graph.gr", "address": address, "sha256": (sha256(CONTENT),), "how_to_get": None}
    return DataFile(**(fields | changes))


def put(folder, content=CONTENT, at="set/graph.gr"):
    path = folder / at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_own_folder_comes_before_the_cache(places, server):
    put(places.cached)
    path = put(places.own)
    assert fetch.obtain(wanted(f"{server.at}/good")) == fetch.Found(path, sha256(CONTENT))
    assert server.asked == []


def test_a_folder_that_cannot_be_looked_into_is_one_sentence(places, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(places.own), "is_file", refused)
    with pytest.raises(DataError, match=rf"{places.own}.* cannot be accessed \(Permission denied\)"):
        fetch.obtain(wanted())


def test_a_cache_that_cannot_be_looked_into_holds_nothing(places, server, monkeypatch):
    monkeypatch.setattr(fetch, "cache_folders", lambda: (places.own / ("x" * 300), places.cached.parent))
    path = put(places.cached)
    assert fetch.obtain(wanted(f"{server.at}/good")).path == path


def test_the_cache_comes_before_the_network(places, server):
    path = put(places.cached)
    assert fetch.obtain(wanted(f"{server.at}/good")).path == path
    assert server.asked == []


def test_what_is_nowhere_is_downloaded_once(places, server):
    for _ in range(2):
        found = fetch.obtain(wanted(f"{server.at}/good"))
        assert found == fetch.Found(places.cached / "set/graph.gr", sha256(CONTENT))
    assert found.path.read_bytes() == CONTENT
    assert found.path.stat().st_mode & 0o777 == 0o644
    assert server.asked == ["/good"]
    assert files_below(places.cached.parent) == [found.path]


def test_a_wrong_file_of_the_users_is_an_error_that_names_both_digests(places, server):
    path = put(places.own, b"other")
    with pytest.raises(DataError) as error:
        fetch.obtain(wanted(f"{server.at}/good"))
    for part in (str(path), sha256(b"other"), sha256(CONTENT)):
        assert part in str(error.value)
    assert path.read_bytes() == b"other"
    assert server.asked == []


def test_a_wrong_file_in_the_cache_is_downloaded_anew(places, server):
    path = put(places.cached, b"damaged")
    assert fetch.obtain(wanted(f"{server.at}/good")).path == path
    assert path.read_bytes() == CONTENT


def test_a_wrong_file_in_the_cache_without_an_address_is_an_error(places):
    path = put(places.cached, b"damaged")
    with pytest.raises(DataError, match=str(path)):
        fetch.obtain(wanted(how_to_get="ask"))


@pytest.mark.parametrize(
    ("at", "lies_at", "content"),
    [
        ("set/graph.gr.gz", "set/graph.gr", CONTENT),
        ("set/graph.gr", "set/graph.gr.gz", gzip.compress(CONTENT, 1, mtime=0)),
        ("set/graph.gr.gz", "set/graph.gr.gz", gzip.compress(CONTENT, 1, mtime=0)),
    ],
    ids=["unpacked", "packed", "packed again"],
)
def test_compression_does_not_make_it_another_file(places, at, lies_at, content):
    path = put(places.own, content, lies_at)
    assert fetch.obtain(wanted(at=at)) == fetch.Found(path, sha256(content))


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(CONTENT, mtime=0)[:-9], gzip.compress(CONTENT, mtime=0)[:20] + b"\0" * 40],
    ids=["no gzip", "cut", "overwritten"],
)
def test_a_broken_gzip_is_a_wrong_file(places, content):
    put(places.own, content, "set/graph.gr.gz")
    with pytest.raises(DataError, match=sha256(content)):
        fetch.obtain(wanted(at="set/graph.gr.gz"))


def test_a_file_is_not_unpacked_beyond_the_limit_to_compare_its_content(places, monkeypatch):
    put(places.own, gzip.compress(CONTENT), "set/graph.gr.gz")
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "1e-5")
    with pytest.raises(DataError, match=r"^graph\.gr\.gz unpacks to more than 1e-05 GiB"):
        fetch.obtain(wanted(at="set/graph.gr.gz"))


@pytest.mark.parametrize(
    "changes", [{"sha256": ()}, {"sha256": ("0" * 64,), "editions": "another edition"}], ids=["unknown", "editions"]
)
def test_a_file_of_unknown_digest_is_accepted_with_a_warning_that_prints_it(places, changes):
    path = put(places.own)
    with pytest.warns(fetch.UnverifiedDataWarning, match=sha256(CONTENT)):
        assert fetch.obtain(wanted(**changes)).path == path


def test_the_warning_says_how_to_pin_the_file_and_that_http_is_open(places, server):
    with pytest.warns(fetch.UnverifiedDataWarning) as told:
        fetch.obtain(wanted(f"{server.at}/good", sha256=()))
    message = str(told[0].message)
    for part in (f"{server.at}/good", "plain http", sha256(CONTENT), "sha256 of set/graph.gr in graphs/catalogue.toml"):
        assert part in message


def test_a_known_digest_needs_no_warning_even_where_editions_differ(places):
    put(places.own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fetch.obtain(wanted(editions="another edition"))


def test_a_corrupted_download_is_refused_and_nothing_is_left(places, server):
    with pytest.raises(DataError, match=sha256(CONTENT[::-1])) as error:
        fetch.obtain(wanted(f"{server.at}/corrupted"))
    assert server.at in str(error.value)
    assert files_below(places.cached.parent) == []


@pytest.mark.parametrize("digests", [(sha256(CONTENT),), ()], ids=["known", "unknown"])
def test_a_truncated_download_leaves_nothing(places, server, digests):
    with pytest.raises(MissingDataError, match="could not be downloaded"):
        fetch.obtain(wanted(f"{server.at}/truncated", sha256=digests))
    assert files_below(places.cached.parent) == []


def test_a_download_that_does_not_fit_on_the_disk_names_the_cache(places, server, monkeypatch):
    def full_disk(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(StoreError, match=f"The disk of {places.cached.parent} is full; free some space"):
        fetch.obtain(wanted(f"{server.at}/good"))
    assert files_below(places.cached.parent) == []


def test_a_refusal_of_the_server_is_told_with_both_places(places, server):
    with pytest.raises(MissingDataError) as error:
        fetch.obtain(wanted(f"{server.at}/gone"))
    for part in ("404", f"{server.at}/gone", str(places.own / "set/graph.gr"), str(places.cached / "set/graph.gr")):
        assert part in str(error.value)
    assert files_below(places.cached.parent) == []


def test_no_network_is_one_sentence(places, server, monkeypatch):
    monkeypatch.delenv("AACBENCH_DATA")
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as unused:
        port = unused.server_address[1]
    with pytest.raises(MissingDataError) as error:
        fetch.obtain(wanted(f"http://127.0.0.1:{port}/good"))
    for part in ("set/graph.gr", f"127.0.0.1:{port}", "AACBENCH_DATA", str(places.cached / "set/graph.gr")):
        assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_without_address_says_how_to_get_it(places):
    with pytest.raises(MissingDataError, match="unpack the archive, and put it at") as error:
        fetch.obtain(wanted(how_to_get="unpack the archive"))
    assert str(places.own / "set/graph.gr") in str(error.value)


def test_a_passing_fault_is_tried_again(places, server, monkeypatch):
    monkeypatch.setattr(fetch, "RETRIES", 1)
    fetch.obtain(wanted(f"{server.at}/flaky"))
    assert server.asked == ["/flaky", "/flaky"]


def test_a_cache_that_cannot_hold_the_file_is_told(places, server):
    places.cached.parent.mkdir()
    places.cached.write_text("in the way")
    with pytest.raises(MissingDataError, match="could not be downloaded"):
        fetch.obtain(wanted(f"{server.at}/good"))


FETCHER = """
import sys
from aacbench.graphs.catalogue import DataFile
from aacbench.graphs.fetch import obtain
print(obtain(DataFile(at="set/graph.gr", address=sys.argv[1], sha256=(sys.argv[2],))).sha256)
"""


def test_two_processes_at_once_both_end_well(places, server):
    command = [sys.executable, "-c", FETCHER, f"{server.at}/good", sha256(CONTENT)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in both] == [sha256(CONTENT)] * 2
    assert files_below(places.cached.parent) == [places.cached / "set/graph.gr"]
