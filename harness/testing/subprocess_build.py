"""Builds in another process: whatever depends on the process and not on the seed comes out different there."""

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from aacbench.bundle.addresses import address_of, function_at
from aacbench.contract.method import Method, Unsupported
from aacbench.errors import ReloadError
from aacbench.graphs.record import Graph
from aacbench.testing.graph_case import Place
from aacbench.testing.outcomes import HeldUpError, NotBuiltError, NotPossibleError, NotSupportedError, told
from aacbench.testing.subject import SEED, Subject, build_on
from aacbench.testing.zoo import is_of_few

_SECONDS = 600.0
_FIELDS = ("indptr", "indices", "weights", "coords", "name", "declared_directed")


def digests_elsewhere(subject: Subject, graph: Graph) -> Mapping[tuple[str, float], str]:
    """The digest of each build on a few graphs, all made in one other process, when first asked for."""
    if not any(digest == graph.digest for digest, _ in subject.elsewhere):
        jobs = _jobs(subject, {each.digest: each for each in (*filter(is_of_few, subject.graphs), graph)})
        answers = _ask({"method": _found_by(subject), "jobs": jobs})
        subject.elsewhere.update(zip([(job["digest"], job["budget"]) for job in jobs], answers, strict=True))
    return subject.elsewhere


def _jobs(subject: Subject, graphs: Mapping[str, Graph]) -> list[dict[str, Any]]:
    jobs = []
    for digest, graph in graphs.items():
        for budget in subject.budgets:
            try:
                subject.built(graph, budget)
            except (NotBuiltError, NotSupportedError, HeldUpError):
                continue
            params = subject.fitted(graph, budget)
            assert not isinstance(params, Unsupported)
            fields = {name: getattr(graph, name) for name in _FIELDS}
            jobs.append({"graph": fields, "digest": digest, "budget": budget, "params": dict(params)})
    return jobs


def _found_by(subject: Subject) -> dict[str, Any]:
    """How the other process gets the method: by the function it was given to look it up, or by its build's address."""
    if subject.locate is not None:
        return {"locate": subject.locate}
    try:
        address = address_of(subject.method.build, subject.plugin_file)
    except ReloadError as error:
        raise NotPossibleError(str(error)) from error
    return {"address": address, "claims": subject.method.claims}


def _ask(request: dict[str, Any]) -> list[str]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    # Another order of sets and another state of every generator than here, whatever those are here.
    hashing = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "aacbench.testing.subprocess_build"],
        input=pickle.dumps(request),
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hashing},
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
        raise NotPossibleError(f"the method could not be built in another process: {last}")
    answers: list[str] = pickle.loads(done.stdout)
    return answers


def _method(found_by: dict[str, Any]) -> Method:
    if "locate" in found_by:
        method: Method = found_by["locate"]()
        return method
    build: Any = function_at(found_by["address"])
    return Method("elsewhere", "", lambda budget, info, params: params, build, found_by["claims"])


def _built(method: Method, job: dict[str, Any]) -> str:
    try:
        return build_on(Place(Graph(**job["graph"])), method, job["params"], job["budget"], SEED).digest
    except Exception as error:
        return f"it failed: {told(error)}"


def main() -> None:
    """Answer the one request on the standard input; what a plugin prints is no part of the answer."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    request = pickle.load(sys.stdin.buffer)
    method = _method(request["method"])
    pickle.dump([_built(method, job) for job in request["jobs"]], answer)
    answer.close()


if __name__ == "__main__":
    main()
