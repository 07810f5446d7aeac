"""What `aacbench prereg verify` prints and writes: checks, a table of verdicts, and a paragraph a prediction."""

from collections.abc import Iterator
from pathlib import Path

import click

from aacbench.cli.studies import echo_json
from aacbench.errors import UsageError
from aacbench.prereg.evaluate import Judged, interval_of
from aacbench.prereg.files import Files, files_of, project_registrations
from aacbench.prereg.history import history
from aacbench.prereg.ledger import read_ledger
from aacbench.prereg.predictions import INTERVAL, Band, Count, Equivalence, Ordering, Prediction
from aacbench.prereg.schema import EXPLORATORY, read_registration
from aacbench.prereg.shipped import shipped
from aacbench.prereg.verdicts import INCONCLUSIVE, INVERTED, MAGNITUDE, NOT_EVALUATED, SURVIVED
from aacbench.prereg.verify import TIERS, Verification, verify
from aacbench.reports.tables import aligned
from aacbench.run.canonical import spelt
from aacbench.run.durable import replace_file, storing
from aacbench.stats import Effect, estimand

LOCKED_RULE = " *"


def verify_all(name: str | None, study: Path | None, gate: bool, as_json: bool) -> int:
    """Verify one registration, or all of the project, and return the gravest code."""
    codes, records = [], []
    for files, out in _wanted(name):
        found = verify(files, study)
        record = found.record()
        with storing(out.parent):
            replace_file(out, spelt(_told(record), indent=1) + b"\n")
        records.append(record)
        codes.append(found.gated() if gate else found.code)
        if not as_json:
            click.echo(text(found))
            click.echo(f"\nAlso in {out}.\n")
    if as_json:
        echo_json(records[0] if name is not None else records)
    return min((code for code in codes if code), default=0)


def text(found: Verification) -> str:
    """Everything that was found, for a person."""
    one = found.registration
    lock = f"lock {found.lock[:8]}" if found.lock else "no lock"
    lines = [f"{one.id}: {one.title or one.study.protocol} ({one.status}, {lock})", ""]
    lines += [f"  {check.status:12}{check.name}: {check.evidence}" for check in found.checks]
    lines += ["", f"{found.tier}: {TIERS[found.tier]}."]
    lines += [f"Declared deviation in {sentence}" for sentence in found.declared]
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
    for name, effect in judged.effects.items():
        seen += f" {name}: {_seen(effect, prediction)}."
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


def _seen(effect: Effect, prediction: Prediction) -> str:
    unit = estimand(effect.estimand)
    if effect.estimate is None:
        return effect.reason.rstrip(".")
    wide = not isinstance(prediction, Equivalence)
    interval = interval_of(effect, wide)
    spelt_out = "no interval" if interval is None else " to ".join(f"{end:.{unit.digits}f}" for end in interval)
    level = "exact" if interval and interval[0] == interval[1] else f"{95 if wide else 90} % interval {spelt_out}"
    return f"{effect.estimate:.{unit.digits}f} ({level})"


def _rows(judged: Judged, standing: str) -> Iterator[dict[str, str]]:
    prediction = judged.prediction
    marks = {rule: LOCKED_RULE if prediction.rule == rule else "" for rule in ("interval", "point")}
    effects: dict[str, Effect | None] = dict(judged.effects) or {"": None}
    for number, (name, effect) in enumerate(effects.items()):
        first = number == 0
        yield {
            "prediction": prediction.id if first else "",
            "contrast": name,
            "predicted": _predicted(prediction) if first else "",
            "estimate": _estimate(judged, effect),
            "95 %": _interval(effect, wide=True),
            "90 %": _interval(effect, wide=False),
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


def _estimate(judged: Judged, effect: Effect | None) -> str:
    if effect is None:
        return "" if judged.count is None else str(judged.count)
    return "" if effect.estimate is None else f"{effect.estimate:.{estimand(effect.estimand).digits}f}"


def _interval(effect: Effect | None, wide: bool) -> str:
    found = interval_of(effect, wide) if effect is not None else None
    if effect is None or found is None:
        return ""
    return " to ".join(f"{end:.{estimand(effect.estimand).digits}f}" for end in found)


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
    if not found:
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


def _told(value: object) -> object:
    """What JSON can hold: what is not a number is null."""
    if isinstance(value, dict):
        return {key: _told(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_told(inner) for inner in value]
    return None if isinstance(value, float) and value - value != 0 else value
