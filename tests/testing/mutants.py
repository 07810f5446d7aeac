"""Small defects put into correct plugins, each with the name of the check that must find it."""

from dataclasses import dataclass
from pathlib import Path

from aacbench.util.source_file import read_source

PLUGINS = Path(__file__).parent / "plugins"
LOST = "if count < 1:"


@dataclass(frozen=True)
class Mutant:
    """One replacement in a plugin's text."""

    name: str
    plugin: str
    old: str
    new: str
    check: str


def _labels(name, old, new, check):
    return Mutant(name, "landmarks", old, new, check)


RANDOM = "np.random.default_rng({}).choice(context.graph.vertices, count, replace=False)"
FITTED, LESS = 'return {**params, "K": count}', 'return {{**params, "K": {}, "K0": budget.values(1)}}'
BEST = "return np.maximum(best, 0)"
FORGETFUL = """\
    from aacbench.plugins import ScalarHeuristic

    seen = set()

    def h(u, t):
        seen.add(t)
        return many(arrays, np.array([u]), t)[0] * (len(seen) < 5)

    return ScalarHeuristic(h)
"""
FARTHEST = "context.pools.farthest(count).landmarks"

MUTANTS = [
    _labels("sign-flipped", "forward[t] - forward[us]", "forward[us] - forward[t]", "admissible"),
    _labels("one-table-for-both", '"backward": backward', '"backward": forward', "admissible"),
    _labels("transposed", "pool.forward.T.astype", "pool.forward.reshape(-1, len(pool)).astype", "admissible"),
    _labels("float32-unrounded", "else np.float64", "else np.float32", "admissible"),
    _labels("float32-for-integers", "np.int64 if context.graph.integral else np.float64", "np.float32", "admissible"),
    _labels("int32-for-huge-integers", "np.int64 if", "np.int32 if", "admissible"),
    _labels("unreachable-taken-for-near", "(forward[us] >= 0) & (forward[t] >= 0)", "forward[t] >= -1", "admissible"),
    _labels("loose-at-the-target", BEST, f"{BEST} + 1", "zero-at-target"),
    _labels("negative", BEST, "return best - 1", "numbers"),
    _labels(
        "nan-for-unreachable",
        BEST,
        "return np.where(forward[us].min(axis=1) < 0, np.nan, np.maximum(best, 0))",
        "unreachable",
    ),
    _labels("a-byte-too-many", 'forward, "back', 'forward, "pad": np.zeros(1, np.int8), "back', "within-budget"),
    _labels("halved-when-rich", LOST, "count = count if count < 4 else count // 2\n    " + LOST, "more-budget"),
    _labels("one-left-and-more-to-choose-from", FITTED, LESS.format("count if count < 3 else 1"), "more-budget"),
    _labels(
        "half-of-three-and-more-to-choose-from",
        FITTED,
        LESS.format("count if count < 3 else count // 2"),
        "more-budget",
    ),
    _labels("one-too-many-from-64", LOST, "count += budget.bytes_per_vertex >= 64\n    " + LOST, "within-budget"),
    _labels("one-too-many-from-100", LOST, "count += budget.bytes_per_vertex >= 100\n    " + LOST, "within-budget"),
    _labels("one-too-many-at-77", LOST, "count += budget.bytes_per_vertex == 77\n    " + LOST, "within-budget"),
    _labels("gives-up-when-rich", LOST, "if count < 1 or count > 5:", "more-budget"),
    _labels("nothing-every-seventh-time", BEST, f"COUNT.append(t)\n    {BEST} * (len(COUNT) % 7 != 0)", "one-answer"),
    _labels(
        "nothing-late-in-a-large-batch", BEST, f"{BEST} * ((np.arange(len(us)) < 5) | (len(us) <= 16))", "one-answer"
    ),
    _labels("nothing-for-a-single-vertex", BEST, f"{BEST} * (len(us) > 1)", "one-answer"),
    _labels("nothing-for-three-vertices", BEST, f"{BEST} * (len(us) > 3)", "one-answer"),
    _labels("nothing-after-four-targets", "    return BatchHeuristic(arrays, many)\n", FORGETFUL, "one-answer"),
    _labels("no-seed", FARTHEST, RANDOM.format(""), "same-seed"),
    _labels("seed-not-claimed", FARTHEST, RANDOM.format("context.seed"), "other-seeds"),
    _labels(
        "order-of-hashes",
        FARTHEST,
        "sorted(range(context.graph.vertices), key=lambda v: hash(str(v)))[:count]",
        "other-process",
    ),
    _labels(
        "state-outside-the-arrays",
        'forward, backward = arrays["forward"], arrays["backward"]',
        'forward, backward = STATE.get(len(arrays["forward"]), arrays["forward"] * 0), arrays["backward"]',
        "bundle",
    ),
    _labels(
        "graph-changed",
        "pool = context.pools.of(landmarks)",
        "pool = context.pools.of(landmarks)\n    context.graph.weights.flags.writeable = True\n"
        "    context.graph.weights[:] = 0",
        "graph-untouched",
    ),
    _labels("directed-and-refused", LOST, "if count < 1 or not info.symmetric:", "directed"),
    _labels("not-directed-and-taken", "CLAIMS = Claims()", "CLAIMS = Claims(directed=False)", "directed"),
    _labels("no-help", '"landmarks; 0 is as many as fit"', '""', "parameters"),
    _labels("default-out-of-range", "minimum=0", "minimum=1", "parameters"),
    _labels("fit-forgets", 'return {**params, "K": count}', 'return {"L": count}', "parameters"),
    _labels("build-fails", "pool = context", "assert len(landmarks) > 1\n    pool = context", "builds"),
    _labels("build-leaves", "pool = context", "raise SystemExit(3)\n    pool = context", "builds"),
    _labels("nothing-supported", LOST, "if True:", "builds"),
    Mutant("pivots-swapped", "pivots", '["table"][p, q]', '["table"][q, p]', "admissible"),
    Mutant("not-consistent", "pivots", "Claims(consistent=False)", "Claims()", "consistent"),
    Mutant("many-differs", "forms", "np.where(known, np.abs(", "np.where(known, 2 * np.abs(", "forms-agree"),
    Mutant("h-differs", "forms", "return int(many(", "return 1 + int(many(", "forms-agree"),
]


def plugin(name, folder=PLUGINS):
    """The one method of a plugin file."""
    (method,) = read_source(folder / f"{name}.py").load().aacbench_methods()
    return method


def mutated(mutant, folder):
    """The method after the replacement, in a file of its own."""
    source = (PLUGINS / f"{mutant.plugin}.py").read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1, (
        f"{mutant.name}: the text to replace is there {source.count(mutant.old)} times"
    )
    name = mutant.name.replace("-", "_")
    text = source.replace(mutant.old, mutant.new)
    if mutant.check == "bundle":
        text = text.replace("    return BatchHeuristic", "    STATE[len(forward)] = forward\n    return BatchHeuristic")
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return plugin(name, folder)
