"""Simulated families: nobody marries kin, and every term means what a plain definition says."""

import numpy as np
import pytest

from epignn.calculus.calculi.families import KINDS, NO_TERM, TERMS, simulate, terms


@pytest.fixture(scope="module", params=range(3))
def family(request):
    return simulate(np.random.default_rng(request.param))


def ancestors(family, person):
    found, front = set(), {person}
    while front:
        found |= front
        front = {p for a in front for p in (family.father[a], family.mother[a]) if p >= 0}
    return found


def siblings(family, a):
    if family.father[a] < 0:
        return []
    both = (family.father == family.father[a]) & (family.mother == family.mother[a])
    return [b for b in np.flatnonzero(both) if b != a]


def parents(family, a):
    return [p for p in (family.father[a], family.mother[a]) if p >= 0]


def children(family, a):
    return np.flatnonzero((family.father == a) | (family.mother == a)).tolist()


def spouses(family, a):
    return [family.spouse[a]] if family.spouse[a] >= 0 else []


ONE = {"parent": parents, "child": children, "sibling": siblings, "spouse": spouses}
TWO = {
    "grandparent": (parents, parents),
    "grandchild": (children, children),
    "parent's sibling": (parents, siblings),
    "sibling's child": (siblings, children),
    "spouse's parent": (spouses, parents),
    "child's spouse": (children, spouses),
}


def test_marriages(family):
    assert (family.spouse >= 0).any()
    for a, b in enumerate(family.spouse):
        if b >= 0:
            assert family.spouse[b] == a
            assert family.female[a] != family.female[b]
            assert not ancestors(family, a) & ancestors(family, b)
    with_parents = np.flatnonzero(family.father >= 0)
    assert not family.female[family.father[with_parents]].any()
    assert family.female[family.mother[with_parents]].all()
    assert np.array_equal(family.spouse[family.father[with_parents]], family.mother[with_parents])


def test_terms_are_what_their_definitions_say(family):
    expected = np.full((len(family), len(family)), "", dtype=object)
    for a in range(len(family)):
        for kind, names in KINDS.items():
            if kind in ONE:
                people = ONE[kind](family, a)
            else:
                first, second = TWO[kind]
                people = [b for middle in first(family, a) for b in second(family, middle)]
            for b in people:
                expected[a, b] = names[int(family.female[b])]
    found = terms(family)
    named = np.where(found == NO_TERM, "", np.array([*TERMS, ""], dtype=object)[found])
    assert (named == expected).all()


def test_the_terms_are_those_of_the_files(files):
    from epignn.formats.clutrr import read_clutrr

    assert read_clutrr(files / "clutrr" / "data_089907f8" / "1.2,1.3_train.csv.gz").relations == TERMS


def test_the_seed_decides():
    one, two, other = (simulate(np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert np.array_equal(one.spouse, two.spouse)
    assert not np.array_equal(one.spouse, other.spouse)
