"""Label stores: decoding equals the exact labels, every byte is counted, and as many landmarks are stored as fit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from method_builds import built, road
from support import example_count, graphs, graphs_to_compile_for, true_distances

from aacbench.bundle.built_in import reads_arcs
from aacbench.bundle.deploy import deploy
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import MaxHeuristic, Unsupported
from aacbench.errors import UsageError
from aacbench.graphs.load import load
from aacbench.labels import of_landmarks, subset
from aacbench.labels.stores import lossless, most_that_fit
from aacbench.labels.stores.cells import cell_starts
from aacbench.labels.stores.coded import Coded
from aacbench.labels.stores.cover import MOST_ARCS, vertex_cover
from aacbench.labels.stores.grid import best_grid
from aacbench.labels.stores.lossless import FORMS, Form, Lossless
from aacbench.labels.stores.quantised import Quantised, in_steps
from aacbench.labels.stores.selection import Selection
from aacbench.search import network
from aacbench.search.packed import FAR

EVERY_FORM = FORMS["packed"]


def selection(net, data):
    """Some landmarks, for both directions or for each separately."""
    vertices = st.lists(st.integers(0, net.graph.vertices - 1), min_size=1, max_size=5, unique=True)
    pool = of_landmarks(net, data.draw(vertices))
    position = st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=4, unique=True)
    if data.draw(st.booleans()):
        return Selection.of(pool, range(len(pool)))
    return Selection.of(pool, data.draw(position), data.draw(position))


def stored(net, chosen, form):
    made = Lossless.of(net, chosen, "packed")
    assume(not isinstance(made, Unsupported))
    return replace(made, forms=(form,))


def plain_labels(heuristic, net):
    """Decode one vertex after the other, as the documentation says, into a table in the network's order."""
    offsets, bases, index = (heuristic.arrays[name] for name in ("offsets", "bases", "index"))
    settings = heuristic.settings
    columns, nibbles = bases.shape[1], settings["nibbles"]
    turn = settings.get("both", 0) + settings.get("forward", 0)
    rows, row, cell = {}, -1, -1
    for v in range(net.graph.vertices):
        word = [int(part) for part in index[v // 64]] if len(index) else [-1, int(v == 0), 0]
        if not (word[0] >> v % 64) & 1:
            continue
        row, cell = row + 1, cell + ((word[1] >> v % 64) & 1 if len(index) else int(v == 0))
        width = offsets.shape[1]
        codes = [int(offsets[row, k % width]) for k in range(columns)]
        codes = [(code >> 4 * (k // width)) & 15 for k, code in enumerate(codes)] if nibbles else codes
        none = 15 if nibbles else int(np.iinfo(offsets.dtype).max)
        rows[v] = [FAR if code == none else int(bases[cell, k]) + code for k, code in enumerate(codes)]
    return np.array(
        [plain_row(v, rows, net, columns, turn, settings.get("per_unit", 1)) for v in range(len(net.place))]
    )


def plain_row(v, rows, net, columns, turn, per_unit):
    if v in rows:
        return rows[v]
    found = []
    for k in range(columns):
        arcs = net.backward if k < turn else net.arcs
        around = range(arcs.indptr[v], arcs.indptr[v + 1])
        sums = [rows[arcs.heads[arc]][k] + int(min(arcs.weights[arc] * per_unit, FAR)) for arc in around]
        found.append(min([*sums, FAR]))
    return found


@given(graphs(), st.sampled_from(EVERY_FORM), st.data())
@example_count(60)
def test_every_form_decodes_to_the_exact_labels(graph, form, data):
    net = network(graph)
    store = stored(net, selection(net, data), form)
    heuristic = store.encode(len(store.chosen))
    labels = store.chosen.table(net)
    decoded = plain_labels(heuristic, net)
    assert (np.where(labels < 0, FAR, labels) == np.minimum(decoded, FAR)).all()
    assert sum(array.nbytes for array in heuristic.arrays.values()) == store.nbytes(len(store.chosen))


@given(graphs_to_compile_for(), st.sampled_from([4, 8, 16]), st.booleans(), st.data())
@example_count(60)
def test_the_kernel_gives_the_bounds_of_the_decoded_labels(graph, bits, cover, data):
    net = network(graph)
    store = stored(net, selection(net, data), Form(cover, bits))
    heuristic = store.encode(len(store.chosen))
    many, labels = deploy(heuristic, net).many, plain_labels(heuristic, net)
    turn = heuristic.settings.get("both", 0) + heuristic.settings.get("forward", 0)
    for t in range(graph.vertices):
        for u in range(graph.vertices):
            best = 0
            for k, (here, there) in enumerate(zip(labels[net.place[u]], labels[net.place[t]], strict=True)):
                if max(here, there) < FAR:
                    best = max(best, there - here if k < turn else here - there)
                    best = max(best, here - there) if k < heuristic.settings.get("both", 0) else best
            assert many([u], t)[0] == best * heuristic.settings.get("scale", 1)


@given(graphs(integral=False), st.data())
@example_count(100)
def test_weights_on_a_grid_are_never_longer(graph, data):
    net = network(graph)
    store = Lossless.of(net, selection(net, data), "packed")
    labels = store.chosen.table(net)[net.place].astype(float)
    exact = true_distances(graph)
    forward = exact[store.chosen.pool.landmarks[store.chosen.forward]].T
    mine = labels[:, : forward.shape[1]] * store.units["scale"]
    assert ((labels[:, : forward.shape[1]] < 0) == (forward < 0)).all()
    assert (mine <= np.maximum(forward * (1 + 1e-12), -1) + (forward < 0)).all()


def test_a_grid_divides_one_and_the_root_of_two_well():
    weights = np.array([1.0, np.sqrt(2)])
    per_unit = best_grid(weights, 200.0)
    assert round(per_unit) == 169  # 239 / 169 is closer to the root of two than any fraction with fewer units
    assert np.floor(weights * per_unit).tolist() == [169, 239]


@given(st.lists(st.lists(st.integers(-1, 300), min_size=2, max_size=2), min_size=1, max_size=40), st.integers(1, 255))
def test_cells_are_the_longest_runs_that_fit(rows, most):
    table = np.array(rows, dtype=np.int32)
    starts = cell_starts(table, most)

    def fits(part):
        return all(np.ptp(column[column >= 0]) <= most for column in part.T if (column >= 0).any())

    expected, begin = [True], 0
    for row in range(1, len(table)):
        expected.append(not fits(table[begin : row + 1]))
        begin = row if expected[-1] else begin
    assert starts.tolist() == expected


@given(graphs(max_vertices=20), st.data())
def test_of_every_arc_one_end_is_in_the_cover_and_so_are_landmarks(graph, data):
    net = network(graph)
    landmarks = np.array(data.draw(st.lists(st.integers(0, graph.vertices - 1), unique=True)), dtype=np.int64)
    cover = vertex_cover(net, landmarks)
    tails = np.repeat(np.arange(graph.vertices), np.diff(net.arcs.indptr.astype(int)))
    other = net.arcs.heads != tails
    assert (cover[tails] | cover[net.arcs.heads])[other].all()
    assert cover[net.place[landmarks]].all()
    assert (np.diff(net.arcs.indptr.astype(int))[~cover] <= MOST_ARCS).all()
    alone = [v for v in np.flatnonzero(cover) if net.original[v] not in landmarks]
    for v in alone:  # no vertex could be left out besides
        neighbours = np.concatenate([net.arcs.heads[tails == v], tails[net.arcs.heads == v]])
        degrees = [np.diff(arcs.indptr.astype(int))[v] for arcs in (net.arcs, net.backward)]
        assert max(degrees) > MOST_ARCS or not cover[neighbours].all()


@given(graphs(), st.sampled_from([1, 2]), st.data())
@example_count(100)
def test_labels_in_steps_show_no_more_than_the_difference(graph, width, data):
    net = network(graph)
    pool = of_landmarks(net, [data.draw(st.integers(0, graph.vertices - 1))])
    distances = pool.forward[0]
    labels, size = in_steps(distances, width)
    none = 2 ** (8 * width) - 1
    assert ((labels == none) == (distances < 0)).all()
    assert labels.min() >= 0
    assert labels.max() <= none
    known = np.flatnonzero(distances >= 0)
    shown = size * np.abs(labels[known][:, None] - labels[known][None]) - (size - 1 if graph.integral else size)
    true = np.abs(distances[known][:, None] - distances[known][None])
    assert (shown <= true + 1e-9 * distances.max() * (not graph.integral)).all()
    if graph.integral and distances.max() < none:
        assert size == 1


@given(graphs_to_compile_for(), st.sampled_from(["u8", "u16"]), st.data())
@example_count(60)
def test_the_kernel_of_steps_gives_the_bounds_of_their_labels(graph, store, data):
    """In 32 bits where distances are small enough, and otherwise as floats."""
    net = network(graph)
    chosen = selection(net, data)
    made = Quantised.of(net, chosen, store)
    assume(not isinstance(made, Unsupported))
    heuristic = made.encode(len(chosen))
    both = heuristic.settings.get("both", 0)
    turn = both + heuristic.settings.get("forward", 0)
    margin = heuristic.settings.get("margin", -1)
    best = np.zeros((graph.vertices, graph.vertices), dtype=graph.weights.dtype)
    for k, size in enumerate(heuristic.arrays["steps"]):
        labels = heuristic.arrays["rows"][:, k].astype(graph.weights.dtype)
        apart = size * (labels[None] - labels[:, None]) - (size + margin)  # rows of u, columns of t
        known = labels != np.iinfo(heuristic.arrays["rows"].dtype).max
        shown = np.where(known[None] & known[:, None], apart, 0)
        if k < turn:
            best = np.maximum(best, shown)
        if k < both or k >= turn:
            best = np.maximum(best, shown.T)
    many = deploy(heuristic, net).many
    for t in range(graph.vertices):
        assert many(np.arange(graph.vertices), t) == pytest.approx(best[:, t], rel=1e-12, abs=1e-12)


def plain_codes(heuristic, column):
    """Read the codes of one column bit by bit, as the documentation says."""
    bits = np.unpackbits(heuristic.arrays["rows"], axis=1, bitorder="little")[:, 6 * column : 6 * column + 6]
    return (bits << np.arange(6)).sum(axis=1)


@given(graphs_to_compile_for(), st.data())
@example_count(60)
def test_a_code_stands_for_the_distances_between_its_levels(graph, data):
    net = network(graph)
    chosen = selection(net, data)
    store = Coded.of(net, chosen, "u6")
    heuristic = store.encode(len(chosen))
    assert sum(array.nbytes for array in heuristic.arrays.values()) == store.nbytes(len(chosen))
    table, both = chosen.by_column().astype(float), heuristic.settings.get("both", 0)
    turn, margin = both + heuristic.settings.get("forward", 0), heuristic.settings["margin"]
    low, high = (np.append(heuristic.arrays[name], end) for name, end in (("low", -np.inf), ("high", np.inf)))
    best = np.zeros((graph.vertices, graph.vertices))
    for k, distances in enumerate(table):
        codes = plain_codes(heuristic, k)
        assert ((codes == 63) == (distances < 0)).all()
        known = distances >= 0
        assert (low[codes][known] <= distances[known]).all()
        assert (distances[known] <= high[codes][known]).all()
        if k < turn:  # rows of u, columns of t
            best = np.maximum(best, low[codes][None] - high[codes][:, None] - margin)
        if k < both or k >= turn:
            best = np.maximum(best, low[codes][:, None] - high[codes][None] - margin)
    many = deploy(heuristic, net).many
    for t in range(graph.vertices):
        assert many(np.arange(graph.vertices), t) == pytest.approx(best[:, t], rel=1e-12, abs=1e-12)


def test_few_whole_distances_have_codes_of_their_own():
    net = network(load("p7"))
    made = Coded.of(net, Selection.of(of_landmarks(net, [0, 3]), range(2)), "u6").encode(2)
    exact = subset(net, of_landmarks(net, [0, 3]), range(2))
    one, other = deploy(made, net), deploy(exact, net)
    assert all((one.many(np.arange(7), t) == other.many(np.arange(7), t)).all() for t in range(7))


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("low", lambda low: low.fill(np.nan), "low must hold a finite"),
        ("high", lambda high: high.resize(5, refcheck=False), "high must hold a finite"),
        ("rows", lambda rows: rows.resize((500, 1), refcheck=False), "bytes of codes"),
    ],
)
def test_codes_that_lead_nowhere_are_refused(name, change, sentence):
    made = Coded.of(road(), Selection.of(of_landmarks(road(), [3, 77]), range(2)), "u6").encode(2)
    with pytest.raises(UsageError, match=sentence):
        deploy(changed(made, name, change), road())


@pytest.mark.parametrize("store", ["for16", "cover", "packed"])
def test_a_lossless_store_searches_as_exact_labels_do(store):
    net = road()
    pool = of_landmarks(net, [3, 77, 150, 400])
    made = Lossless.of(net, Selection.of(pool, range(4)), store).encode(4)
    assert reads_arcs(made) == (store != "for16")
    assert reads_arcs(MaxHeuristic((subset(net, pool, range(4)), made))) == (store != "for16")
    vertices = np.arange(net.graph.vertices)
    one, other = deploy(made, net), deploy(subset(net, pool, range(4)), net)
    assert all((one.many(vertices, t) == other.many(vertices, t)).all() for t in range(0, 500, 50))


def test_a_decoded_bound_does_not_depend_on_the_weights_searched():
    net = road()
    made = Lossless.of(net, Selection.of(of_landmarks(net, [3, 77]), range(2)), "cover").encode(2)
    layout = deploy(made, net).searched
    assert layout.labels.ahead is net.arcs
    assert layout.labels.behind is net.backward


@pytest.mark.parametrize("store", ["for16", "cover", "packed", "u16", "u8", "u6"])
@pytest.mark.parametrize("name", ["alt", "greedy-train", "random-subset"])
def test_a_method_stores_as_many_landmarks_as_fit(name, store, tmp_path):
    count = "m" if name == "greedy-train" else "K"
    filled = built(name, road(), tmp_path, 24, labels=store, **{} if name == "alt" else {"K0": 64})
    if store in ("u16", "u8"):
        columns = filled.arrays["rows"].shape[1]
        assert columns == 24 * 500 // (500 * int(store[1:]) // 8 + 8) // (1 if count == "m" else 2) * (
            2 - (count == "m")
        )
        return
    if store == "u6":
        assert filled.settings["columns"] == (24 * 500 - 1008) // 500 * 8 // 6 // (2 - (count == "m")) * (
            2 - (count == "m")
        )
        return
    reached = filled.facts["labels"]
    assert reached > 3 if count == "K" else reached > 6
    spare = 24 * 500 - sum(array.nbytes for array in filled.arrays.values())
    assert 0 <= spare < 2 * filled.arrays["offsets"].nbytes // reached + 4 * filled.arrays["bases"].size // reached + 8


def test_more_landmarks_than_fit_are_refused_with_the_bytes_they_need(tmp_path):
    from method_builds import context, fitted, method

    from aacbench.contract.budget import Budget
    from aacbench.labels.graph_info import graph_info

    net = road()
    params = fitted("alt", graph_info(net), Budget(8), labels="packed", K=40)
    refused = method("alt").build(context(net, tmp_path, params))
    assert isinstance(refused, Unsupported)
    assert refused.bytes_needed > 8 * 500


def test_small_distances_are_packed_in_four_bits(tmp_path):
    net = network(load("p7"))
    made = built("alt", net, tmp_path, 32, labels="packed")
    assert made.facts["bits"] == 4
    assert inventory(made, 7).charged_bytes <= 32 * 7


@pytest.mark.parametrize(("size", "room"), [(100, 5), (100, 57), (10, 10), (3, 0)])
def test_the_most_that_fit_are_found(size, room):
    class Counted:
        def nbytes(self, count):
            return count

    assert most_that_fit(Counted(), size, room) == min(size, room)


def packed_road():
    return Lossless.of(road(), Selection.of(of_landmarks(road(), [3, 77]), range(2)), "packed").encode(2)


def changed(heuristic, name, change):
    array = heuristic.arrays[name].copy()
    change(array)
    return replace(heuristic, arrays={**heuristic.arrays, name: array})


def drop_row(index):
    index[0, 0] &= ~(index[0, 0] & (~index[0, 0] + np.uint64(1)))


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("index", drop_row, "does not count its own bits"),
        ("index", lambda index: index[1].fill(0), "does not count its own bits"),
        ("index", lambda index: index.resize((3, 3), refcheck=False), "three words"),
        ("bases", lambda bases: bases.resize((1, 4), refcheck=False), "leads to"),
        ("offsets", lambda offsets: offsets.resize((5, 4), refcheck=False), "leads to"),
    ],
)
def test_an_index_that_leads_nowhere_is_refused(name, change, sentence):
    with pytest.raises(UsageError, match=sentence):
        deploy(changed(packed_road(), name, change), road())


def test_a_store_that_needs_the_arcs_must_say_so():
    made = packed_road()
    assert made.settings["cover"] == 1
    with pytest.raises(UsageError, match="leads to"):
        deploy(replace(made, settings={**made.settings, "cover": 0}), road())


def test_a_quantised_store_counts_its_steps():
    chosen = Selection.of(of_landmarks(road(), [3, 77, 9]), range(3))
    made = Quantised.of(road(), chosen, "u8")
    assert made.nbytes(2) == 4 * (500 + 8) == sum(array.nbytes for array in made.encode(2).arrays.values())


def test_a_landmark_outside_the_cover_would_lose_its_own_label(monkeypatch):
    net = network(load("p7"))
    chosen = Selection.of(of_landmarks(net, [0]), [0])
    whole = lossless.vertex_cover
    assert plain_labels(Lossless.of(net, chosen, "cover").encode(1), net)[net.place[0], 0] == 0
    monkeypatch.setattr(lossless, "vertex_cover", lambda network, landmarks: whole(network, landmarks[:0]))
    assert plain_labels(Lossless.of(net, chosen, "cover").encode(1), net)[net.place[0], 0] > 0
