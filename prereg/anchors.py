"""Anchors: a lock tied to a key, to a git tag, or to somebody else's clock; checked with the tools that made them."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from aacbench.errors import UsageError
from aacbench.prereg.checks import ANCHOR, FAIL, NOT_CHECKED, OK, TAMPERED, Check, failed, passed
from aacbench.prereg.files import Files, sha256
from aacbench.prereg.history import History
from aacbench.prereg.ledger import Entry
from aacbench.prereg.lock import Lock
from aacbench.prereg.note import write_line
from aacbench.prereg.schema import Registration

NAMESPACE = "aacbench.prereg"
SSH, TAG, STAMP = "ssh", "git-tag", "rfc3161"


@dataclass(frozen=True, slots=True)
class Found:
    """What became of an anchor; `time` is that of somebody else's clock, in UTC."""

    status: str
    evidence: str
    time: str = ""


def statement(registration: str, lock: str) -> bytes:
    """What is signed and stamped."""
    return f"aacbench.prereg/1 {registration} {lock}\n".encode()


def sign_with_ssh(files: Files, registration: str, lock: str, key: Path) -> Entry:
    """Sign the statement with an ssh key: it says who, and nothing about when."""
    signature = _run(["ssh-keygen", "-Y", "sign", "-n", NAMESPACE, "-f", str(key)], statement(registration, lock))
    return _keep(files, registration, lock, SSH, files.anchor(lock, "ssh.sig"), signature)


def sign_git_tag(files: Files, registration: str, lock: str, name: str) -> Entry:
    """Sign a tag whose message is the statement; what it is worth depends on who else has the tag."""
    message = statement(registration, lock).decode()
    _run(["git", "-C", str(files.folder.resolve()), "tag", "-s", name, "-m", message], b"")
    return write_line(files, "anchor", registration, {"kind": TAG, "lock": lock, "tag": name})


def write_request(files: Files, registration: str, lock: str) -> Path:
    """The request for a time stamp authority."""
    path = files.anchor(lock, "tsq")
    imprint = hashlib.sha256(statement(registration, lock)).hexdigest()
    _run(["openssl", "ts", "-query", "-digest", imprint, "-sha256", "-cert", "-out", str(path)], b"")
    return path


def keep_stamp(files: Files, registration: str, lock: str, answer: Path, authority: Path | None) -> Entry:
    """Keep an authority's answer, and its certificate where that is at hand."""
    if authority is not None:
        shutil.copyfile(authority, files.anchor(lock, "tsa.pem"))
    return _keep(files, registration, lock, STAMP, files.anchor(lock, "tsr"), answer.read_bytes())


def anchor_checks(
    files: Files, registration: Registration, past: History, locks: Mapping[str, Lock]
) -> Iterator[Check]:
    """Each anchor, then whether those that the registration asks for were there before the run."""
    good: dict[str, set[str]] = {}
    for line in past.of("anchor"):
        kind, lock = str(line.facts.get("kind")), str(line.facts.get("lock"))
        found = look_at(files, line)
        code = TAMPERED if found.status == FAIL else 0
        yield Check(f"anchor {kind}", found.status, found.evidence, code)
        if found.status == OK and _in_time(line, found, past, lock):
            good.setdefault(lock, set()).add(kind)
    starts = past.of("run_start")
    wanted = {str(line.facts.get("lock")) for line in starts} or {past.digests[-1]}
    # An amendment cannot take back what a lock asked for when it was run.
    run = [lock for digest, lock in locks.items() if digest in wanted]
    asked = [kind for lock in run for kind in lock.registration["anchors"]["required"]]
    required = list(dict.fromkeys([*registration.anchors, *asked]))
    missing = [kind for kind in required if any(kind not in good.get(lock, ()) for lock in wanted)]
    if missing:
        yield failed("required anchors", f"no {missing[0]} anchor that can be checked is from before the run.", ANCHOR)
    elif required:
        yield passed("required anchors", ", ".join(required))


def anchored_before(files: Files, past: History) -> bool:
    """Whether somebody else's clock saw each lock that was run, before it was."""
    starts = past.of("run_start")
    wanted = {str(line.facts.get("lock")) for line in starts} or {past.digests[-1]}
    stamped = {
        lock
        for line in past.of("anchor")
        if (lock := str(line.facts.get("lock"))) in wanted
        and (found := look_at(files, line)).status == OK
        and found.time
        and _in_time(line, found, past, lock)
    }
    return stamped == wanted


def look_at(files: Files, line: Entry) -> Found:
    """Check one anchor with the tool it was made with; without the tool it is not checked."""
    kind, lock = str(line.facts.get("kind")), str(line.facts.get("lock"))
    if kind not in _CHECKS:
        return Found(NOT_CHECKED, f"there is no way here to check an anchor of kind {kind!r}")
    tool, check = _CHECKS[kind]
    if kind != TAG:
        path = files.folder / Path(str(line.facts.get("file"))).name
        if not path.is_file() or sha256(path) != line.facts.get("sha256"):
            return Found(FAIL, f"{path.name} is missing, or not what line {line.number} recorded.")
    if shutil.which(tool) is None:
        return Found(NOT_CHECKED, f"{tool} is not on this machine")
    return check(files, line, lock)


def _ssh(files: Files, line: Entry, lock: str) -> Found:
    signature = files.folder / str(line.facts["file"])
    words = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]
    done = subprocess.run(words, input=statement(line.registration, lock), capture_output=True, check=False)
    if done.returncode:
        return Found(FAIL, f"{signature.name} is no signature of this lock.")
    return Found(OK, f"{done.stdout.decode(errors='replace').strip()}; it says who, not when")


def _tag(files: Files, line: Entry, lock: str) -> Found:
    name, folder = str(line.facts.get("tag")), str(files.folder.resolve())
    there = subprocess.run(["git", "-C", folder, "cat-file", "tag", name], capture_output=True, check=False)
    if there.returncode:
        return Found(NOT_CHECKED, f"the tag {name} is not in a repository here")
    if statement(line.registration, lock).strip() not in there.stdout:
        return Found(FAIL, f"the tag {name} does not name this lock.")
    signed = subprocess.run(["git", "-C", folder, "verify-tag", name], capture_output=True, check=False)
    if signed.returncode:
        return Found(NOT_CHECKED, f"the tag {name} names this lock, but git could not verify who signed it")
    return Found(OK, f"the tag {name} is signed and names this lock; it says who, not when")


def _stamp(files: Files, line: Entry, lock: str) -> Found:
    answer, authority = (files.anchor(lock, ending) for ending in ("tsr", "tsa.pem"))
    if not authority.is_file():
        return Found(NOT_CHECKED, f"the authority's certificate ({authority.name}) is not there to check it with")
    imprint = hashlib.sha256(statement(line.registration, lock)).hexdigest()
    words = ["openssl", "ts", "-verify", "-digest", imprint, "-in", str(answer), "-CAfile", str(authority)]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        return Found(FAIL, f"{answer.name} is no stamp of this lock by this authority.")
    shown = subprocess.run(["openssl", "ts", "-reply", "-in", str(answer), "-text"], capture_output=True, check=True)
    time = _time(shown.stdout.decode(errors="replace"))
    if not time:
        return Found(NOT_CHECKED, "the stamp holds, but its time could not be read")
    return Found(OK, f"stamped at {time}", time)


_CHECKS: dict[str, tuple[str, Callable[[Files, Entry, str], Found]]] = {
    SSH: ("ssh-keygen", _ssh),
    TAG: ("git", _tag),
    STAMP: ("openssl", _stamp),
}


def _time(text: str) -> str:
    """`Time stamp: Jan 27 10:00:00 2026 GMT` as the ledger writes times."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "Time stamp":
            for form in ("%b %d %H:%M:%S %Y GMT", "%b %d %H:%M:%S.%f %Y GMT"):
                try:
                    found = datetime.strptime(value.strip(), form).replace(tzinfo=UTC)
                except ValueError:
                    continue
                return found.isoformat(timespec="milliseconds")
    return ""


def _in_time(line: Entry, found: Found, past: History, lock: str) -> bool:
    """Whether an anchor is from before every run under its lock, by its own clock too where it has one."""
    starts = [start for start in past.of("run_start") if start.facts.get("lock") == lock]
    return all(line.number < start.number and found.time <= start.time for start in starts)


def _keep(files: Files, registration: str, lock: str, kind: str, path: Path, content: bytes) -> Entry:
    path.write_bytes(content)
    facts = {"kind": kind, "lock": lock, "file": path.name, "sha256": sha256(path)}
    return write_line(files, "anchor", registration, facts)


def _run(words: Sequence[str], given: bytes) -> bytes:
    if shutil.which(words[0]) is None:
        raise UsageError(f"{words[0]} is not on this machine; install it, or choose another anchor.")
    done = subprocess.run(words, input=given, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{words[0]} refused: {said[-1] if said else 'it did not say why'}.")
    return done.stdout
