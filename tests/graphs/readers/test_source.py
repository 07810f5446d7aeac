"""Data files: unpacked whatever their name, damage is an error on its line, and numbers are read strictly."""

import gzip
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs.readers import number, open_source, quoted

TEXT = b"one\ntwo\nthree\n" * 50


def write(folder, data, name="x.gr"):
    path = folder / name
    path.write_bytes(data)
    return path


def test_gzip_is_known_by_its_first_bytes_whatever_the_name(tmp_path):
    assert open_source(write(tmp_path, gzip.compress(TEXT), "packed.gr")).data == TEXT
    assert open_source(write(tmp_path, TEXT, "plain.gr.gz")).data == TEXT


def test_a_gzip_file_of_several_parts_is_read_whole(tmp_path):
    assert open_source(write(tmp_path, gzip.compress(TEXT) + gzip.compress(b"end"))).data == TEXT + b"end"


@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_no_part_of_the_content(tmp_path, packed):
    data = b"\xef\xbb\xbf" + TEXT
    assert open_source(write(tmp_path, gzip.compress(data) if packed else data)).data == TEXT


def test_a_wrong_checksum_is_an_error(tmp_path):
    packed = bytearray(gzip.compress(TEXT))
    packed[-8] ^= 1
    with pytest.raises(DataError, match=r"^x\.gr: the gzip file is damaged \(CRC check failed.*fetch it again\.$"):
        open_source(write(tmp_path, bytes(packed)))


def test_a_gzip_file_cut_short_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"^x\.gr: the gzip file is cut short; fetch it again\.$"):
        open_source(write(tmp_path, gzip.compress(TEXT)[:-1]))


def test_a_gzip_file_beyond_the_limit_is_an_error_that_says_how_to_raise_it(tmp_path, monkeypatch):
    path = write(tmp_path, gzip.compress(b"a 1 2 3\n" * 2**18))
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "0.001")
    with pytest.raises(DataError, match=r"^x\.gr unpacks to more than 0\.001 GiB; .* set AACBENCH_UNPACK_LIMIT to"):
        open_source(path)
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "0.002")
    assert len(open_source(path).data) == 2**21


def test_a_gzip_file_is_unpacked_no_further_than_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path, gzip.compress(bytes(2**26), 1))
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", "0.001")
    tracemalloc.start()
    with pytest.raises(DataError, match="unpacks to more"):
        open_source(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "4GiB"])
def test_a_limit_that_is_not_a_positive_number_is_an_error(tmp_path, monkeypatch, limit):
    monkeypatch.setenv("AACBENCH_UNPACK_LIMIT", limit)
    with pytest.raises(UsageError, match=f"^AACBENCH_UNPACK_LIMIT={limit} is not a positive number; set it to"):
        open_source(write(tmp_path, gzip.compress(TEXT)))


@pytest.mark.parametrize("data", [b"", b"\n \r\n", gzip.compress(b"", mtime=0)], ids=["empty", "blank", "packed"])
def test_an_empty_file_is_an_error(tmp_path, data):
    with pytest.raises(DataError, match=r"^x\.gr: the file is empty"):
        open_source(write(tmp_path, data))


def test_a_folder_or_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        open_source(tmp_path)
    with pytest.raises(DataError, match=r"File .*nowhere\.gr does not exist; check the path"):
        open_source(tmp_path / "nowhere.gr")


def test_text_that_is_not_utf8_is_an_error_on_its_line(tmp_path):
    with pytest.raises(DataError, match=r"^x\.gr, line 2: this is not UTF-8"):
        _ = open_source(write(tmp_path, b"a\nCaf\xe9\n")).text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_as_the_nearest_double(value):
    assert number(repr(value)) == value


def test_there_is_one_zero():
    assert math.copysign(1, number("-0.0")) == 1


@pytest.mark.parametrize(
    "text", ["1_000", " 1", "1 ", "", "-", "+", ".", "e5", "1e", "0x10", "\u0661", "1,5", "1.2.3", "[1, 2]"]
)
def test_text_that_python_might_accept_but_no_file_means_is_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        number(text)


@pytest.mark.parametrize("text", ["nan", "-inf", "Infinity", "1e999"])
def test_numbers_must_be_finite(text):
    with pytest.raises(ValueError, match="finite number"):
        number(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775808", "1" * 5000])
def test_whole_numbers_must_fit_64_bits(text):
    with pytest.raises(ValueError, match="64 bits"):
        number(text)


def test_whole_numbers_stay_whole():
    assert number("+0009223372036854775807") == 2**63 - 1


def test_a_message_shows_a_long_or_strange_text_short_and_printable():
    assert quoted("\x00\xff") == r"'\x00\xff'"
    assert len(quoted("x" * 1000)) < 40
