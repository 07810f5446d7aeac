"""The digest of the shipped example under every other Python on this machine, with nothing but the hashing code."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import rfc8785

import aacbench
from aacbench.prereg.files import shipped
from aacbench.prereg.schema import TAG, read_registration
from aacbench.util import canonical

# What the example's TOML, and its record with everything spelt out, come to under the interpreter that runs this.
DIGESTS = """
import json, pathlib, sys, tomllib
from aacbench.util.canonical import digest, plain
tag = sys.argv[1]
text, record = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[2:])
values = tomllib.loads(text), json.loads(record), plain(json.loads(record))
print(json.dumps([digest(value, tag) for value in values]))
"""


def other_pythons():
    """Interpreters from 3.11 on that start: on the path, or beside the one that runs the tests; one of each version."""
    found = {}
    for minor in range(11, 30):
        name = f"python3.{minor}"
        beside = sorted(Path(sys.base_prefix).parent.glob(f"*/bin/{name}"))  # where pyenv and uv have the others
        for path in [shutil.which(name), *map(str, beside)]:
            if path is not None and minor != sys.version_info.minor and name not in found and _starts(path):
                found[name] = path
    return found


def _starts(path):
    """A name may lead to a Python that is not installed."""
    return subprocess.run([path, "-c", "import tomllib"], capture_output=True, check=False).returncode == 0


OTHERS = other_pythons()
NONE = pytest.param("", marks=pytest.mark.skip("no other Python from 3.11 on is here; tox -e py312,py313 has them"))


@pytest.fixture
def library(tmp_path):
    """The hashing code and rfc8785, its only dependency."""
    home, code = tmp_path / "library", Path(aacbench.__file__).parent
    (home / "aacbench" / "util").mkdir(parents=True)
    for name in ("__init__.py", "errors.py", "version.py"):
        shutil.copyfile(code / name, home / "aacbench" / name)
    for path in (Path(canonical.__file__), Path(canonical.__file__).with_name("__init__.py")):
        shutil.copyfile(path, home / "aacbench" / "util" / path.name)
    shutil.copytree(Path(rfc8785.__file__).parent, home / "rfc8785")
    return home


def digests(python, library, folder):
    example = shipped()["worked-example"]
    record = folder / "record.json"
    record.write_text(json.dumps(read_registration(example).record()), encoding="utf-8")
    words = [python, "-c", DIGESTS, TAG, str(example), str(record)]
    done = subprocess.run(words, env={"PYTHONPATH": str(library)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("python", [*OTHERS] or [NONE])
def test_the_digests_are_the_same_under_another_python(python, tmp_path, library):
    here = digests(sys.executable, library, tmp_path)
    assert here[1] == here[2] == read_registration(shipped()["worked-example"]).digest
    assert digests(OTHERS[python], library, tmp_path) == here
