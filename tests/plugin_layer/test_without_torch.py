"""Only AAC needs torch: with torch hidden from every process all else works, and AAC is unsupported with what to do."""

import os
import subprocess
import sys

# Every Python process with this file on its path finds all packages but torch.
SITECUSTOMIZE = """
from importlib.machinery import PathFinder

found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name == "torch" else found(name, *more)
"""
COMMANDS = """
import sys
from aacbench.cli.main import main

def call(line):
    try:
        main(line.split())
    except SystemExit as ended:
        print("exit", ended.code, line, flush=True)

small = "--graphs grid-8 --budgets 16 --queries 3/5 --workers 1"
call("plugins")
call(f"run --methods alt,random-subset --seeds 1,2 --out study {small}")
call("report study")
call("check alt --only builds")
call("prereg verify ogbn-arxiv")
for method in ("aac", "aac-tuned", "forced-first-m", "hybrid"):
    call(f"run --methods {method} --out {method} {small}")
"""


def test_without_torch_all_but_aac_works(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("AACBENCH_PLUGINS", None)
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    ended = [line.split()[1:4] for line in done.stdout.splitlines() if line.startswith("exit ")]
    assert [code for code, *_ in ended] == ["0"] * 5 + ["5"] * 4, done.stderr
    reasons = [line for line in done.stdout.splitlines() if "torch" in line]
    assert len(reasons) == 4
    assert all("torch is not installed; install it with pip (a CPU build is enough)" in line for line in reasons)
    assert "Traceback" not in done.stderr
