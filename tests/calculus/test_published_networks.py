"""Every network under qcn/: what closure is known to say of it, and that no algorithm contradicts another."""

import pytest

from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.search import minimal_labels, solve
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.formats.networks import read_networks
from tests.conftest import if_published

# file: networks that closure leaves closed, networks it empties (the table of the data's README).
KNOWN = {
    "gqr/rcc8/PC.csp.gz": (0, 1),
    "gqr/rcc8/alleq.csp.gz": (1, 0),
    "gqr/rcc8/example-10x10.csp.gz": (6, 4),
    "gqr/rcc8/example-10x20.csp.gz": (4, 6),
    "gqr/rcc8/example-20x20.csp.gz": (15, 5),
    "gqr/allen/alleq.csp.gz": (1, 0),
    "gqr/allen/example-10x10.csp.gz": (10, 0),
    "gqr/allen/example-10x15.csp.gz": (9, 1),
    "gqr/allen/example50.csp.gz": (1, 0),
    "pyrcc8/wiki.csp.gz": (1, 0),
    "pyrcc8/hard_of_H.csp.gz": (1, 0),
    "qualreas/BookExample.json": (0, 1),
    "qualreas/Figure_5_in_Allens_1983_paper.json": (1, 0),
    "qualreas/golumbic1993_example_2_5.json": (1, 0),
    "qualreas/rcc8_example.json": (1, 0),
}
# Networks that closure leaves closed although they have no model, as search proves.
HIDDEN = {
    "gqr/rcc8/example-10x10.csp.gz": 1,
    "gqr/rcc8/example-10x20.csp.gz": 2,
    "gqr/allen/example-10x10.csp.gz": 1,
    "gqr/allen/example-10x15.csp.gz": 4,
    "pyrcc8/hard_of_H.csp.gz": 1,
    "qualreas/Figure_5_in_Allens_1983_paper.json": 1,
}


@pytest.mark.parametrize("file", KNOWN)
def test_closure_and_the_others(files, file):
    """No algorithm contradicts another."""
    for network in read_networks(files / "qcn" / file):
        complete, searched = close(network), solve(network)
        assert complete.answer is close(network, backend="plain").answer
        assert searched.answer in (Answer.CONSISTENT, Answer.INCONSISTENT)
        if not complete.consistent:
            assert not searched.consistent
        if complete.answer is Answer.CONSISTENT:
            assert searched.consistent
        for weaker in (dpc, dpc_plus, partial):
            answer = weaker(network).answer
            assert answer is not Answer.INCONSISTENT or not complete.consistent
            assert answer is not Answer.CONSISTENT or searched.consistent


@pytest.mark.parametrize("file", if_published(KNOWN))
def test_published_networks_are_closed_and_solved_as_is_known(data, file):
    closed = hidden = 0
    for network in read_networks(data / "qcn" / file):
        complete = close(network).consistent
        closed += complete
        hidden += complete and not solve(network).consistent
    known = KNOWN[file]
    assert (closed, sum(known) - closed) == known
    assert hidden == HIDDEN.get(file, 0)


def test_the_sample_has_networks_of_every_kind(sample):
    kinds = set()
    for file in KNOWN:
        for network in read_networks(sample / "qcn" / file):
            kinds.add((close(network).consistent, solve(network).consistent))
    assert kinds == {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize("file", [file for file in KNOWN if "example50" not in file])
def test_minimal_labels_lie_between_a_scenario_and_the_closure(files, file):
    """Not of `example50`, whose minimal network takes ten seconds."""
    for network in read_networks(files / "qcn" / file)[:4]:
        complete, searched, minimal = close(network), solve(network), minimal_labels(network)
        assert minimal.answer is searched.answer
        if minimal.consistent:
            assert not (searched.masks & ~minimal.masks).any()
            assert not (minimal.masks & ~complete.masks).any()
