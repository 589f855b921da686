"""Networks to explain, and their facts as the checker takes them."""

import pytest

from epignn.formats.facts import parse_facts
from epignn.formats.networks import as_networks

HARBOUR = """
ec(harbour, old town) ntpp(old town, city) tppi(harbour, pier) po(pier, city) dc(lake, city) tpp(garden, old town)
"""


def network_of(text):
    (network,) = as_networks(parse_facts(text, "test"), None, "test")
    return network


def given(network):
    """The facts of a network as head, relation names and tail."""
    rows = zip(network.heads.tolist(), network.masks.tolist(), network.tails.tolist(), strict=True)
    return [(network.names[h], network.calculus.names(m), network.names[t]) for h, m, t in rows]


@pytest.fixture
def harbour():
    return network_of(HARBOUR)
