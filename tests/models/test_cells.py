"""Tables of sets against the calculi that they were read off, and closure against closure."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.prove import answers
from epignn.models.cells import Cells, completed, converses, identity, packed, unpacked
from epignn.models.pairs import closed_pairs
from epignn.tasks.star import generated
from tests.models.conftest import random_graphs


def table(calculus: Calculus) -> np.ndarray:
    return unpacked(calculus.composition_table, len(calculus))


@pytest.mark.parametrize("name", ["rcc8", "allen", "kinship"])
def test_composition_is_that_of_the_calculus(name, rng):
    calculus = load(name)
    left, right = rng.integers(0, calculus.universal, (2, 500), dtype=np.uint64, endpoint=True)
    found = Cells(table(calculus)).compose(left, right)
    assert np.array_equal(found, calculus.compose_array(left, right))
    assert np.array_equal(packed(unpacked(found, len(calculus))), found)


@pytest.mark.parametrize(("name", "k", "b"), [("rcc8", 3, 2), ("rcc8", 7, 2), ("allen", 6, 1)])
def test_closure_with_the_true_table_answers_every_problem(name, k, b):
    calculus = load(name)
    data = generated(calculus, k, b, 3, 4)
    batch, cells = closed_pairs(data), Cells(table(calculus))
    sets = cells.close(batch)[batch.query.numpy()]
    assert np.array_equal(sets, np.uint64(1) << data.label.astype(np.uint64))
    assert np.array_equal(sets, answers(data, calculus))
    share = np.zeros_like(cells.allowed, dtype=np.float32)
    found = cells.scores(batch, share)
    assert np.array_equal(found.argmax(1), data.label)
    assert np.array_equal(found >= 2, unpacked(sets, len(calculus)))


def plain(allowed: np.ndarray, data: Dataset, g: int) -> list[int]:
    """What may hold between head and tail of a graph, by loops over sets of numbers."""
    example = data.example(g)
    everything = set(range(len(allowed)))
    stated: dict[tuple[int, int], list[set[int]]] = {}
    for s, name, t in example.edges:
        if s != t:
            stated.setdefault((s, t), []).append({data.relations.index(name)})
    nodes = range(data.node_count[g])

    def reached(start: int, edges: set[tuple[int, int]]) -> set[int]:
        found = {start}
        while more := {t for s, t in edges if s in found} - found:
            found |= more
        return found

    edges = set(stated)
    on = reached(example.query[0], edges) & reached(example.query[1], {(t, s) for s, t in edges})
    edges = {(s, t) for s, t in edges if {s, t} <= on}
    pairs = [(s, t) for s in nodes for t in reached(s, edges) - {s} if s in on]

    def narrowed(members: set[int], said: list[set[int]]) -> set[int]:
        common = members.intersection(*said)
        votes = {r: sum(r in one for one in said) for r in members}
        return common or {r for r in members if votes[r] == max(votes.values())}

    sets = {pair: narrowed(everything, stated.get(pair, [])) for pair in pairs}
    while True:
        said: dict[tuple[int, int], list[set[int]]] = {pair: [] for pair in pairs}
        for s, m in pairs:
            for n, t in pairs:
                if m == n and s != t:
                    composed = {r for i in sets[s, m] for j in sets[n, t] for r in np.flatnonzero(allowed[i, j])}
                    said[s, t].append(composed)
        after = {pair: narrowed(members, said[pair]) for pair, members in sets.items()}
        if after == sets:
            return sorted(sets[example.query])
        sets = after


def test_closure_is_that_of_a_plain_loop_where_messages_contradict_each_other(rng):
    data = random_graphs(rng, 25, relations=5)
    allowed = rng.random((5, 5, 5)) < 0.3
    allowed |= ~allowed.any(-1, keepdims=True)
    batch = closed_pairs(data)
    sets = unpacked(Cells(allowed).close(batch)[batch.query.numpy()], 5)
    expected = [plain(allowed, data, g) for g in range(len(data))]
    assert [np.flatnonzero(members).tolist() for members in sets] == expected
    assert any(len(members) > 1 for members in expected)


def test_what_was_counted_breaks_ties():
    # Two edges a, b: the cell allows two relations, one of which was seen more often.
    data = Dataset(("a", "b", "c"), [3], [0, 2], [0, 1], [1, 2], [0, 1], [0], [2], [0])
    allowed = np.ones((3, 3, 3), dtype=bool)
    allowed[0, 1] = [True, False, True]
    share = np.zeros((3, 3, 3), dtype=np.float32)
    share[0, 1] = [0.25, 0.0, 0.75]
    found = Cells(allowed).scores(closed_pairs(data), share)
    np.testing.assert_allclose(found, [[3.25, 0.0, 3.75]])


@pytest.mark.parametrize("name", ["rcc8", "allen", "point", "cardinal"])
def test_identity_and_converses_are_read_off_the_table(name):
    calculus = load(name)
    assert identity(table(calculus)) == calculus.identity
    found = converses(table(calculus))
    assert found is not None
    assert found.tolist() == list(calculus.converses)


def test_converses_that_the_identity_does_not_tell_are_those_whose_cells_mirror_each_other():
    calculus = load("rcc8")
    seen = table(calculus).copy()
    seen[seen.all(-1)] = False  # what says nothing is never seen, so neither DC∘DC nor PO∘PO shows the identity
    assert not seen[0, :, calculus.identity].any()
    found = converses(seen)
    assert found is not None
    assert found.tolist() == list(calculus.converses)


def test_where_no_relation_is_neutral_there_are_no_converses_and_no_laws(rng):
    seen = rng.random((6, 6, 6)) < 0.2
    assert identity(seen) is None
    assert converses(seen) is None
    assert np.array_equal(completed(seen, laws=True), completed(seen, laws=False))


def test_a_cell_that_was_never_seen_allows_anything():
    seen = np.zeros((3, 3, 3), dtype=bool)
    seen[0, 1, 2] = True
    found = completed(seen, laws=False)
    assert found[0, 1].tolist() == [False, False, True]
    assert np.delete(found.reshape(9, 3), 1, axis=0).all()


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_the_laws_complete_a_table_of_which_some_cells_were_never_seen(name, rng):
    """Each cell is known if one of its mirrors is; what was not seen at all allows anything."""
    calculus = load(name)
    true = table(calculus)
    seen = true.copy()
    known = [r for r in range(len(calculus)) if r != calculus.identity]
    for i in known:
        for j in known:
            mirror = (calculus.converses[j], calculus.converses[i])
            tells = true[i, j, calculus.identity]
            if (i, j) < mirror and not tells:
                seen[i, j] = False
    assert not np.array_equal(completed(seen, laws=False), true)
    assert np.array_equal(completed(seen, laws=True), true)


def test_a_single_missing_entry_is_found_by_its_peircean_forms():
    calculus = load("allen")
    true = table(calculus)
    for i, j, r in np.argwhere(true)[::7]:
        if calculus.identity in (i, j, r):
            continue
        seen = true.copy()
        seen[i, j, r] = False
        if not seen[i, j].any() or converses(seen) is None:
            continue
        alone = {(i, j, r)} == forms(calculus, i, j, r)
        assert completed(seen, laws=True)[i, j, r] == (not alone)


def forms(calculus: Calculus, i: int, j: int, r: int) -> set[tuple[int, int, int]]:
    """The six forms of an entry."""
    back, found = calculus.converses, {(int(i), int(j), int(r))}
    while True:
        more = found | {(back[j], back[i], back[r]) for i, j, r in found} | {(r, back[j], i) for i, j, r in found}
        if more == found:
            return found
        found = more
