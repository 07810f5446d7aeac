"""One registered study for all tests: it is run once, and copied for each of them."""

import json
import shutil

import pytest
from registration.studies import ORDER, SMALL, TAMPERED, Registered


@pytest.fixture(scope="session")
def locked_study(tmp_path_factory):
    """Locked, and not run."""
    root = tmp_path_factory.mktemp("locked")
    (root / "prereg").mkdir()
    shutil.copyfile(SMALL, root / "prereg" / "small.toml")
    made = Registered(root)
    assert made.call("lock") == 0
    return made


@pytest.fixture(scope="session")
def run_study(locked_study, tmp_path_factory):
    """Locked and run."""
    made = locked_study.copy(tmp_path_factory.mktemp("run"))
    assert made.run() == 0
    return made


@pytest.fixture
def locked(locked_study, tmp_path):
    """A copy to do what one likes with."""
    return locked_study.copy(tmp_path)


@pytest.fixture
def done(run_study, tmp_path):
    """A copy of the one that was run."""
    return run_study.copy(tmp_path)


@pytest.fixture
def found(capsys):
    """Verify, and return the exit code with the checks that failed."""

    def look(registered):
        capsys.readouterr()
        code = registered.call("verify", "--json")
        record = json.loads(capsys.readouterr().out)
        failures = [check["evidence"] for check in record["checks"] if check["status"] == "fail"]
        assert record["exit_code"] == code
        assert bool(record["predictions"]) == (code not in (TAMPERED, ORDER))
        assert code == 0 or failures
        return code, " ".join(failures)

    return look
