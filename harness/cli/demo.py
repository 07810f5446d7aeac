"""`aacbench demo`: a first real result on the embedded graphs, under both search policies."""

import time
from typing import TYPE_CHECKING, Any

import click

# Everything else is imported where it is used: numpy and numba would make `aacbench --help` slow.
if TYPE_CHECKING:
    from aacbench.queries.record import QuerySet
    from aacbench.search import Network

GRAPHS = ("sbm-10k", "ba-10k", "road-20000")
COLUMNS = ("graph", "heuristic", "bytes/vertex", "paper", "modern", "paper %", "modern %", "optimal")


@click.command()
@click.option("--graphs", default=",".join(GRAPHS), show_default=True, help="Graphs by name, separated by commas.")
@click.option("--landmarks", default="4,8,16", show_default=True, help="Numbers of landmarks, separated by commas.")
@click.option("--queries", default=100, show_default=True, type=click.IntRange(1), help="How many queries.")
@click.option("--seed", default=42, show_default=True, help="Seed of the queries.")
@click.option("--threads", default=2, show_default=True, type=click.IntRange(1), help="Search threads.")
def demo(graphs: str, landmarks: str, queries: int, seed: int, threads: int) -> None:
    """Compare ALT with Dijkstra by mean expansions, and see what tie-breaking alone is worth.

    Landmarks are chosen by farthest points. `paper` is A* with a closed set and first-in-first-out ties, `modern`
    reopens and prefers large g. The percentages are the reduction against Dijkstra under the same policy. Every cost
    is compared with Dijkstra's; bytes are those of the label table as it is searched.
    """
    from tabulate import tabulate

    counts = _numbers(landmarks)
    rows = []
    for name in (part.strip() for part in graphs.split(",")):
        began = time.perf_counter()
        rows += _rows(name, counts, queries, seed, threads)
        click.echo(
            f"{name}: {len(counts) + 1} heuristics x 2 policies in {time.perf_counter() - began:.1f} s", err=True
        )
    click.echo(tabulate(rows, headers=COLUMNS, tablefmt="github", floatfmt=("", "", "", ".2f", ".2f", ".2f", ".2f")))
    click.echo(f"\nMean expansions over {queries} uniform queries (seed {seed}).")


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise click.BadParameter(f"{text!r} is not a list of positive numbers such as 4,8,16", param_hint="--landmarks")
    return numbers


def _rows(name: str, landmarks: list[int], queries: int, seed: int, threads: int) -> list[list[Any]]:
    from aacbench.graphs.load import load
    from aacbench.labels import alt_layout, farthest_points, label_rows
    from aacbench.queries.sampling import sample
    from aacbench.search import network
    from aacbench.search.layouts import no_labels

    graph = load(name)
    drawn = sample(graph, queries, seed=seed)
    net = network(graph)
    pool = farthest_points(net, max(landmarks))
    base, exact = _expansions(net, no_labels(net), drawn, threads)
    rows = [[name, "Dijkstra", 0, *base, 0.0, 0.0, "yes"]]
    for count in landmarks:
        labels = label_rows(pool.first(count))
        means, costs = _expansions(net, alt_layout(net, labels, count), drawn, threads)
        percents = [100 * (1 - mean / before) for mean, before in zip(means, base, strict=True)]
        optimal = "yes" if _agree(costs, exact) else "NO"
        rows.append([name, f"ALT, {count} landmarks", labels.nbytes // graph.vertices, *means, *percents, optimal])
    return rows


def _expansions(net: "Network", layout: Any, drawn: "QuerySet", threads: int) -> tuple[list[float], list[Any]]:
    from aacbench.search import POLICIES, search

    answers = [
        search(net, layout, drawn.sources, drawn.targets, POLICIES[policy], threads=threads)
        for policy in ("paper", "modern")
    ]
    return [float(answer.expanded.mean()) for answer in answers], [answer.cost for answer in answers]


def _agree(costs: list[Any], exact: list[Any]) -> bool:
    import numpy as np

    from aacbench.search.astar import RELATIVE_TOLERANCE

    return all(np.allclose(a, b, rtol=RELATIVE_TOLERANCE, atol=0) for a, b in zip(costs, exact, strict=True))
