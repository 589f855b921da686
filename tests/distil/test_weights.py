"""Weights that are a calculus: the states of the model are the sets of directional closure."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.directional import directional
from epignn.distil.weights import exact_model
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric
WAYS = {
    "as in the paper": EpiGNNConfig(rounds=12),
    "one pass": EpiGNNConfig(a_ij="coupled", rounds="auto", self_message=False, right_identity=True),
}
NOTHING = 1e-15
"""Far above what rounding leaves of impossible relations, and far below what is left of possible ones."""


@pytest.mark.parametrize("config", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ["point", "rcc5", "rcc8", "allen"])
def test_states_are_the_sets_of_directional_closure(name, config):
    calculus = load(name)
    data = generated(calculus, 6, 3, 2, 8)
    model = exact_model(calculus, config)
    component = model.relation_vectors()[:, 0].argmax(-1)
    for number in range(len(data)):
        one = data.select([number])
        with torch.no_grad():
            ahead, _ = model.states(EpiGNN.prepare(one, config))
        possible = (ahead[:, 0, component] > NOTHING).numpy()
        found = possible @ (1 << np.arange(len(calculus)))
        masks = np.uint64(1) << one.edge_label.astype(np.uint64)
        names = tuple(map(str, range(one.node_count[0])))
        network = Network(calculus, names, one.edge_source, one.edge_target, masks)
        closed = directional(network, str(one.query_head[0])).rounds[-1]
        assert sorted(found.tolist()) == sorted(closed.tolist())
