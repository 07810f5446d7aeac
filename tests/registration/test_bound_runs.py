"""A run bound to its lock: what it writes, what it refuses, and queries drawn after the lock."""

import json
import shutil

import pytest
from cli.command import JUDGED, command
from registration.studies import SMALL, Registered, project
from single_cells import cell_job

from aacbench.errors import DataError, LockError
from aacbench.plugins.in_workers import MethodOf
from aacbench.prereg.binding import bind, seed_from
from aacbench.prereg.key_diff import match, without_lock
from aacbench.prereg.ledger import append
from aacbench.prereg.schema import read_registration
from aacbench.protocols import to_toml
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.loaded_graph import forget
from aacbench.run.measure import run_cell
from aacbench.run.records import QueryPlan
from aacbench.util.canonical import canonical


def test_every_cell_carries_the_lock(run_study):
    lock, start, *entered, end = run_study.entries()
    assert [line.event for line in (lock, start, *entered, end)] == ["lock", "run_start", *["cell"] * 5, "run_end"]
    digest = lock.facts["lock"]
    cells = run_study.cells()
    assert len(cells) == 5
    assert {cell.record["lock"] for cell in cells} == {cell.key["lock"] for cell in cells} == {digest}
    assert set(end.facts["cells"]) == {cell.cell_id for cell in cells}
    assert {line.facts["cell"]: line.facts["digest"] for line in entered} == end.facts["cells"]
    assert end.facts["start"] == start.digest
    assert end.facts["outcomes"] == {"ok": 5}
    noted = json.loads((run_study.study / NOTE).read_bytes())["lines"]
    assert [line["digest"] for line in noted] == [start.digest, end.digest]


def test_the_beginning_is_written_before_the_first_cell(run_study):
    start, end = run_study.line("run_start"), run_study.line("run_end")
    times = [json.loads(line)["time"] for path in run_study.study.glob("runs/*/events.jsonl") for line in path.open()]
    assert times
    assert start.time <= min(times)
    assert start.number == 2
    assert max(times) <= end.time


def test_the_same_rows_unbound_have_other_names(run_study, tmp_path):
    protocol = tmp_path / "small.toml"
    protocol.write_text(to_toml(read_registration(run_study.toml).study), encoding="utf-8")
    free = Registered(tmp_path)
    assert command("run", "--protocol", protocol, "--workers", 1, "--out", free.study) == 0
    bound = {canonical(without_lock(cell.key)): cell for cell in run_study.cells()}
    unbound = {canonical(cell.key): cell for cell in free.cells()}
    assert bound.keys() == unbound.keys()
    assert not {cell.cell_id for cell in unbound.values()} & {cell.cell_id for cell in bound.values()}
    assert all(bound[key].files["queries.csv"] == cell.files["queries.csv"] for key, cell in unbound.items())
    assert {cell.record["lock"] for cell in unbound.values()} == {None}


@pytest.mark.parametrize(
    "option", [("--seeds", "9"), ("--budgets", "32"), ("--search", "paper"), ("--protocol", "quick")]
)
def test_no_option_changes_what_was_locked(locked, capsys, option):
    assert command("run", "--prereg", locked.toml, "--out", locked.study, *option) == 2
    assert f"{option[0]} cannot be used with --prereg" in capsys.readouterr().err


def test_results_are_not_replaced(done, capsys):
    assert command("run", "--prereg", done.toml, "--out", done.study, "--existing", "replace") == 2
    assert "a bound run keeps its results" in capsys.readouterr().err


def test_a_draft_is_not_run(draft, capsys):
    assert draft.run() == 2
    assert "is not locked yet" in capsys.readouterr().err


def test_a_file_that_was_changed_is_not_run(locked, capsys):
    locked.edit("seeds = [1, 2, 3]", "seeds = [1, 2, 4]")
    assert locked.run() == 4
    assert "was changed after it was locked, in protocol.seeds" in capsys.readouterr().err
    assert len(locked.entries()) == 1


def test_another_version_of_a_plugin_is_not_run(tmp_path, capsys):
    plugin = tmp_path / "judged.py"
    shutil.copyfile(JUDGED, plugin)
    made = project(tmp_path, method=('"random-subset"', '"plain"'))
    assert made.call("lock", "--plugin", plugin) == 0
    plugin.write_text(plugin.read_text() + "\n# another version\n")
    assert made.run("--plugin", plugin) == 4
    assert "plain on grid-8 at 16 B/v, seed 1 differs from the lock in plugin" in capsys.readouterr().err
    assert [line.event for line in made.entries()] == ["lock"]


def test_a_declared_deviation_is_run(locked):
    bound = bind(locked.files)
    keys = [{**cell["key"], "plugin_digest": "0" * 64} for cell in bound.lock.cells]
    with pytest.raises(LockError, match=r"differs from the lock in plugin \(and 4 more\)"):
        bound.check_keys(keys)
    changes = [change.record() for one in match(bound.lock, keys).deviating for change in one.changes]
    facts = {"what": ["plugin"], "changes": changes, "reason": "a comment was added"}
    append(locked.files.ledger, "deviate", "small", facts)
    bind(locked.files).check_keys(keys)
    with pytest.raises(LockError, match="differs from the lock in plugin"):
        bind(locked.files).check_keys([{**key, "plugin_digest": "1" * 64} for key in keys])


def test_another_data_file_is_not_run(tmp_path, capsys):
    arcs = ["p sp 6 12", *(f"a {u} {u % 6 + 1} {u}\na {u % 6 + 1} {u} {u}" for u in range(1, 7))]
    graph = tmp_path / "ring.gr"
    graph.write_text("\n".join(arcs) + "\n")
    made = project(tmp_path, graph=("grid-8", f"file:{graph}"))
    assert made.call("lock") == 0
    graph.write_text("\n".join(arcs).replace("a 1 2 1", "a 1 2 9") + "\n")
    forget()  # as in a new process
    assert made.run() == 4
    assert "differs from the lock in data" in capsys.readouterr().err


def test_data_that_change_under_a_run_are_an_error(tmp_path):
    params = {"K": 4, "labels": "exact", "pool": "fps"}
    queries = QueryPlan(validation=2, test=3)
    job = cell_job(tmp_path, MethodOf(), "alt", params, graph="grid-8", queries=queries, digests={"graph": "another"})
    with pytest.raises(DataError, match="are not those that this run was planned on"):
        run_cell(job)


def test_other_code_is_not_run(locked, monkeypatch, capsys):
    monkeypatch.setattr("aacbench.prereg.binding.tree_digest", lambda: "0" * 64)
    assert locked.run() == 4
    assert "differs from the lock in code" in capsys.readouterr().err


def test_a_run_that_is_stopped_says_so_and_goes_on(locked, run_study, monkeypatch):
    from aacbench.run import driver

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(driver, "_execute", stop)
        assert locked.run() == 1
    assert [line.event for line in locked.entries()] == ["lock", "run_start", "abort"]
    assert locked.call("verify") == 7
    locked.simulate_run(run_study)
    assert locked.call("verify") == 0


def test_queries_drawn_from_the_lock_need_a_public_text(seeded_study, capsys):
    assert seeded_study.run() == 2
    assert "give the text with --public" in capsys.readouterr().err


def test_queries_drawn_from_the_lock(seeded_run, tmp_path, capsys):
    made = seeded_run.copy(tmp_path)
    digest = made.entries()[0].facts["lock"]
    plan = json.loads((made.study / "plan.json").read_bytes())
    assert plan["study"]["queries"]["seed"] == seed_from(digest, "beacon 4711")
    capsys.readouterr()
    assert made.call("verify") == 0
    assert "from the lock and 'beacon 4711'" in capsys.readouterr().out
    record = made.results()
    assert record["tier"] == "T1"  # nobody else's clock has seen the lock
    told = made.told()
    told[1][1]["public"] = "beacon 4712"
    made.rechain(told)
    assert made.call("verify") == 5
    assert "not those drawn from the lock and the public text" in capsys.readouterr().out


def test_the_gate_stops_a_build(done):
    assert done.call("verify") == 0
    record = done.results()
    verdicts = [one["verdict"] for one in record["predictions"]]
    expected = 10 if any("falsified" in one for one in verdicts) else 12 if "inconclusive" in verdicts else 0
    assert done.call("verify", "--gate") == expected
    assert expected  # else the test would test nothing


def test_every_registration_of_a_project_is_verified(done, monkeypatch, capsys):
    monkeypatch.chdir(done.root)
    (done.root / "prereg" / "draft.toml").write_text(done.toml.read_text().replace('id = "small"', 'id = "draft"'))
    inside = done.root / "studies" / "other" / "prereg"
    inside.mkdir(parents=True)
    text = (SMALL.parents[2] / "prereg" / "ogbn-arxiv.toml").read_text(encoding="utf-8")
    (inside / "ogbn-arxiv.toml").write_text(text, encoding="utf-8")
    assert command("prereg", "verify") == 0
    said = capsys.readouterr()
    assert "small: a small one" in said.out
    assert "ogbn-arxiv: The AAC paper's prediction" in said.out
    assert "draft.toml: a draft, not locked" in said.err
    done.edit("high = 20", "high = 21")
    assert command("prereg", "verify") == 3


def test_a_project_without_registrations(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command("prereg", "verify") == 2
    assert "There is no registration in prereg/" in capsys.readouterr().err
