"""Anchors: a lock tied to an ssh key, a git tag, or the clock of a time stamp authority."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aacbench.errors import UsageError
from aacbench.prereg.checks import ANCHOR, FAIL, NOT_CHECKED, OK, TAMPERED, Check, check_of
from aacbench.prereg.files import Files, sha256
from aacbench.prereg.ledger import Entry, History, write_line
from aacbench.prereg.lock import Lock
from aacbench.prereg.schema import Registration

NAMESPACE = "aacbench.prereg"
SSH, TAG, STAMP = "ssh", "git-tag", "rfc3161"


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """The result of checking an anchor; `time` is in UTC, by somebody else's clock."""

    status: str
    evidence: str
    time: str = ""


def statement(registration: str, lock: str) -> bytes:
    """The text that is signed and stamped."""
    return f"aacbench.prereg/1 {registration} {lock}\n".encode()


def sign_with_ssh(files: Files, registration: str, lock: str, key: Path) -> Entry:
    """Sign the statement with an ssh key, which shows who signed, but not when."""
    signature = _run(["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)], statement(registration, lock))
    return _keep(files, registration, lock, SSH, files.anchor(lock, "ssh.sig"), signature)


def sign_git_tag(files: Files, registration: str, lock: str, name: str) -> Entry:
    """Sign a git tag whose message is the statement; its worth depends on who else has the tag."""
    message = statement(registration, lock).decode()
    _run(["git", "-C", str(files.folder.resolve()), "tag", "-s", name, "-m", message], b"")
    return write_line(files, "anchor", registration, {"kind": TAG, "lock": lock, "tag": name})


def write_request(files: Files, registration: str, lock: str) -> Path:
    path = files.anchor(lock, "tsq")
    imprint = hashlib.sha256(statement(registration, lock)).hexdigest()
    _run(["openssl", "ts", "-query", "-digest", imprint, "-sha256", "-cert", "-out", str(path)], b"")
    return path


def keep_stamp(files: Files, registration: str, lock: str, answer: Path, authority: Path | None) -> Entry:
    """Store the authority's answer, and its certificate if given."""
    if authority is not None:
        shutil.copyfile(authority, files.anchor(lock, "tsa.pem"))
    return _keep(files, registration, lock, STAMP, files.anchor(lock, "tsr"), answer.read_bytes())


def anchor_checks(
    files: Files, registration: Registration, history: History, locks: Mapping[str, Lock]
) -> Iterator[Check]:
    good: dict[str, set[str]] = {}
    for entry in history.of("anchor"):
        kind, lock = entry.facts["kind"], entry.facts["lock"]
        result = check_anchor(files, entry)
        yield Check(f"anchor {kind}", result.status, result.evidence, TAMPERED if result.status == FAIL else 0)
        if result.status == OK and _before_runs(entry, result, history, lock):
            good.setdefault(lock, set()).add(kind)
    run_digests = _run_locks(history)
    # An amendment cannot take back what a lock required when it was run.
    run_locks = [lock for digest, lock in locks.items() if digest in run_digests]
    kinds = [kind for lock in run_locks for kind in lock.registration["anchors"]["required"]]
    required = list(dict.fromkeys([*registration.anchors, *kinds]))
    missing = [kind for kind in required if any(kind not in good.get(lock, ()) for lock in run_digests)]
    problems = [f"there is no {kind} anchor from before the run that could be checked." for kind in missing]
    if required:
        yield check_of("required anchors", problems, ANCHOR, ", ".join(required))


def anchored_before(files: Files, history: History) -> bool:
    """Whether somebody else's clock saw each lock before it was run."""
    run_digests = _run_locks(history)
    stamped = {
        lock
        for entry in history.of("anchor")
        if (lock := entry.facts["lock"]) in run_digests
        and (result := check_anchor(files, entry)).status == OK
        and result.time
        and _before_runs(entry, result, history, lock)
    }
    return stamped == run_digests


def check_anchor(files: Files, entry: Entry) -> AnchorResult:
    """Check one anchor with the tool that made it; without the tool it is not checked."""
    kind, lock = entry.facts["kind"], entry.facts["lock"]
    if kind not in _CHECKS:
        return AnchorResult(NOT_CHECKED, f"unknown kind of anchor: {kind!r}")
    tool, check = _CHECKS[kind]
    if kind != TAG:
        path = files.folder / Path(str(entry.facts.get("file"))).name
        if not path.is_file() or sha256(path) != entry.facts.get("sha256"):
            return AnchorResult(FAIL, f"{path.name} is missing, or is not the file recorded in line {entry.number}.")
    if shutil.which(tool) is None:
        return AnchorResult(NOT_CHECKED, f"{tool} is not installed")
    return check(files, entry, lock)


def _run_locks(history: History) -> set[str]:
    """The digests of the locks that were run, or of the one in force if none was."""
    return {entry.facts["lock"] for entry in history.of("run_start")} or {history.digests[-1]}


def _check_signature(files: Files, entry: Entry, lock: str) -> AnchorResult:
    signature = files.folder / str(entry.facts["file"])
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


def _check_stamp(files: Files, entry: Entry, lock: str) -> AnchorResult:
    answer, authority = (files.anchor(lock, ending) for ending in ("tsr", "tsa.pem"))
    if not authority.is_file():
        return AnchorResult(NOT_CHECKED, f"the authority's certificate {authority.name} is missing")
    imprint = hashlib.sha256(statement(entry.registration, lock)).hexdigest()
    command = ["openssl", "ts", "-verify", "-digest", imprint, "-in", str(answer), "-CAfile", str(authority)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return AnchorResult(FAIL, f"{answer.name} is not a time stamp of this lock by this authority.")
    reply = subprocess.run(["openssl", "ts", "-reply", "-in", str(answer), "-text"], capture_output=True, check=True)
    time = _stamp_time(reply.stdout.decode(errors="replace"))
    if not time:
        return AnchorResult(NOT_CHECKED, "the time stamp is valid, but its time could not be read")
    return AnchorResult(OK, f"stamped at {time}", time)


_CHECKS: dict[str, tuple[str, Callable[[Files, Entry, str], AnchorResult]]] = {
    SSH: ("ssh-keygen", _check_signature),
    TAG: ("git", _check_tag),
    STAMP: ("openssl", _check_stamp),
}


def _stamp_time(text: str) -> str:
    """The time in a line such as `Time stamp: Jan 27 10:00:00 2026 GMT`, in the format of the ledger."""
    for line in text.splitlines():
        for form in ("Time stamp: %b %d %H:%M:%S %Y GMT", "Time stamp: %b %d %H:%M:%S.%f %Y GMT"):
            with suppress(ValueError):
                return datetime.strptime(line.strip(), form).replace(tzinfo=UTC).isoformat(timespec="milliseconds")
    return ""


def _before_runs(entry: Entry, result: AnchorResult, history: History, lock: str) -> bool:
    """Whether an anchor comes before every run under its lock, by its own clock too if it has one."""
    starts = [start for start in history.of("run_start") if start.facts["lock"] == lock]
    return all(entry.number < start.number and result.time <= start.time for start in starts)


def _keep(files: Files, registration: str, lock: str, kind: str, path: Path, content: bytes) -> Entry:
    path.write_bytes(content)
    facts = {"kind": kind, "lock": lock, "file": path.name, "sha256": sha256(path)}
    return write_line(files, "anchor", registration, facts)


def _run(command: Sequence[str], content: bytes) -> bytes:
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]} is not installed; install it, or choose another anchor.")
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{command[0]} failed: {lines[-1] if lines else 'it gave no reason'}.")
    return done.stdout
