"""The records an encoder is made of: from images of maps to the costs of their cells."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aacbench.contract.method import Parameter, Params, Unsupported, no_objection

if TYPE_CHECKING:  # declaring an encoder must stay fast, so nothing heavy is imported at run time
    from aacbench.contract.method import Array
    from aacbench.maps.record import MapSet

COSTS, PATHS, NOTHING = LEARNS_FROM = ("costs", "paths", "nothing")


@dataclass(frozen=True, slots=True)
class EncoderClaims:
    """What an encoder promises."""

    deterministic: bool = True  # the seed changes nothing; such an encoder is trained with one seed only
    oracle: bool = False  # sees the true costs of the test maps, so it can never be deployed


@dataclass(frozen=True, eq=False, slots=True)
class TrainMaps:
    """Maps to learn from: `images` (n, rows, columns, 3) uint8, and the labels that the encoder learns from.

    `costs` (n, side, side) are floats in the data set's own scale, `paths` (n, side, side) are 0 and 1.
    """

    images: "Array"
    costs: "Array | None" = None
    paths: "Array | None" = None

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class TrainContext:
    """Everything an encoder gets to learn from; maps for calibration and for tests are never in it.

    `wanted` says how many maps of which split will be predicted, in this order. `oracle_costs` are the true costs of
    these maps; they are None unless the encoder claims `oracle`. `progress(text)` shows a line to the user.
    """

    train: TrainMaps
    validation: TrainMaps
    side: int
    pixels: int
    params: Params
    seed: int
    wanted: Mapping[str, int]
    oracle_costs: "Array | None" = None
    progress: Callable[[str], None] = field(default=lambda _: None)


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """A trained encoder: its arrays, which are what is deployed and counted, and a function of them.

    `predict(arrays, settings, images)` returns the costs (n, side, side) of the cells of these images, in the data
    set's own scale: positive and finite. It must be at the top of a module. It is called in a process that never
    trained, with one image at a time, so that no map's costs can depend on another's. Without `predict` the array
    `costs` has the predictions, one for each wanted map. `facts` are numbers about the training.
    """

    arrays: "Mapping[str, Array]"
    predict: "Callable[[Mapping[str, Array], Mapping[str, float], Array], Array] | None" = None
    settings: Mapping[str, int | float] = field(default_factory=dict)
    facts: Mapping[str, int | float] = field(default_factory=dict)


def no_inputs(params: Params) -> tuple[str, ...]:
    """Read no files: the default of `Encoder.inputs`."""
    return ()


@dataclass(frozen=True, slots=True)
class Encoder:
    """A way to get the costs of cells from an image; `train` may find that it cannot, and return Unsupported.

    `learns_from` is `costs` (which come with paths), `paths` or `nothing`: what the training maps have. It may be a
    function of the settings. `check(params)` returns an empty string, or one sentence that says what is wrong.
    `inputs(params)` names the files that training reads; a change of one of them makes another cell.
    """

    name: str
    summary: str
    train: Callable[[TrainContext], Model | Unsupported]
    learns_from: str | Callable[[Params], str] = COSTS
    claims: EncoderClaims = EncoderClaims()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    check: Callable[[Params], str] = no_objection
    inputs: Callable[[Params], tuple[str, ...]] = no_inputs
    docs: str = ""

    def sees(self, params: Params) -> str:
        """Return what the training maps have with these settings."""
        return self.learns_from if isinstance(self.learns_from, str) else self.learns_from(params)


@dataclass(frozen=True, slots=True)
class MapSource:
    """A map set by name; `load` returns all its maps."""

    name: str
    summary: str
    load: "Callable[[], MapSet]"
