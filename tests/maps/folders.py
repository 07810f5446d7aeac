"""A small map set as files, for tests that damage one of them."""

import numpy as np

from aacbench.maps.files import write_folder
from aacbench.maps.load import load_maps

COUNTS = {"train": 4, "validation": 2, "calibration": 2, "test": 3}


def small_set(name="terrain-5-s3", counts=COUNTS):
    return load_maps(name, counts)


def written(folder, name="terrain-5-s3"):
    write_folder(small_set(name), folder)
    return folder


def change(folder, file, edit):
    """Replace an array in a file by what `edit` makes of a copy of it; it may also change the copy in place."""
    path = folder / f"{file}.npy"
    array = np.load(path).copy()
    changed = edit(array)
    np.save(path, array if changed is None else changed, allow_pickle=True)
