"""Registered studies that are locked and run once, and copied for each test."""

import json

import pytest
from registration.studies import ORDER, TAMPERED, project


@pytest.fixture(scope="session")
def locked_study(tmp_path_factory):
    """Locked, and not run."""
    made = project(tmp_path_factory.mktemp("locked"))
    assert made.call("lock") == 0
    return made


@pytest.fixture(scope="session")
def run_study(locked_study, tmp_path_factory):
    """Locked and run."""
    made = locked_study.copy(tmp_path_factory.mktemp("run"))
    assert made.run() == 0
    return made


@pytest.fixture(scope="session")
def seeded_study(tmp_path_factory):
    """Locked, with queries that are drawn from the lock, and not run."""
    queries = "[protocol.queries]"
    made = project(tmp_path_factory.mktemp("seeded"), seed=(queries, f'seed_source = "lock"\n\n{queries}'))
    assert made.call("lock") == 0
    return made


@pytest.fixture(scope="session")
def seeded_run(seeded_study, tmp_path_factory):
    """Locked and run, with queries that were drawn from the lock."""
    made = seeded_study.copy(tmp_path_factory.mktemp("seeded-run"))
    assert made.run("--public", "beacon 4711") == 0
    return made


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    """Verdicts of a registration without a study are written to the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def draft(tmp_path):
    """The registration, not locked."""
    return project(tmp_path)


@pytest.fixture
def locked(locked_study, tmp_path):
    """A copy of the locked study, to change."""
    return locked_study.copy(tmp_path)


@pytest.fixture
def done(run_study, tmp_path):
    """A copy of the study that was run, to change."""
    return run_study.copy(tmp_path)


@pytest.fixture
def verified(capsys):
    """Verify, check the exit code, and return the results."""

    def verify(registered, code=0):
        capsys.readouterr()
        assert registered.call("verify", "--json") == code
        return json.loads(capsys.readouterr().out)

    return verify


@pytest.fixture
def finds(verified):
    """Verify, check the exit code and that the failed checks say these sentences, and return the results."""

    def verify(registered, code, *sentences):
        record = verified(registered, code)
        failures = " ".join(check["evidence"] for check in record["checks"] if check["status"] == "fail")
        assert record["exit_code"] == code
        assert bool(record["predictions"]) == (code not in (TAMPERED, ORDER))
        assert bool(failures) == (code != 0)
        for sentence in sentences:
            assert sentence in failures
        return record

    return verify
