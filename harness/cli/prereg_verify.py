"""What `aacbench prereg verify` prints and writes: checks, a table of verdicts, and a paragraph a prediction."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from aacbench.cli.studies import echo_json
from aacbench.errors import StoreError, UsageError
from aacbench.prereg.checks import TAMPERED
from aacbench.prereg.evaluate import Judged, forest
from aacbench.prereg.files import FOLDER, LEDGER, Files, files_of, project_registrations
from aacbench.prereg.history import history
from aacbench.prereg.ledger import read_ledger
from aacbench.prereg.predictions import INTERVAL, Band, Count, Equivalence, Ordering, Prediction
from aacbench.prereg.schema import EXPLORATORY, read_registration
from aacbench.prereg.shipped import shipped
from aacbench.prereg.verdicts import INCONCLUSIVE, INVERTED, MAGNITUDE, NOT_EVALUATED, SURVIVED
from aacbench.prereg.verify import TIERS, Verification, verify
from aacbench.reports.formatting import aligned
from aacbench.stats import ForestRow, estimand
from aacbench.util.atomic_io import replace_file, storing
from aacbench.util.canonical import spelt

LOCKED_RULE = " *"


def verify_all(name: str | None, study: Path | None, gate: bool, as_json: bool) -> int:
    """Verify one registration, or all of the project, and return the gravest code."""
    codes, records = [], []
    for files, out in _wanted(name):
        found = verify(files, study)
        record = found.record()
        kept = _keep(out, record)
        records.append(record)
        codes.append(found.gated() if gate else found.code)
        if not as_json:
            click.echo(text(found))
            click.echo(f"\n{kept}\n")
    for sentence in orphans(project_registrations()) if name is None else ():
        click.echo(f"aacbench: {sentence}", err=True)
        codes.append(TAMPERED)
    if as_json:
        echo_json(records[0] if name is not None else records)
    return min((code for code in codes if code), default=0)


def _keep(out: Path, record: Mapping[str, object]) -> str:
    """Write what was found, if that can be: who looks at somebody else's files may not be let write among them."""
    try:
        with storing(out.parent):
            replace_file(out, spelt(_told(record), indent=1) + b"\n")
    except StoreError:
        return f"{out} could not be written; --json prints what it would hold."
    return f"Also in {out}."


def text(found: Verification) -> str:
    """Everything that was found, for a person."""
    one = found.registration
    lock = f"lock {found.lock[:8]}" if found.lock else "no lock"
    lines = [f"{one.id}: {one.title or one.study.protocol} ({one.status}, {lock})", ""]
    lines += [f"  {check.status:12}{check.name}: {check.evidence}" for check in found.checks]
    lines += ["", f"{found.tier}: {TIERS[found.tier]}."]
    lines += [f"Declared deviation in {sentence}" for sentence in found.declared]
    lines += [f"Note: {sentence}" for sentence in found.notes]
    if found.withdrawn:
        lines.append(f"It was withdrawn: {found.withdrawn}")
    if found.judged:
        rows = [row for judged in found.judged for row in _rows(judged, found.standing[judged.prediction.id])]
        lines += ["", aligned(rows, ("prediction", "contrast", "predicted", "interval rule", "point rule", "standing"))]
        lines += ["", "* the rule that was locked; the other one decides nothing.", ""]
        lines += [paragraph(judged, found.standing[judged.prediction.id]) for judged in found.judged]
    elif found.code:
        lines.append("No verdicts are given.")
    return "\n".join(lines)


def paragraph(judged: Judged, standing: str) -> str:
    """One prediction in words."""
    prediction = judged.prediction
    rule = f"by the {prediction.rule} rule" if not isinstance(prediction, Count) else "by counting"
    head = f"{prediction.id} ({standing}): {_claim(prediction)}"
    if judged.verdict == NOT_EVALUATED:
        return f"{head} It could not be evaluated: {judged.reason.rstrip('.')}."
    seen = f" Counted: {judged.count}." if judged.count is not None else ""
    for name, row in _shown(judged):
        seen += f" {name}: {_seen(row, prediction, judged.reason)}."
    seen += "".join(f" {sentence}" for sentence in _cautions(judged))
    other = judged.verdicts.point if prediction.rule == INTERVAL else judged.verdicts.interval
    unlike = "" if other == judged.verdict else f" The other rule would say: {other}."
    late = " It is exploratory, and confirms nothing." if standing == EXPLORATORY else ""
    return f"{head}{seen} {_WORDS[judged.verdict]} {rule}.{unlike}{late}"


_WORDS = {
    SURVIVED: "It survived",
    MAGNITUDE: "It is falsified in magnitude",
    INVERTED: "It is falsified, with the direction inverted,",
    INCONCLUSIVE: "It is inconclusive",
}


def _claim(prediction: Prediction) -> str:
    if isinstance(prediction, Count):
        where = f" on {prediction.cell}" if prediction.cell else ""
        who = f" of {', '.join(prediction.methods)}" if prediction.methods else ""
        return f"{prediction.equals} {prediction.of}{who} were predicted{where}."
    if isinstance(prediction, Ordering):
        others = ", ".join(one for one in prediction.among if one != prediction.best)
        return f"on {prediction.cell}, {prediction.best} was predicted to be ahead of {others}."
    unit = estimand(prediction.estimand)
    ends = f"{prediction.low:.{unit.digits}f} to {prediction.high:.{unit.digits}f}"
    kind = "an effect" if isinstance(prediction, Band) else "equivalence, an effect"
    pair = f"{prediction.a} against {prediction.b}"
    return f"on {prediction.cell}, {kind} of {pair} of {ends} ({unit.name}) was predicted."


def _shown(judged: Judged) -> list[tuple[str, ForestRow]]:
    """Each contrast with the row of the forest plot, so that the plot and the table cannot differ."""
    return list(zip(judged.effects, forest([judged]), strict=True))


def _cautions(judged: Judged) -> Iterator[str]:
    yield from dict.fromkeys(found.caution for found in judged.effects.values() if found.caution)
    left_out = max((found.left_out for found in judged.effects.values()), default=0)
    if left_out:
        yield f"Queries that a side did not answer were left out: {left_out}."


def _seen(row: ForestRow, prediction: Prediction, reason: str) -> str:
    if row.estimate is None:
        return reason.rstrip(".")
    digits = _digits(prediction)
    wide = not isinstance(prediction, Equivalence)
    interval = row.interval95 if wide else row.interval90
    spelt_out = f"{95 if wide else 90} % interval {_ends(interval, digits)}" if interval else "no interval"
    return f"{row.estimate:.{digits}f} ({'exact' if interval and interval[0] == interval[1] else spelt_out})"


def _rows(judged: Judged, standing: str) -> Iterator[dict[str, str]]:
    prediction = judged.prediction
    marks = {rule: LOCKED_RULE if prediction.rule == rule else "" for rule in ("interval", "point")}
    shown: list[tuple[str, ForestRow | None]] = [*_shown(judged)] or [("", None)]
    digits = _digits(prediction)
    for number, (name, row) in enumerate(shown):
        first = number == 0
        yield {
            "prediction": prediction.id if first else "",
            "contrast": name,
            "predicted": _predicted(prediction) if first else "",
            "estimate": _estimate(judged, row, digits),
            "95 %": _ends(row.interval95, digits) if row else "",
            "90 %": _ends(row.interval90, digits) if row else "",
            "interval rule": judged.verdicts.interval + marks["interval"] if first else "",
            "point rule": judged.verdicts.point + marks["point"] if first else "",
            "standing": standing if first else "",
        }


def _predicted(prediction: Prediction) -> str:
    if isinstance(prediction, Count):
        return f"{prediction.equals} {prediction.of}"
    if isinstance(prediction, Ordering):
        return f"{prediction.best} best"
    unit = estimand(prediction.estimand)
    return f"{prediction.low:.{unit.digits}f} to {prediction.high:.{unit.digits}f}"


def _estimate(judged: Judged, row: ForestRow | None, digits: int) -> str:
    if row is None:
        return "" if judged.count is None else str(judged.count)
    return "" if row.estimate is None else f"{row.estimate:.{digits}f}"


def _digits(prediction: Prediction) -> int:
    return 0 if isinstance(prediction, Count) else estimand(prediction.estimand).digits


def _ends(interval: tuple[float, float] | None, digits: int) -> str:
    return " to ".join(f"{end:.{digits}f}" for end in interval or ())


def _wanted(name: str | None) -> Iterator[tuple[Files, Path]]:
    """The registrations that are meant, and where what is found of each is written."""
    if name is not None:
        known = shipped()
        if not Path(name).is_file() and name in known:
            yield files_of(known[name]), Path(f"{name}.verify.json")
        else:
            files = files_of(Path(name))
            yield files, files.verdicts
        return
    found = project_registrations()
    if not found and not orphans(found):
        raise UsageError("there is no registration in prereg/ or studies/*/prereg/; name one.")
    for path in found:
        files = files_of(path)
        one = read_registration(path)
        entries, problems = read_ledger(files.ledger)
        locked = history(entries, one.id).locked is not None or files.locks()
        if one.published is None and not locked and not problems:
            click.echo(f"{path}: a draft, not locked; there is nothing to verify yet.", err=True)
            continue
        yield files, files.verdicts


def orphans(known: Sequence[Path], root: Path = Path()) -> list[str]:
    """A sentence about each registration that a ledger of the project tells of, and whose file is gone."""
    found = []
    for ledger in sorted([*root.glob(f"{FOLDER}/{LEDGER}"), *root.glob(f"studies/*/{FOLDER}/{LEDGER}")]):
        names = dict.fromkeys(line.registration for line in read_ledger(ledger)[0])
        gone = [path for name in names if (path := ledger.with_name(f"{name}.toml")) not in known]
        found += [f"{ledger} tells of a registration whose file {path} is gone; restore it." for path in gone]
    return found


def _told(value: object) -> object:
    """What JSON can hold: what is not a number is null."""
    if isinstance(value, dict):
        return {key: _told(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_told(inner) for inner in value]
    return None if isinstance(value, float) and value - value != 0 else value
