"""Files of maps are read back as they were written, and what is wrong with a file is told with its place in it."""

import numpy as np
import pytest
from maps.folders import COUNTS, change, small_set, written

from aacbench.errors import DataError, MissingDataError, UsageError
from aacbench.maps.load import load_maps, read_maps
from aacbench.maps.record import TEST


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "set")


def read(folder):
    return load_maps(f"mapset:{folder}")


def test_what_was_written_is_read_back(folder, tmp_path):
    maps, again = small_set(), read(folder)
    assert again.digest == maps.digest
    assert again.counts() == COUNTS
    assert again.unit == 0.1
    assert again.pixels == 8
    assert read(folder).digest == maps.digest  # from what the first reading found
    other = written(tmp_path / "other")
    for path in folder.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes()


def edit_cell(value):
    def edit(array):
        array[1, 2, 3] = value

    return edit


def cut_off(array):
    """Move the path's end away from the rest of it."""
    array[1] = 0
    array[1, 0, 0] = array[1, -1, -1] = 1


def off_corner(array):
    array[1, 0, 0] = 0


FAULTS = {
    "images of another type": ("train_maps", lambda a: a.astype(np.float32), r"train_maps.npy .*float32.*uint8"),
    "images without channels": ("val_maps", lambda a: a[..., 0], r"val_maps.npy has the shape \(4, 40, 40\)"),
    "images of another size": ("test_maps", lambda a: a[:, :32, :32], r"test_maps.npy has images of shape \(32, 32, 3"),
    "fewer images": ("test_maps", lambda a: a[:2], r"test_vertex_weights.npy has the shape \(3, 5, 5\), but 2 images"),
    "no maps": ("train_maps", lambda a: a[:0], r"train_vertex_weights.npy .* but 0 images"),
    "whole weights": ("train_vertex_weights", lambda a: a.astype(int), r"train_vertex_weights.npy .*int64.*float16"),
    "flat weights": ("train_vertex_weights", lambda a: a[:, 0], r"train_vertex_weights.npy has the shape \(4, 5\)"),
    "weights of another size": ("val_vertex_weights", lambda a: a[:, :4, :4], r"val_vertex_weights.npy .*\(4, 4, 4\)"),
    "a weight that is no number": (
        "val_vertex_weights",
        edit_cell(np.nan),
        r"val_v.*map 1, cell \(2, 3\): the weight nan",
    ),
    "a weight of zero": ("test_vertex_weights", edit_cell(0), r"test_v.*map 1, cell \(2, 3\): the weight 0.0 is not a"),
    "a tiny weight": ("test_vertex_weights", edit_cell(1e-4), r"map 1, cell \(2, 3\): the weight 0.0001.* is below"),
    "an infinite weight": ("train_vertex_weights", edit_cell(np.inf), r"train_v.*map 1, cell \(2, 3\): the weight inf"),
    "a mark of two": ("train_shortest_paths", edit_cell(2), r"train_s.*map 1, cell \(2, 3\): 2 is neither 0 nor 1"),
    "words as marks": ("train_shortest_paths", lambda a: a.astype("U1"), r"train_s.*numbers 0 and 1"),
    "a path of another size": ("test_shortest_paths", lambda a: a[:2], r"test_s.*\(2, 5, 5\), but the weights .*\(3, "),
    "a path without a corner": ("val_shortest_paths", off_corner, r"val_s.*map 1: the path does not have both corners"),
    "a path in two pieces": ("val_shortest_paths", cut_off, r"val_s.*map 1: the path is not connected"),
    "a path that is too dear": ("test_shortest_paths", np.ones_like, r"test_s.*3 of 3 paths are not shortest"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_its_file_and_place(folder, fault):
    file, edit, told = FAULTS[fault]
    change(folder, file, edit)
    with pytest.raises(DataError, match=told):
        read(folder)


def test_pixels_must_be_whole(folder):
    for part in ("train", "val", "test"):
        change(folder, f"{part}_maps", lambda images: images[:, :39, :39])
    with pytest.raises(DataError, match=r"train_maps.npy has images of 39 pixels a side, which is no whole number"):
        read(folder)


def test_the_side_has_limits(folder):
    for part in ("train", "val", "test"):
        change(folder, f"{part}_vertex_weights", lambda weights: weights[:, :3, :3])
    with pytest.raises(DataError, match=r"train_vertex_weights.npy has maps of 3 cells a side; from 4 to 64"):
        read(folder)


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_array_is_refused(folder, content):
    (folder / "val_maps.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"val_maps.npy is not an .npy file"):
        read(folder)


def test_pickled_objects_are_refused(folder):
    change(folder, "train_maps", lambda images: np.array([{}, {}], dtype=object))
    with pytest.raises(DataError, match=r"train_maps.npy is not an .npy file"):
        read(folder)


def test_a_missing_file_is_named(folder):
    (folder / "test_vertex_weights.npy").unlink()
    with pytest.raises(MissingDataError, match=r"test_vertex_weights.npy does not exist"):
        read(folder)


def test_labels_may_be_missing_but_only_all_of_them(folder):
    (folder / "val_shortest_paths.npy").unlink()
    with pytest.raises(MissingDataError, match=r"val_shortest_paths.npy does not exist"):
        read(folder)
    for part in ("train", "test"):
        (folder / f"{part}_shortest_paths.npy").unlink()
    maps = read(folder)
    assert not maps.labelled
    assert maps.counts() == COUNTS
    assert not read(folder).labelled


def test_few_labels_that_are_too_dear_are_a_warning(tmp_path):
    from aacbench.maps.files import write_folder

    maps = small_set(counts={"train": 200, "validation": 1, "calibration": 1, "test": 1})
    write_folder(maps, tmp_path)

    def longer(array):
        array[7] = 1

    change(tmp_path, "train_shortest_paths", longer)
    expected = "1 of 200 paths are not shortest, the first that of map 7."
    assert [text.partition(": ")[2] for text in read(tmp_path).warnings] == [expected]
    assert [text.partition(": ")[2] for text in read(tmp_path).warnings] == [expected]  # also when read from the cache


def test_images_in_two_files_are_a_warning(folder):
    first = np.load(folder / "train_maps.npy")[0]

    def repeat(images):
        images[2] = first

    change(folder, "test_maps", repeat)
    assert read(folder).warnings == ("1 images are in more than one of train, val and test.",)


def test_weights_that_are_no_tenths_have_a_finer_unit(folder):
    change(folder, "train_vertex_weights", edit_cell(0.75))
    for part in ("train", "val", "test"):
        (folder / f"{part}_shortest_paths.npy").unlink()
    maps = read(folder)
    assert maps.unit == 2.0**-11
    assert maps.splits["train"].costs[1, 2, 3] == 0.75 * 2048


def test_tenths_are_told_from_their_roundings():
    """float16 has 0.8 as 0.79980, which would make other sums than tenths do."""
    from aacbench.maps.files import _are_tenths

    assert _are_tenths(np.array([0.8, 1.2, 5.3, 7.7, 9.2], dtype=np.float16))
    assert _are_tenths(np.array([0.8, 1.2, 5.3, 7.7, 9.2], dtype=np.float32))
    assert not _are_tenths(np.array([0.8, 1.25], dtype=np.float16))


def test_a_split_with_too_few_maps_says_how_many_there_are(folder):
    with pytest.raises(UsageError, match=r"has 3 test maps, not 9; lower splits.test to 3"):
        load_maps(f"mapset:{folder}", {**COUNTS, TEST: 9})


def test_a_changed_file_is_checked_again(folder):
    assert read(folder).labelled
    change(folder, "train_vertex_weights", edit_cell(-1))
    with pytest.raises(DataError, match=r"the weight -1.0 is not a positive number"):
        read(folder)


def test_the_original_is_asked_for_by_its_files(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"warcraft:18x18 needs train_maps.npy .*; put them in .*terrain-18 is"):
        load_maps("warcraft:18x18")
    place = tmp_path / "warcraft_shortest_path_oneskin" / "18x18"
    written(place, "terrain-18-s3")
    with pytest.warns(match="no digest of warcraft:18x18 is known"):
        assert load_maps("warcraft:18x18").digest == small_set("terrain-18-s3").digest


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(MissingDataError, match="none is not a folder"):
        load_maps(f"mapset:{tmp_path / 'none'}")


def test_nothing_is_kept_of_files_that_were_refused(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    change(folder, "train_shortest_paths", np.ones_like)
    with pytest.raises(DataError):
        read_maps(folder, "x")
    assert not (tmp_path / "cache" / "maps").exists()
