import gzip

import pytest

from aacbench.errors import DataError
from aacbench.graphs.readers.source import open_source

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


@pytest.mark.parametrize("data", [b"", b"\n \r\n", gzip.compress(b"", mtime=0)], ids=["empty", "blank", "packed"])
def test_an_empty_file_is_an_error(tmp_path, data):
    with pytest.raises(DataError, match=r"^x\.gr: the file is empty"):
        open_source(write(tmp_path, data))


def test_a_folder_or_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        open_source(tmp_path)
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.gr; check the path"):
        open_source(tmp_path / "nowhere.gr")


def test_text_that_is_not_utf8_is_an_error_on_its_line(tmp_path):
    with pytest.raises(DataError, match=r"^x\.gr, line 2: this is not UTF-8"):
        _ = open_source(write(tmp_path, b"a\nCaf\xe9\n")).text
