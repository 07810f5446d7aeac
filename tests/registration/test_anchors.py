"""Anchors: signed, tagged and stamped locks, checked with the tools that make them, and the tiers they give."""

import hashlib
import shutil
import subprocess

import pytest

from aacbench.prereg import anchors
from aacbench.prereg.ledger import append

TSA = """
[tsa]
default_tsa = authority
[authority]
serial = {folder}/serial
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256
"""


def needs(tool):
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"needs {tool}")


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, **options)


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return own_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def other_authority(tmp_path_factory):
    return own_authority(tmp_path_factory.mktemp("other-authority"))


def own_authority(folder):
    """A time stamp authority of our own: its certificate, and what it answers to a request."""
    (folder / "tsa.cnf").write_text(TSA.format(folder=folder))
    (folder / "serial").write_text("01\n")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", folder / "key.pem")
    purpose = ("-subj", "/CN=authority", "-addext", "extendedKeyUsage=critical,timeStamping")
    run("openssl", "req", "-x509", *key, "-out", folder / "ca.pem", *purpose)

    def stamp(request):
        signer = ("-signer", folder / "ca.pem", "-inkey", folder / "key.pem")
        answer = folder / "answer.tsr"
        run("openssl", "ts", "-reply", "-config", folder / "tsa.cnf", "-queryfile", request, *signer, "-out", answer)
        return answer

    stamp.ca = folder / "ca.pem"
    return stamp


@pytest.fixture(scope="session")
def ssh_key(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "key"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path)
    return path


def stamped(registered, authority):
    assert registered.call("anchor", "--request") == 0
    (request,) = registered.files.folder.glob("*.tsq")
    assert registered.call("anchor", "--rfc3161", authority(request), "--ca", authority.ca) == 0


def verified(registered, code=0, root=None):
    assert registered.call("verify", *(("--root", root) if root else ())) == code
    record = registered.results()
    return record["tier"], {check["name"]: check for check in record["checks"]}


@needs("openssl")
def test_a_stamp_before_the_run_is_a_tier_of_its_own(locked, run_study, authority):
    stamped(locked, authority)
    locked.simulate_run(run_study)
    tier, checks = verified(locked, root=authority.ca)
    assert tier == "T2"
    assert checks["anchor rfc3161"]["evidence"].startswith("stamped at 20")
    assert "by subject=CN = authority, issuer=CN = authority, trusted by ca.pem" in checks["anchor rfc3161"]["evidence"]


@needs("openssl")
def test_a_stamp_by_ones_own_authority_proves_nothing(locked, run_study, authority, other_authority, capsys):
    stamped(locked, authority)
    locked.simulate_run(run_study)
    for root, why in ((None, "name the authority's root with --root"), (other_authority.ca, "no root that you named")):
        tier, checks = verified(locked, root=root)
        assert tier == "T1"
        assert checks["anchor rfc3161"]["status"] == "not checked"
        assert "self-issued as far as is known here" in checks["anchor rfc3161"]["evidence"]
        assert why in checks["anchor rfc3161"]["evidence"]
    next(locked.files.folder.glob("*.tsa.pem")).unlink()
    assert verified(locked, root=authority.ca)[0] == "T2"  # the author's own copy is not needed
    assert locked.call("verify", "--root", locked.root / "missing.pem") == 2
    assert "missing.pem is not a file" in capsys.readouterr().err


@needs("openssl")
def test_a_required_stamp_needs_a_root_of_the_reader(locked, run_study, authority):
    locked.edit("[analysis]", '[anchors]\nrequired = ["rfc3161"]\n\n[analysis]')
    assert locked.call("amend", "--reason", "an anchor is wanted") == 0
    stamped(locked, authority)
    locked.simulate_run(run_study)
    assert verified(locked, 6)[1]["required anchors"]["status"] == "fail"
    assert verified(locked, root=authority.ca)[0] == "T2"


@needs("openssl")
def test_a_stamp_after_the_run_proves_nothing_about_the_run(done, authority):
    stamped(done, authority)
    tier, checks = verified(done, root=authority.ca)
    assert tier == "T1"
    assert checks["anchor rfc3161"]["status"] == "ok"


@needs("openssl")
def test_a_stamp_that_cannot_be_checked_here_counts_for_nothing(locked, authority, monkeypatch):
    stamped(locked, authority)
    monkeypatch.setattr(anchors.shutil, "which", lambda tool: None)
    tier, checks = verified(locked, 7)
    assert checks["anchor rfc3161"]["status"] == "not checked"
    assert checks["anchor rfc3161"]["evidence"] == "openssl is not installed"
    assert tier == "T1"


@needs("openssl")
def test_a_stamp_of_something_else_is_no_stamp(locked, authority, monkeypatch, capsys):
    other = locked.root / "other"
    other.write_text("something else")
    request = locked.root / "other.tsq"
    run("openssl", "ts", "-query", "-data", other, "-sha256", "-cert", "-out", request)
    answer = authority(request)
    assert locked.call("anchor", "--rfc3161", answer, "--ca", authority.ca) == 2
    assert "is not a time stamp of this lock" in capsys.readouterr().err
    assert [line.event for line in locked.entries()] == ["lock"]
    monkeypatch.setattr(anchors, "_time_of", lambda *_: "some time")  # as if it had been taken all the same
    assert locked.call("anchor", "--rfc3161", answer, "--ca", authority.ca) == 0
    monkeypatch.undo()
    tier, checks = verified(locked, 3)
    assert tier == "T0"
    assert "is not a time stamp of this lock" in checks["anchor rfc3161"]["evidence"]


@needs("openssl")
def test_a_time_written_around_the_stamp_does_not_count(locked, run_study, authority):
    """The status in front of the token is not signed."""
    assert locked.call("anchor", "--request") == 0
    (request,) = locked.files.folder.glob("*.tsq")
    answer = authority(request)
    answer.write_bytes(with_status(answer.read_bytes(), "Time stamp: Jan  1 00:00:00 2020 GMT"))
    assert locked.call("anchor", "--rfc3161", answer) == 0
    locked.simulate_run(run_study)
    tier, checks = verified(locked, root=authority.ca)
    assert tier == "T2"
    assert "stamped at 2020" not in checks["anchor rfc3161"]["evidence"]


def with_status(answer, text):
    """The DER of an answer with this text in its status."""

    def element(tag, content):
        size = len(content)
        length = bytes([size]) if size < 128 else bytes([128 + (size.bit_length() + 7) // 8])
        return bytes([tag]) + length + (b"" if size < 128 else size.to_bytes((size.bit_length() + 7) // 8)) + content

    status = answer.index(b"\x02\x01\x00")  # granted; the token follows its sequence
    token = answer[status - 2 + 2 + answer[status - 1] :]
    words = element(0x30, element(0x0C, b"Operation Okay") + element(0x0C, text.encode()))
    return element(0x30, element(0x30, b"\x02\x01\x00" + words) + token)


@needs("openssl")
def test_two_authorities_stamp_one_lock(locked, run_study, authority, other_authority):
    stamped(locked, authority)
    stamped(locked, other_authority)
    locked.simulate_run(run_study)
    for root in (authority.ca, other_authority.ca):
        assert verified(locked, root=root)[0] == "T2"


@needs("openssl")
def test_a_certificate_that_is_not_the_authoritys_is_no_fault(locked, run_study, authority, other_authority):
    assert locked.call("anchor", "--request") == 0
    (request,) = locked.files.folder.glob("*.tsq")
    assert locked.call("anchor", "--rfc3161", authority(request), "--ca", other_authority.ca) == 0
    locked.simulate_run(run_study)
    assert verified(locked)[1]["anchor rfc3161"]["status"] == "not checked"


@needs("openssl")
def test_a_stamp_obtained_after_the_run_under_a_line_from_before(locked, run_study, authority):
    """The line names any file; the stamp is put where stamps used to be looked for."""
    lock = locked.line("lock").facts["lock"]
    content = b"anything"
    (locked.files.folder / "readme.txt").write_bytes(content)
    facts = {"kind": "rfc3161", "lock": lock, "file": "readme.txt", "sha256": hashlib.sha256(content).hexdigest()}
    append(locked.files.ledger, "anchor", "small", facts)
    locked.simulate_run(run_study)
    assert locked.call("anchor", "--request") == 0
    (request,) = locked.files.folder.glob("*.tsq")
    shutil.copyfile(authority(request), locked.files.anchor(lock, "tsr"))
    assert verified(locked, 3, root=authority.ca)[0] == "T0"


@needs("openssl")
def test_stamped_and_seeded_after_the_lock_is_the_highest_tier(seeded_study, seeded_run, tmp_path, authority):
    made = seeded_study.copy(tmp_path)
    stamped(made, authority)
    made.simulate_run(seeded_run, "beacon 4711")
    assert verified(made, root=authority.ca)[0] == "T3"


@needs("ssh-keygen")
def test_a_signature_says_who_and_not_when(locked, ssh_key):
    assert locked.call("anchor", "--ssh", ssh_key) == 0
    tier, checks = verified(locked, 7)
    assert tier == "T1"
    assert checks["anchor ssh"]["status"] == "ok"
    assert "it shows who signed, not when" in checks["anchor ssh"]["evidence"]


@needs("ssh-keygen")
def test_two_authors_sign_one_lock(locked, ssh_key, tmp_path_factory):
    other = tmp_path_factory.mktemp("keys") / "other"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other)
    for key in (ssh_key, other):
        assert locked.call("anchor", "--ssh", key) == 0
    assert len(list(locked.files.folder.glob("*.ssh.sig"))) == 2
    assert locked.call("verify") == 7  # not run, and nothing else


@needs("ssh-keygen")
def test_a_signature_that_was_changed(locked, ssh_key):
    assert locked.call("anchor", "--ssh", ssh_key) == 0
    (signature,) = locked.files.folder.glob("*.ssh.sig")
    signature.write_text(signature.read_text().replace("BEGIN", "BEGUN"))
    assert "is missing, or is not the file recorded in line 2" in verified(locked, 3)[1]["anchor ssh"]["evidence"]


@needs("ssh-keygen")
def test_a_signature_of_another_lock(locked, ssh_key):
    assert locked.call("anchor", "--ssh", ssh_key) == 0
    locked.edit("high = 20", "high = 30")
    assert locked.call("amend", "--reason", "wider") == 0
    first, second = (line.facts["lock"] for line in locked.entries() if line.event in ("lock", "amend"))
    told = locked.told()
    told[1][1]["lock"] = second
    (locked.study).mkdir(parents=True)
    (locked.study / "registration.json").write_text('{"lines": []}')
    locked.rechain([told[0], told[2], told[1]])
    assert first != second
    assert "is not a signature of this lock" in verified(locked, 3)[1]["anchor ssh"]["evidence"]


@needs("ssh-keygen")
@needs("git")
def test_a_signed_tag(locked, ssh_key):
    run("git", "init", "-q", locked.root)
    settings = {"user.name": "a", "user.email": "a@b", "gpg.format": "ssh", "user.signingkey": f"{ssh_key}.pub"}
    signers = locked.root / "signers"
    signers.write_text(f"a@b {(ssh_key.parent / 'key.pub').read_text()}")
    for name, value in {**settings, "gpg.ssh.allowedSignersFile": signers}.items():
        run("git", "-C", locked.root, "config", name, value)
    run("git", "-C", locked.root, "add", "prereg")
    run("git", "-C", locked.root, "commit", "-q", "-m", "locked")
    assert locked.call("anchor", "--git-tag", "locked-1") == 0
    found = verified(locked, 7)[1]["anchor git-tag"]
    assert (found["status"], found["evidence"]) == (
        "ok",
        "the tag locked-1 is signed and names this lock; it shows who signed, not when",
    )
    run("git", "-C", locked.root, "tag", "-d", "locked-1")
    assert verified(locked, 7)[1]["anchor git-tag"]["status"] == "not checked"
    run("git", "-C", locked.root, "tag", "-s", "locked-1", "-m", "something else")
    assert verified(locked, 3)[1]["anchor git-tag"]["status"] == "fail"


@needs("ssh-keygen")
def test_a_required_anchor_opens_the_run(locked, run_study, ssh_key):
    locked.edit("[analysis]", '[anchors]\nrequired = ["ssh"]\n\n[analysis]')
    assert locked.call("amend", "--reason", "an anchor is wanted") == 0
    assert locked.run() == 2
    assert locked.call("anchor", "--ssh", ssh_key) == 0
    locked.simulate_run(run_study)
    assert verified(locked)[1]["required anchors"]["status"] == "ok"


def test_an_anchor_of_nothing(locked, capsys):
    assert locked.call("anchor") == 2
    assert "Choose an anchor" in capsys.readouterr().err
