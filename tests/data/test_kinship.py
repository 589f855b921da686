"""Kinship problems judged: walks whose answers are known, truth in families, and what the published rows say."""

from itertools import pairwise

import numpy as np
import pytest

from epignn.calculus.calculi.families import NO_TERM, TERMS, simulate, terms
from epignn.data.dataset import Dataset
from epignn.data.kinship import LOOSE, ambiguous, excluded, kinship_table, possible_labels
from epignn.errors import UnknownName
from epignn.formats.clutrr import read_clutrr


def chain(*names, label="father", relations=TERMS):
    count = len(names)
    labels = [relations.index(name) for name in names]
    steps = list(range(count))
    return Dataset(relations, [count + 1], [0, count], steps, [s + 1 for s in steps], labels, [0], [count],
                   [relations.index(label)])  # fmt: skip


def names(mask):
    return {term for t, term in enumerate(TERMS) if int(mask) >> t & 1}


def test_the_table_of_terms():
    table = kinship_table()

    def cell(first, second):
        place = TERMS.index(first), TERMS.index(second)
        return names(table.masks[place]), bool(table.unnamed[place]), bool(table.same[place])

    assert cell("father", "brother") == ({"uncle"}, False, False)
    assert cell("father", "son") == ({"brother"}, False, True)
    assert cell("son", "grandfather") == ({"father", "father-in-law"}, False, False)
    assert cell("son", "aunt") == ({"sister"}, True, False)
    assert cell("uncle", "wife") == ({"aunt"}, True, False)  # if her brother is married to his sister
    assert cell("son", "mother") == ({"wife"}, False, True)
    assert cell("brother", "husband") == (set(), False, False)


@pytest.mark.parametrize(
    ("walk", "strict", "loose"),
    [
        (["wife", "daughter", "grandfather"], {"father", "father-in-law"}, {"father", "father-in-law"}),
        (["daughter", "mother", "father"], {"father-in-law"}, {"father", "father-in-law"}),
        (["father", "father", "father"], set(), set()),
        (["wife", "brother", "father"], {"father-in-law"}, {"father", "father-in-law"}),
        (["son", "husband"], set(), set()),
    ],
)
def test_walks(walk, strict, loose):
    assert names(possible_labels(chain(*walk))[0]) == strict
    assert names(possible_labels(chain(*walk), LOOSE)[0]) >= loose
    assert ambiguous(chain(*walk))[0] == (len(strict) > 1)


def test_plain_and_compiled_agree():
    data = Dataset.concat([chain("wife", "daughter", "grandfather"), chain("son", "aunt", "brother", "father")])
    assert np.array_equal(possible_labels(data), possible_labels(data, backend="plain"))


def test_people_who_are_met_again_are_the_same():
    """My sister's brother, who is one I started from: closure knows that the walk returned."""
    data = Dataset(TERMS, [3], [0, 3], [0, 1, 0], [1, 0, 2], [TERMS.index(t) for t in ("sister", "brother", "son")],
                   [1], [2], [TERMS.index("nephew")])  # fmt: skip
    assert names(possible_labels(data)[0]) == {"nephew"}
    assert not excluded(data)[0]


def test_no_term_of_kinship():
    with pytest.raises(UnknownName, match="Did you mean 'father'"):
        possible_labels(chain("fathre", label="fathre", relations=("fathre",)))


def test_an_empty_set():
    assert len(possible_labels(chain("son").select([]))) == 0


def test_possible_is_true_of_real_walks(rng):
    """Walks through a simulated family: the true term of the ends is always left."""
    family = simulate(rng, couples=4, generations=4)
    found = terms(family)
    parts = []
    while len(parts) < 300:
        people = [int(rng.integers(len(family)))]
        while len(people) < 5:
            people.append(int(rng.choice(np.flatnonzero(found[people[-1]] != NO_TERM))))
        if len(set(people)) == 5 and found[people[0], people[-1]] != NO_TERM:
            steps = [TERMS[found[a, b]] for a, b in pairwise(people)]
            parts.append(chain(*steps, label=TERMS[found[people[0], people[-1]]]))
    assert not excluded(Dataset.concat(parts)).any()


def test_published_labels(data):
    """Two hops: every label is possible. From three on some in-laws are called one's own, and no label is odder."""
    for file, strict in [
        ("data_089907f8/1.2,1.3_train.csv.gz", 215),
        ("data_db9b8f04/1.2,1.3,1.4_train.csv.gz", 527),
    ]:
        train = read_clutrr(data / "clutrr" / file)
        out = excluded(train)
        assert int(out.sum()) == strict
        assert not out[train.edge_count == 2].any()
        assert not excluded(train, LOOSE).any()
