"""The registration file: TOML, read into one record with every default written out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from aacbench.contract.budget import convention
from aacbench.errors import DataError, UsageError
from aacbench.prereg import predictions
from aacbench.prereg.predictions import Place, Prediction, methods_of, number, optional, read_prediction, required
from aacbench.protocols import values
from aacbench.protocols.reader import parse_toml, study_of
from aacbench.protocols.values import only
from aacbench.run.records import BASELINE, CONTEXT, MAP_KEYS, Study
from aacbench.stats import ESTIMANDS, PROFILES, Profile, estimand, profile
from aacbench.util.canonical import digest, plain
from aacbench.util.input_file import open_input

TAG = "aacbench.prereg/1"
CONFIRMATORY, EXPLORATORY, REPLICATION = "confirmatory", "exploratory", "replication"
STATUSES = (CONFIRMATORY, EXPLORATORY, REPLICATION)
FIXED, FROM_LOCK = "fixed", "lock"
ANCHORS = ("ssh", "git-tag", "rfc3161")
TOP = (
    *("schema", "id", "title", "status", "prior_exposure", "accounting", "protocol", "method", "prediction"),
    *("analysis", "power", "anchors", "published"),
)
# With protocols.
SHARED = ("graphs", "budgets", "seeds", "queries", "search", "selection", "measure", "traffic", *MAP_KEYS)
PROTOCOL = ("name", *SHARED, "exclusions", "seed_source", "reruns")
AUDIT = "audit"
EXCLUSIONS = ("unanswered",)  # queries that one side did not answer: pairing excludes nothing else
UNITS = ("reduction-percent", "expansions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A method on a graph at a budget: one value per seed, or one for all seeds if there is no spread."""

    graph: str
    budget: float
    method: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Observations from a publication: their source, unit and seeds, and the violations reported with them."""

    source: str
    unit: str
    seeds: tuple[int, ...]
    violations: int | None
    observations: tuple[Observation, ...]

    def of(self, graph: str, budget: float, method: str) -> tuple[float, ...] | None:
        wanted = graph, budget, method
        found = next((one for one in self.observations if (one.graph, one.budget, one.method) == wanted), None)
        if found is None:
            return None
        return found.values * len(self.seeds) if len(found.values) == 1 else found.values


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A registration, with every default filled in."""

    id: str
    title: str
    status: str
    prior_exposure: str
    study: Study
    exclusions: str
    seed_source: str
    reruns: int  # how often a cell may be run again with another result and stay confirmatory
    predictions: tuple[Prediction, ...]
    families: Mapping[str, tuple[str, ...]]
    sensitivity: tuple[str, ...]
    sd: float | None
    sd_queries: float | None
    power: float
    anchors: tuple[str, ...]
    published: Published | None

    @property
    def profile(self) -> Profile:
        return profile(self.study.analysis)

    def record(self) -> dict[str, Any]:
        """Every value; names of profiles and conventions are replaced by their records."""
        study = self.study.record()
        methods = study.pop("methods")
        return {
            "schema": TAG,
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "prior_exposure": self.prior_exposure,
            "accounting": convention(study.pop("convention")).record(),
            "protocol": {
                **study,
                "exclusions": self.exclusions,
                "seed_source": self.seed_source,
                **({"reruns": self.reruns} if self.reruns else {}),
            },
            "method": methods,
            "prediction": [asdict(prediction) for prediction in self.predictions],
            "analysis": {
                "profile": self.profile.record(),
                "families": {name: list(members) for name, members in self.families.items()},
                "sensitivity": list(self.sensitivity),
            },
            "power": {
                "sd": self.sd,
                "target": self.power,
                **({"sd_queries": self.sd_queries} if self.sd_queries else {}),
            },
            "anchors": {"required": list(self.anchors)},
            "published": asdict(self.published) if self.published else None,
        }

    @property
    def digest(self) -> str:
        """The digest of the meaning: comments, order, white space and spelling of numbers do not count."""
        return digest(self.record(), TAG)


def read_registration(path: Path) -> Registration:
    try:
        with TextIOWrapper(open_input(path), encoding="utf-8-sig") as text:
            found = parse_registration(text.read())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start + 1} is not UTF-8; save it as UTF-8 text.") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    if found.id != path.stem:
        raise UsageError(f"{path}: id is {found.id!r}, but must be the name of the file, {path.stem!r}.")
    return found


def parse_registration(text: str) -> Registration:
    given = parse_toml(text)
    portable(given)
    return registration_of(given)  # as written: a whole number and a float are different settings


def portable(value: Any) -> Any:
    """The value as plain JSON; refused unless every JSON reader reads it exactly and so computes the same digest."""
    try:
        return plain(value, portable=True)
    except DataError as error:
        raise UsageError(str(error)) from error


def registration_of(given: Mapping[str, Any]) -> Registration:
    only(given, TOP, "")
    required(given, "schema", "", values.one_of((TAG,)))
    study = _study(given)
    chosen = profile(study.analysis)
    analysis = optional(given, "analysis", "", values.table, {})
    power = optional(given, "power", "", values.table, {})
    anchors = optional(given, "anchors", "", values.table, {})
    protocol = values.table(given["protocol"], "protocol")
    only(analysis, ("profile", "families", "sensitivity"), "analysis")
    only(power, ("sd", "sd_queries", "target"), "power")
    only(anchors, ("required",), "anchors")
    found = Registration(
        id=required(given, "id", "", values.name),
        title=optional(given, "title", "", values.text, ""),
        status=required(given, "status", "", values.one_of(STATUSES)),
        prior_exposure=required(given, "prior_exposure", "", values.text),
        study=study,
        exclusions=optional(protocol, "exclusions", "protocol", values.one_of(EXCLUSIONS), EXCLUSIONS[0]),
        seed_source=optional(protocol, "seed_source", "protocol", values.one_of((FIXED, FROM_LOCK)), FIXED),
        reruns=optional(protocol, "reruns", "protocol", values.whole(0), 0),
        predictions=_predictions(given, chosen),
        families=optional(analysis, "families", "analysis", values.table_of(values.many(values.name)), {}),
        sensitivity=optional(analysis, "sensitivity", "analysis", values.many(values.one_of(tuple(ESTIMANDS))), ()),
        sd=optional(power, "sd", "power", _positive, None),
        sd_queries=optional(power, "sd_queries", "power", _positive, None),
        power=optional(power, "target", "power", _share, 0.8),
        anchors=optional(anchors, "required", "anchors", values.many(values.one_of(ANCHORS)), ()),
        published=optional(given, "published", "", read_published, None),
    )
    return _checked(found)


def _study(given: Mapping[str, Any]) -> Study:
    protocol = required(given, "protocol", "", values.table)
    only(protocol, PROTOCOL, "protocol")
    places = ("maps", "encoders") if protocol.get("kind") == CONTEXT else ("graphs",)
    for word in ("name", *places, "budgets", "seeds"):
        required(protocol, word, "protocol", lambda value, key: value)
    accounting = required(given, "accounting", "", values.table)
    only(accounting, ("convention",), "accounting")
    analysis = required(given, "analysis", "", values.table)
    table = {word: protocol[word] for word in SHARED if word in protocol} | {
        "protocol": protocol["name"],
        "convention": required(accounting, "convention", "accounting", values.text),
        "methods": required(given, "method", "", lambda value, key: value),
        "analysis": required(analysis, "profile", "analysis", values.one_of(tuple(PROFILES))),
    }
    names = {word: f"protocol.{word}" for word in SHARED} | {"protocol": "protocol.name", "methods": "method"}
    names |= {"convention": "accounting.convention", "analysis": "analysis.profile"}
    return study_of({**table, "summary": "a registered study"}, names)


def _predictions(given: Mapping[str, Any], chosen: Profile) -> tuple[Prediction, ...]:
    tables = required(given, "prediction", "", values.tables)
    found = tuple(read_prediction(table, f"prediction #{i}", chosen) for i, table in enumerate(tables, 1))
    names = [prediction.id for prediction in found]
    for i, name in enumerate(names, 1):
        if name in names[: i - 1]:
            raise UsageError(f"prediction #{i}.id repeats {name!r}; give each prediction its own id.")
    return found


def _checked(found: Registration) -> Registration:
    """Check that every name refers to something, and fill in the default family."""
    if found.seed_source == FROM_LOCK and not found.study.queries.drawn:
        raise UsageError('protocol.seed_source = "lock" draws queries, but protocol.queries reads them from a file.')
    if found.seed_source == FROM_LOCK and found.study.kind == CONTEXT:
        raise UsageError(
            'protocol.seed_source cannot be "lock" on maps, which are locked by digest; use a map set with a seed '
            "not used before, such as terrain-12-s901."
        )
    names = {choice.name for choice in (*found.study.methods, *found.study.encoders)} | {BASELINE}
    or_encoder = ", and no encoder" if found.study.encoders else ""
    for i, prediction in enumerate(found.predictions, 1):
        _check_place(prediction, f"prediction #{i}", found.study)
        for label in methods_of(prediction):
            if label.partition("[")[0] not in names:
                raise UsageError(f"prediction #{i} is about {label!r}, but no [[method]] has that name{or_encoder}.")
    known = [prediction.id for prediction in found.predictions]
    for name, members in found.families.items():
        for member in members:
            if member not in known:
                raise UsageError(f"analysis.families.{name} names {member!r}, but the ids are {', '.join(known)}.")
    counts = [one.id for one in found.predictions if isinstance(one, predictions.Count)]
    if counts and found.published is None and AUDIT not in found.study.measure:
        raise UsageError(f'prediction {counts[0]} counts violations, so protocol.measure must contain "{AUDIT}".')
    if found.published is not None and found.status != REPLICATION:
        raise UsageError('Only a registration with status = "replication" may have [published]; others need rows.')
    contrasts = tuple(
        one.id for one in found.predictions if isinstance(one, predictions.Band | predictions.Equivalence)
    )
    return found if found.families or not contrasts else replace(found, families={"all": contrasts})


def _check_place(prediction: Prediction, key: str, study: Study) -> None:
    if prediction.cell is None:
        return
    if study.kind == CONTEXT:
        _check_place_on_maps(prediction, prediction.cell, key, study)
        return
    if prediction.cell.graph not in [searched.name for searched in study.searched_graphs()]:
        raise UsageError(f"{key}.cell.graph is {prediction.cell.graph!r}, which is not in protocol.graphs.")
    if not isinstance(prediction, predictions.Count) and estimand(prediction.estimand).of_encoders:
        raise UsageError(f"{key}.estimand is {prediction.estimand}, which compares encoders on maps, not methods.")
    if prediction.cell.budget not in study.budgets:
        raise UsageError(f"{key}.cell.budget is {prediction.cell.budget:g}, which is not in protocol.budgets.")


def _check_place_on_maps(prediction: Prediction, place: Place, key: str, study: Study) -> None:
    if place.graph not in (*study.maps, *study.predicted_maps()):
        known = ", ".join(study.predicted_maps())
        raise UsageError(f"{key}.cell is {place.graph!r}, which is none of protocol.maps with an encoder: {known}.")
    of_encoders = place.graph in study.maps
    if not of_encoders and place.budget not in study.budgets:
        raise UsageError(f"{key}.cell.budget is {place.budget:g}, which is not in protocol.budgets.")
    if not isinstance(prediction, predictions.Count) and estimand(prediction.estimand).of_encoders != of_encoders:
        what = (
            "compares encoders: leave encoder and budget out of" if not of_encoders else "compares methods: put both in"
        )
        raise UsageError(f"{key}.estimand is {prediction.estimand}, which {what} {key}.cell.")


def _positive(value: Any, key: str) -> float:
    if number(value, key) <= 0:
        raise values.wrong(key, "a number above zero", value)
    return float(value)


def _share(value: Any, key: str) -> float:
    if not 0 < number(value, key) < 1:
        raise values.wrong(key, "a number between 0 and 1", value)
    return float(value)


def read_published(table: Any, key: str) -> Published:
    given = values.table(table, key)
    only(given, ("source", "unit", "seeds", "violations", "observation"), key)
    seeds = required(given, "seeds", key, values.many(values.whole(0)))
    rows = required(given, "observation", key, values.tables)
    return Published(
        source=required(given, "source", key, values.text),
        unit=optional(given, "unit", key, values.one_of(UNITS), UNITS[0]),
        seeds=seeds,
        violations=optional(given, "violations", key, values.whole(0), None),
        observations=tuple(_observation(row, f"{key}.observation #{i}", len(seeds)) for i, row in enumerate(rows, 1)),
    )


def _observation(row: Any, key: str, seeds: int) -> Observation:
    checks = {"graph": values.text, "budget": values.budget, "method": values.text, "values": _numbers}
    found = values.record_of(Observation, row, checks, key)
    if len(found.values) not in (1, seeds):
        raise UsageError(
            f"{key}.values must have one number for each of the {seeds} seeds, or one for all of them; "
            "leave seeds without a value out of the list of seeds."
        )
    return found


def _numbers(value: Any, key: str) -> tuple[float, ...]:
    if not isinstance(value, list) or not value:
        raise values.wrong(key, "a list of numbers", value)
    return tuple(number(entry, f"{key} #{i}") for i, entry in enumerate(value, 1))
