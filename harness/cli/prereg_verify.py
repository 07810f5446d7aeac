"""The output of `aacbench prereg verify`: checks, a table of verdicts, and a paragraph for each prediction."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from aacbench.cli.shared import echo_json
from aacbench.errors import StoreError, UsageError
from aacbench.prereg.checks import ANCHOR, DEVIATION, INCOMPLETE, INTACT, OK, ORDER, TAMPERED
from aacbench.prereg.evaluate import Judged, forest
from aacbench.prereg.files import FOLDER, LEDGER, Files, files_of, project_registrations, relative, shipped
from aacbench.prereg.history import history_of
from aacbench.prereg.ledger import read_ledger
from aacbench.prereg.predictions import INTERVAL, POINT, VIOLATIONS, Band, Count, Equivalence, Ordering, Prediction
from aacbench.prereg.schema import EXPLORATORY, read_registration
from aacbench.prereg.verdicts import NOT_EVALUATED
from aacbench.prereg.verify import TIERS, Verification, verify
from aacbench.reports.formatting import aligned, bound, optional
from aacbench.stats import ForestRow, estimand
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.canonical import finite, pretty
from aacbench.util.text import one_line, printable

LOCKED_RULE = " *"
STATES = {
    INTACT: "intact",
    TAMPERED: "tampered",
    ORDER: "wrong order in the ledger",
    DEVIATION: "undeclared deviation",
    ANCHOR: "a required anchor is missing",
    INCOMPLETE: "incomplete",
}
LONGEST_TITLE = 200


def verify_all(
    name: str | None, study: Path | None, roots: Sequence[Path] = (), gate: bool = False, as_json: bool = False
) -> int:
    """Verify one registration, or all of the project, and return the most serious exit code."""
    if study is not None and not study.is_dir():
        raise UsageError(f"{study} is not a folder; --study takes the folder of a study.")
    for root in roots:
        if not root.is_file():
            raise UsageError(f"{root} is not a file; --root takes a certificate in PEM format.")
    codes, records, summaries = [], [], []
    for files in _targets(name):
        found = verify(files, study, roots)
        record = found.record()
        records.append(record)
        codes.append(found.gated() if gate else found.code)
        summaries.append(summary(found))
        if not as_json:
            click.echo(text(found))
            click.echo(f"\n{_write(files.verdicts(found.study), record)}\n")
    if name is None and summaries and not as_json:
        click.echo("\n".join(summaries))
    for sentence in orphans(project_registrations()) if name is None else ():
        click.echo(f"aacbench: {sentence}", err=True)
        codes.append(TAMPERED)
    if as_json:
        echo_json(records[0] if name is not None else records)
    return min((code for code in codes if code), default=0)


def _write(out: Path, record: Mapping[str, object]) -> str:
    """Write the results if possible: whoever verifies another person's files may have no right to write there."""
    inside = relative(out, Path())
    shown = out.resolve() if inside.startswith("..") else inside
    try:
        with storing(out.parent):
            make_folder(out.parent)
            replace_file(out, pretty(finite(record)))
    except StoreError:
        return f"{shown} could not be written; use --json to print its content."
    return f"Also in {shown}."


def text(found: Verification) -> str:
    one = found.registration
    lock = f"lock {found.lock[:8]}" if found.lock else "no lock"
    title = one_line(one.title or one.study.protocol, LONGEST_TITLE)
    lines = [f"{one.id}: {title} ({one.status}, {lock})", ""]
    lines += list(_check_lines(found))
    lines += ["", *(f"  {sentence}" for sentence in found.events), ""] if found.events else [""]
    lines.append(f"{found.tier}: {TIERS[found.tier]}.")
    lines += [f"Declared deviation in {sentence}" for sentence in found.declared]
    lines += [f"Note: {sentence}" for sentence in found.notes]
    if found.withdrawn:
        lines.append(f"The registration was withdrawn: {found.withdrawn}")
    lines = [printable(line) for line in lines]  # what an author wrote must not look like what is printed here
    if found.judged and not found.never_run:
        rows = [row for judged in found.judged for row in verdict_rows(judged, found.standing[judged.prediction.id])]
        lines += ["", aligned(rows, ("prediction", "contrast", "predicted", "interval rule", "point rule", "standing"))]
        lines += ["", "* the locked rule; the other rule decides nothing.", ""]
        lines += [paragraph(judged, found.standing[judged.prediction.id]) for judged in found.judged]
    elif found.code and not found.never_run:
        lines.append("There are no verdicts.")
    return "\n".join(lines)


def _check_lines(found: Verification) -> Iterator[str]:
    """Every check; before any run, most are about no cells, and only those that are not are told."""
    for check in found.checks:
        anchor, missing_cells = check.name.startswith("anchor "), check.code == INCOMPLETE
        if not found.never_run or anchor or (check.status != OK and not missing_cells):
            yield f"  {check.status:12}{check.name}: {check.evidence}"
    if found.never_run:
        yield "  never run   the file, its lock and the ledger are intact"


def summary(found: Verification) -> str:
    """The result in one line: intact or not, and how many predictions have each verdict."""
    state = "never run" if found.never_run else STATES[found.code]
    verdicts = Counter(one.verdict for one in found.judged) if not found.never_run else {}
    told = "; ".join([state, *(f"{count} {verdict}" for verdict, count in verdicts.items())])
    return f"{found.registration.id}: {told}{'; withdrawn' if found.withdrawn else ''}."


def paragraph(judged: Judged, standing: str) -> str:
    prediction = judged.prediction
    sentences = [f"{prediction.id} ({standing}).", _prediction_text(prediction)]
    if judged.verdict == NOT_EVALUATED:
        return " ".join([*sentences, f"Not evaluated: {judged.reason.rstrip('.')}."])
    if judged.count is not None:
        sentences.append(f"Counted: {_counted(judged)}. Verdict: {judged.verdict}.")
    else:
        sentences += [f"Observed, {name}: {_observed(row, prediction, judged.reason)}." for name, row in _shown(judged)]
        sentences += _cautions(judged)
        other = POINT if prediction.rule == INTERVAL else INTERVAL
        sentences.append(f"Verdict by the {prediction.rule} rule: {judged.verdict}.")
        if judged.verdicts.of(other) != judged.verdict:
            sentences.append(f"By the {other} rule it would be: {judged.verdicts.of(other)}.")
    if standing == EXPLORATORY:
        sentences.append("It is exploratory and confirms nothing.")
    return " ".join(sentences)


def _counted(judged: Judged) -> str:
    if not judged.not_counted:
        return str(judged.count)
    told = [
        f"{', '.join(labels)} {'does' if len(labels) == 1 else 'do'} not claim {claim}: not counted"
        for claim, labels in judged.not_counted.items()
    ]
    return f"{judged.count} ({'; '.join(told)})"


def _prediction_text(prediction: Prediction) -> str:
    place = f" on {prediction.cell}" if prediction.cell else ""
    if isinstance(prediction, Count):
        methods = f" by {', '.join(prediction.methods)}" if prediction.methods else ""
        return f"Predicted{place}: {_predicted(prediction)}{methods}."
    if isinstance(prediction, Ordering):
        others = ", ".join(one for one in prediction.among if one != prediction.best)
        return f"Predicted{place}: {prediction.best} is ahead of {others}."
    kind = "an effect of" if isinstance(prediction, Band) else "equivalence within"
    contrast = f"{prediction.a} against {prediction.b}"
    return f"Predicted{place}: {contrast}, {kind} {_predicted(prediction)} ({prediction.estimand})."


def _shown(judged: Judged) -> list[tuple[str, ForestRow]]:
    """Each contrast with its row of the forest plot, so that plot and table agree."""
    return list(zip(judged.effects, forest([judged]), strict=True))


def _cautions(judged: Judged) -> Iterator[str]:
    yield from dict.fromkeys(found.caution for found in judged.effects.values() if found.caution)
    yield from (found.memory for found in judged.effects.values() if found.memory)
    left_out = max((found.left_out for found in judged.effects.values()), default=0)
    if left_out:
        yield f"{left_out} queries were left out because one side did not answer them."


def _observed(row: ForestRow, prediction: Prediction, reason: str) -> str:
    if row.estimate is None:
        return reason.rstrip(".")
    digits = _digits(prediction)
    wide = not isinstance(prediction, Equivalence)
    interval = row.interval95 if wide else row.interval90
    text = f"{95 if wide else 90} % interval {_ends(interval, digits)}" if interval else "no interval"
    return f"{row.estimate:.{digits}f} ({'exact' if interval and interval[0] == interval[1] else text})"


def verdict_rows(judged: Judged, standing: str) -> Iterator[dict[str, str]]:
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
            "estimate": optional(row.estimate if row else judged.count, f".{digits}f"),
            "95 %": _ends(row.interval95, digits) if row else "",
            "90 %": _ends(row.interval90, digits) if row else "",
            "interval rule": judged.verdicts.interval + marks["interval"] if first else "",
            "point rule": judged.verdicts.point + marks["point"] if first else "",
            "standing": standing if first else "",
        }


def _predicted(prediction: Prediction) -> str:
    if isinstance(prediction, Count):
        what = "what each method claims" if prediction.of == VIOLATIONS else prediction.of
        return f"{prediction.equals} violation{'' if prediction.equals == 1 else 's'} of {what}"
    if isinstance(prediction, Ordering):
        return f"{prediction.best} best"
    unit = estimand(prediction.estimand)
    return f"{prediction.low:.{unit.digits}f} to {prediction.high:.{unit.digits}f}"


def _digits(prediction: Prediction) -> int:
    return 0 if isinstance(prediction, Count) else estimand(prediction.estimand).digits


def _ends(interval: tuple[float, float] | None, digits: int) -> str:
    return " to ".join(bound(end, digits) for end in interval or ())


def _targets(name: str | None) -> Iterator[Files]:
    """The registrations to verify."""
    if name is not None:
        known = shipped()
        yield files_of(known[name] if not Path(name).is_file() and name in known else Path(name))
        return
    found = project_registrations()
    if not found and not orphans(found):
        raise UsageError("There is no registration in prereg/ or studies/*/prereg/; give a FILE.")
    for path in found:
        files = files_of(path)
        one = read_registration(path)
        ledger = read_ledger(files.ledger)
        locked = history_of(ledger.entries, one.id).locked is not None or files.locks()
        if one.published is None and not locked and not ledger.problems:
            click.echo(f"{path}: a draft, not locked; nothing to verify yet.", err=True)
            continue
        yield files


def orphans(known: Sequence[Path], root: Path = Path()) -> list[str]:
    found = []
    for ledger in sorted([*root.glob(f"{FOLDER}/{LEDGER}"), *root.glob(f"studies/*/{FOLDER}/{LEDGER}")]):
        names = dict.fromkeys(line.registration for line in read_ledger(ledger).entries)
        gone = [path for name in names if (path := ledger.with_name(f"{name}.toml")) not in known]
        found += [
            f"{ledger} has lines about a registration, but its file {path} is missing; restore it." for path in gone
        ]
    return found
