"""Walks through families: true, as long as asked, and following as far as was promised."""

from itertools import pairwise

import numpy as np
import pytest

from epignn.calculus.calculi.families import TERMS, terms
from epignn.data.family_walks import EDGE_TERMS, LABEL_TERMS, as_dataset, family_walks
from epignn.data.kin_rules import derivable_labels
from epignn.data.kinship import ambiguous, excluded
from epignn.errors import BadArgument, UnknownName


@pytest.mark.parametrize(
    ("k", "replace", "revisits"), [(2, "rules", False), (6, "true", False), (7, "rules", True)]
)
def test_walks_are_true(rng, k, replace, revisits):
    for walk in family_walks(k, 20, rng, replace=replace, revisits=revisits):
        found = terms(walk.family)
        assert len(walk.edges) == k == len(walk.people) - 1
        assert [found[a, b] for a, b in pairwise(walk.people)] == list(walk.edges)
        assert found[walk.people[0], walk.people[-1]] == walk.label
        assert {TERMS[edge] for edge in walk.edges} <= set(EDGE_TERMS)
        assert revisits or len(set(walk.people)) == k + 1
        assert len(walk.proof) == k - 1
        for fact, first, second in walk.proof:
            assert (first[0], first[2], second[2]) == (fact[0], second[0], fact[2])
            assert all(found[head, tail] == term for head, term, tail in (fact, first, second))


def test_the_kinds_of_the_files(files):
    from epignn.formats.clutrr import read_clutrr

    train = read_clutrr(files / "clutrr" / "data_db9b8f04" / "1.2,1.3,1.4_train.csv.gz")
    assert tuple(train.relations[r] for r in np.unique(train.edge_label)) == EDGE_TERMS
    assert tuple(train.relations[r] for r in np.unique(train.label)) == LABEL_TERMS


def test_rules_derive_the_label(rng):
    data = as_dataset(list(family_walks(12, 54, rng)), 12)
    label = np.uint64(1) << data.label.astype(np.uint64)
    assert (derivable_labels(data) & label != 0).all()
    assert not excluded(data).any()
    assert np.bincount(data.label, minlength=20).tolist() == [3 if term in LABEL_TERMS else 0 for term in TERMS]


@pytest.mark.parametrize(("k", "revisits"), [(4, False), (30, True)])
def test_entailed_labels_follow(rng, k, revisits):
    data = as_dataset(list(family_walks(k, 36, rng, replace="entailed", revisits=revisits)))
    assert not ambiguous(data).any()
    assert not excluded(data).any()


def test_a_simple_walk_of_a_hundred(rng):
    (walk,) = family_walks(100, 1, rng)
    assert len(set(walk.people)) == 101
    data = as_dataset([walk])
    assert derivable_labels(data)[0] >> np.uint64(walk.label) & np.uint64(1) == 1


def test_fewer_terms(rng):
    own = ("father", "mother", "brother", "sister")
    walks = list(family_walks(4, 30, rng, relations=own, revisits=True))
    assert {TERMS[edge] for walk in walks for edge in walk.edges} <= set(own)
    with pytest.raises(BadArgument, match="no fact can be replaced"):
        list(family_walks(3, 5, rng, relations=("husband",)))
    with pytest.raises(BadArgument, match="found no walk of 40 facts"):
        list(family_walks(40, 18, rng, relations=own))


def test_bad_values(rng):
    with pytest.raises(BadArgument, match="2 facts or more"):
        list(family_walks(1, 5, rng))
    with pytest.raises(UnknownName, match="Did you mean 'father'"):
        list(family_walks(2, 5, rng, relations=("fahter",)))
    with pytest.raises(UnknownName, match="Did you mean 'rules'"):
        list(family_walks(2, 5, rng, replace="rule"))
