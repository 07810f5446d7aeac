"""Generated terrain: five classes of cells, drawn as tiles under changing light. Integer arithmetic only.

Map i of a split draws from a stream of its own, so that a shorter set is the beginning of a longer one, and the bytes
are the same on every machine.
"""

from functools import cache

import numpy as np

from aacbench.graphs.generators.dice import Dice
from aacbench.graphs.record import Array
from aacbench.maps.grid import solve
from aacbench.maps.record import SPLITS, Maps

PIXELS = 8
# Along the field: water, grass, earth, wood, rock.
COSTS = np.array([77, 8, 12, 53, 92], dtype=np.int32)  # in tenths
SHARES = np.array([14, 34, 24, 17, 11], dtype=np.int64)  # percent
_COLOURS = ((44, 66, 112), (72, 110, 40), (112, 98, 58), (38, 78, 34), (92, 88, 84))
_VARIANTS, _TINT, _TILE_SEED = 6, 6, 20117
_BLURS = 3  # each takes a cell on every side; together a standard deviation of 1.4 cells
_NOISE, _WHITE = 2**16, 3_000  # the range of the field's noise, and of the white noise on what the blurs leave


def generate(side: int, seed: int, split: str, count: int) -> Maps:
    """Return the first maps of a split."""
    images = np.empty((count, side * PIXELS, side * PIXELS, 3), dtype=np.uint8)
    costs = np.empty((count, side, side), dtype=np.int32)
    for k in range(count):
        dice = Dice(seed, SPLITS.index(split), k)
        classes = _classes(side, dice)
        costs[k] = COSTS[classes]
        images[k] = _image(classes, dice)
    return Maps(images, costs, solve(costs).paths)


def _classes(side: int, dice: Dice) -> Array:
    """Cut a smooth random field at its ranks, so that each class has about its share."""
    wide = side + 2 * _BLURS
    field = dice.between(0, _NOISE, (wide, wide))
    for _ in range(_BLURS):
        field = _blurred(field) // 9
    field = field + dice.between(0, _WHITE, (side, side))
    shares = SHARES * 100 + dice.between(-300, 301, len(SHARES))
    ends = np.cumsum(shares)[:-1] * field.size // shares.sum()
    rank = np.empty(field.size, dtype=np.int64)
    rank[np.argsort(field.reshape(-1), kind="stable")] = np.arange(field.size)
    return np.searchsorted(ends, rank, side="right").reshape(side, side)


def _blurred(values: Array) -> Array:
    """Return the sum over each 3 x 3 window; a cell at the border has none and goes."""
    rows = values[:-2] + values[1:-1] + values[2:]
    return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]


def _image(classes: Array, dice: Dice) -> Array:
    side = len(classes)
    chosen = _tiles()[classes, dice.between(0, _VARIANTS, classes.shape)]
    picture = chosen.transpose(0, 2, 1, 3, 4).reshape(side * PIXELS, side * PIXELS, 3)
    soft = _blurred(np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")) // 9
    picture = (3 * picture + soft) >> 2  # tiles run into each other a little
    light = dice.one(717, 1229)  # 0.7 to 1.2 in 1024ths
    shift = _bell(dice, 3) * 55 >> 10  # standard deviation 8
    noise = _bell(dice, picture.size).reshape(picture.shape) * 62 >> 10  # standard deviation 9
    return np.clip((picture * light >> 10) + shift + noise, 0, 255).astype(np.uint8)


def _bell(dice: Dice, count: int) -> Array:
    """Return nearly normal integers around 0 of standard deviation 148: sums of four random bytes."""
    quarter = dice.between(0, 2**32, count)
    return (quarter & 255) + (quarter >> 8 & 255) + (quarter >> 16 & 255) + (quarter >> 24 & 255) - 510


@cache
def _tiles() -> Array:
    """The tiles (class, variant, row, column, channel), the same for every seed."""
    dice = Dice(_TILE_SEED)
    rows, columns = np.indices((PIXELS, PIXELS))
    tiles = np.empty((len(_COLOURS), _VARIANTS, PIXELS, PIXELS, 3), dtype=np.int64)
    for kind, colour in enumerate(_COLOURS):
        for variant in range(_VARIANTS):
            tint = dice.between(-_TINT, _TINT + 1, 3)
            grain = _grain(kind, dice, rows, columns)
            tiles[kind, variant] = np.array(colour) + tint + grain[:, :, None]
    return tiles


def _grain(kind: int, dice: Dice, rows: Array, columns: Array) -> Array:
    """The brightness within a tile: waves, blades, furrows, crowns or blocks, each with some noise."""
    fine = dice.between(-4, 5, rows.shape)
    phase = dice.one(0, PIXELS)
    if kind == 0:
        return fine + np.where((rows + columns // 2 + phase) % 4 == 0, 10, -3)
    if kind == 1:
        return 2 * fine
    if kind == 2:
        return fine + np.where((columns + phase) % 3 == 0, -9, 3)
    if kind == 3:
        return fine + np.where((rows + phase) // 2 % 2 == (columns + phase) // 2 % 2, 10, -10)
    return fine + dice.between(-14, 15, (PIXELS // 2, PIXELS // 2)).repeat(2, axis=0).repeat(2, axis=1)
