"""Anchors: a lock tied to an ssh key, a git tag, or the clock of a time stamp authority."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aacbench.errors import UsageError
from aacbench.prereg.checks import ANCHOR, FAIL, NOT_CHECKED, OK, TAMPERED, Check, check_of
from aacbench.prereg.files import Files, sha256
from aacbench.prereg.history import History
from aacbench.prereg.ledger import Entry
from aacbench.prereg.lock import Lock
from aacbench.prereg.notes import write_line
from aacbench.prereg.schema import Registration
from aacbench.util.atomic_io import replace_file, storing
from aacbench.util.cleanup import temporary_folder
from aacbench.util.input_file import read_input
from aacbench.util.text import one_line

NAMESPACE = "aacbench.prereg"
SSH, TAG, STAMP = "ssh", "git-tag", "rfc3161"


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """The result of checking an anchor; `time` is in UTC, by a clock that the reader trusts."""

    status: str
    evidence: str
    time: str = ""


@dataclass(frozen=True, slots=True)
class CheckedAnchor:
    """A line about an anchor, and the result of checking it."""

    entry: Entry
    result: AnchorResult

    @property
    def lock(self) -> str:
        return str(self.entry.facts["lock"])

    def before_runs(self, history: History) -> bool:
        """Whether it comes before every run under its lock, by its own clock too if it has one."""
        starts = [run.start for run in history.showing if run.start.facts["lock"] == self.lock]
        return all(self.entry.number < start.number and self.result.time <= start.time for start in starts)


def statement(registration: str, lock: str) -> bytes:
    """The text that is signed and stamped."""
    return f"aacbench.prereg/1 {registration} {lock}\n".encode()


def sign_with_ssh(files: Files, registration: str, lock: str, key: Path) -> Entry:
    """Sign the statement with an ssh key, which shows who signed, but not when."""
    _given(key)  # ssh-keygen would wait for a pipe
    signature = _run(["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)], statement(registration, lock))
    return _keep(files, registration, lock, SSH, "ssh.sig", signature)


def sign_git_tag(files: Files, registration: str, lock: str, name: str) -> Entry:
    """Sign a git tag whose message is the statement; its worth depends on who else has the tag."""
    message = statement(registration, lock).decode()
    _run(["git", "-C", str(files.folder.resolve()), "tag", "-s", name, "-m", message], b"")
    return write_line(files, "anchor", registration, {"kind": TAG, "lock": lock, "tag": name})


def write_request(files: Files, registration: str, lock: str) -> Path:
    path, imprint = files.anchor(lock, "tsq"), _imprint(registration, lock)
    _run(["openssl", "ts", "-query", "-digest", imprint, "-sha256", "-cert", "-out", str(path)], b"")
    return path


def keep_stamp(files: Files, registration: str, lock: str, answer: Path, authority: Path | None) -> Entry:
    """Store the authority's answer, and its certificate if given."""
    stamp, certificates = _given(answer), b"" if authority is None else _given(authority)
    if shutil.which(_TOOLS[STAMP]) is not None and not _time_of(answer, registration, lock):
        raise UsageError(f"{answer} is not a time stamp of this lock; send the authority the request of --request.")
    entry = _keep(files, registration, lock, STAMP, "tsr", stamp)
    if certificates:
        _certificates(files, entry).write_bytes(certificates)
    return entry


def checked_anchors(files: Files, history: History, roots: Sequence[Path] = ()) -> list[CheckedAnchor]:
    """Every anchor, checked with the tool that made it; a time stamp counts only under one of the reader's `roots`."""
    return [CheckedAnchor(entry, check_anchor(files, entry, roots)) for entry in history.of("anchor")]


def anchor_checks(
    anchors: Sequence[CheckedAnchor], registration: Registration, history: History, locks: Mapping[str, Lock]
) -> Iterator[Check]:
    good: dict[str, set[str]] = {}
    for anchor in anchors:
        kind, result = anchor.entry.facts["kind"], anchor.result
        yield Check(f"anchor {kind}", result.status, result.evidence, TAMPERED if result.status == FAIL else 0)
        if result.status == OK and anchor.before_runs(history):
            good.setdefault(anchor.lock, set()).add(kind)
    run_digests = _run_locks(history)
    # An amendment cannot take back what a lock required when it was run.
    run_locks = [lock for digest, lock in locks.items() if digest in run_digests]
    kinds = [kind for lock in run_locks for kind in lock.registration["anchors"]["required"]]
    required = list(dict.fromkeys([*registration.anchors, *kinds]))
    missing = [kind for kind in required if any(kind not in good.get(lock, ()) for lock in run_digests)]
    problems = [f"there is no {kind} anchor from before the run that could be checked." for kind in missing]
    if required:
        yield check_of("required anchors", problems, ANCHOR, ", ".join(required))


def stamped_before(anchors: Sequence[CheckedAnchor], history: History) -> bool:
    """Whether a clock that the reader trusts saw each lock before it was run."""
    stamped = {anchor.lock for anchor in anchors if anchor.result.time and anchor.before_runs(history)}
    return _run_locks(history) <= stamped


def check_anchor(files: Files, entry: Entry, roots: Sequence[Path] = ()) -> AnchorResult:
    kind, lock = entry.facts["kind"], entry.facts["lock"]
    if kind not in _TOOLS:
        return AnchorResult(NOT_CHECKED, f"unknown kind of anchor: {kind!r}")
    if kind != TAG:
        path = _file_of(files, entry)
        if not path.is_file() or sha256(path) != entry.facts.get("sha256"):
            return AnchorResult(FAIL, f"{path.name} is missing, or is not the file recorded in line {entry.number}.")
    if shutil.which(_TOOLS[kind]) is None:
        return AnchorResult(NOT_CHECKED, f"{_TOOLS[kind]} is not installed")
    if kind == STAMP:
        return _check_stamp(files, entry, lock, roots)
    return (_check_signature if kind == SSH else _check_tag)(files, entry, lock)


def _run_locks(history: History) -> set[str]:
    """The digests of the locks that were run, or of the one in force if none was."""
    return {run.start.facts["lock"] for run in history.showing} or {history.digests[-1]}


def _check_signature(files: Files, entry: Entry, lock: str) -> AnchorResult:
    signature = _file_of(files, entry)
    command = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]
    checked = subprocess.run(command, input=statement(entry.registration, lock), capture_output=True, check=False)
    if checked.returncode:
        return AnchorResult(FAIL, f"{signature.name} is not a signature of this lock.")
    return AnchorResult(OK, f"{checked.stdout.decode(errors='replace').strip()}; it shows who signed, not when")


def _check_tag(files: Files, entry: Entry, lock: str) -> AnchorResult:
    name, folder = str(entry.facts.get("tag")), str(files.folder.resolve())
    tag = subprocess.run(["git", "-C", folder, "cat-file", "tag", name], capture_output=True, check=False)
    if tag.returncode:
        return AnchorResult(NOT_CHECKED, f"there is no tag {name} in a git repository here")
    if statement(entry.registration, lock).strip() not in tag.stdout:
        return AnchorResult(FAIL, f"the tag {name} does not name this lock.")
    signed = subprocess.run(["git", "-C", folder, "verify-tag", name], capture_output=True, check=False)
    if signed.returncode:
        return AnchorResult(NOT_CHECKED, f"the tag {name} names this lock, but git could not verify its signature")
    return AnchorResult(OK, f"the tag {name} is signed and names this lock; it shows who signed, not when")


def _check_stamp(files: Files, entry: Entry, lock: str, roots: Sequence[Path]) -> AnchorResult:
    """Check a time stamp against the reader's roots; a certificate that the author gave proves nothing."""
    answer, given = _file_of(files, entry), _certificates(files, entry)
    time = _time_of(answer, entry.registration, lock)
    if not time:
        return AnchorResult(FAIL, f"{answer.name} is not a time stamp of this lock.")
    chain = ["-untrusted", str(given)] if given.is_file() else []
    verify = ["openssl", "ts", "-verify", "-digest", _imprint(entry.registration, lock), "-in", str(answer), *chain]
    trusted = [root for root in roots if _output([*verify, "-CAfile", str(root)])]
    if trusted:
        return AnchorResult(OK, f"stamped at {time} by {_signer(answer)}, trusted by {trusted[0].name}", time)
    why = "no root that you named confirms it" if roots else "name the authority's root with --root to check it"
    return AnchorResult(NOT_CHECKED, f"self-issued as far as is known here, by {_signer(answer)}, for {time}; {why}")


def _signer(answer: Path) -> str:
    """Who signed a time stamp, as its certificate says."""
    with temporary_folder() as folder:
        token, signer = _token(answer, folder), folder / "signer.pem"
        told = ["-noverify", "-signer", str(signer), "-out", str(folder / "content")]
        _output(["openssl", "cms", "-verify", "-inform", "DER", "-in", str(token), *told])
        names = _output(["openssl", "x509", "-in", str(signer), "-noout", "-subject", "-issuer"])
    return one_line(names.replace("\n", ", ")).strip(", ") or "an unknown signer"


def _time_of(answer: Path, registration: str, lock: str) -> str:
    """The time that an authority's answer gives to this lock; empty if it is no answer, or about something else."""
    with temporary_folder() as folder:  # only the token is signed; around it stands what anybody may have written
        token = _token(answer, folder)
        text = _output(["openssl", "ts", "-reply", "-in", str(token), "-token_in", "-text"])
    return _stamp_time(text) if _imprint(registration, lock) in _stamped_digest(text) else ""


def _token(answer: Path, folder: Path) -> Path:
    token = folder / "token.der"
    _output(["openssl", "ts", "-reply", "-in", str(answer), "-token_out", "-out", str(token)])
    return token


def _imprint(registration: str, lock: str) -> str:
    return hashlib.sha256(statement(registration, lock)).hexdigest()


def _stamped_digest(text: str) -> str:
    """The digest in the hex dump after `Message data:`, without its white space."""
    dump = text.partition("Message data:")[2].partition("Serial number:")[0]
    rows = [re.sub(r"^\s*[0-9a-f]{4} - ", "", row)[:48] for row in dump.splitlines()]
    return re.sub(r"[^0-9a-f]", "", "".join(rows))


def _output(command: Sequence[str]) -> str:
    """What a tool printed; empty if it failed."""
    done = subprocess.run(command, capture_output=True, check=False)
    return "" if done.returncode else done.stdout.decode(errors="replace")


_TOOLS = {SSH: "ssh-keygen", TAG: "git", STAMP: "openssl"}


def _stamp_time(text: str) -> str:
    """The time in a line such as `Time stamp: Jan 27 10:00:00 2026 GMT`, in the format of the ledger."""
    for line in text.splitlines():
        for form in ("Time stamp: %b %d %H:%M:%S %Y GMT", "Time stamp: %b %d %H:%M:%S.%f %Y GMT"):
            with suppress(ValueError):
                return datetime.strptime(line.strip(), form).replace(tzinfo=UTC).isoformat(timespec="milliseconds")
    return ""


def _keep(files: Files, registration: str, lock: str, kind: str, ending: str, content: bytes) -> Entry:
    """Store an anchor under a name of its own: a lock may have several of a kind, such as one of each author."""
    digest = hashlib.sha256(content).hexdigest()
    path = files.anchor(lock, f"{digest[:8]}.{ending}")
    with storing(path.parent):
        replace_file(path, content)
    return write_line(files, "anchor", registration, {"kind": kind, "lock": lock, "file": path.name, "sha256": digest})


def _file_of(files: Files, entry: Entry) -> Path:
    """The file that the line about an anchor recorded."""
    return files.folder / Path(str(entry.facts.get("file"))).name


def _certificates(files: Files, entry: Entry) -> Path:
    """The authority's certificates, which lie beside its answer."""
    return _file_of(files, entry).with_suffix(".tsa.pem")


def _given(path: Path) -> bytes:
    try:
        return read_input(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error


def _run(command: Sequence[str], content: bytes) -> bytes:
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]} is not installed; install it, or choose another anchor.")
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{command[0]} failed: {lines[-1] if lines else 'it gave no reason'}.")
    return done.stdout
