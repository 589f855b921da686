"""Weights that are a calculus: the states of the model are the sets of directional closure."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.directional import directional
from epignn.distil.weights import weights_of
from epignn.errors import BadArgument
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric
ONE_PASS = {"a_ij": "coupled", "rounds": "auto", "self_message": False}
WAYS = {
    "as in the paper": EpiGNNConfig(dim=26, facets=2, rounds=12),
    "coupled": EpiGNNConfig(dim=26, facets=2, **ONE_PASS),
    "components to spare": EpiGNNConfig(dim=32, facets=2, right_identity=True, **ONE_PASS),
}
NOTHING = 1e-15
"""Far above what rounding leaves of impossible relations, and far below what is left of possible ones."""


@pytest.mark.parametrize("config", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", ["point", "rcc5", "rcc8", "allen"])
def test_states_are_the_sets_of_directional_closure(name, config):
    calculus = load(name)
    data = generated(calculus, 6, 3, 2, 8)
    model = build(EpiGNN, len(calculus), config, 0)
    model.load_state_dict(weights_of(calculus, config))
    component = model.relation_vectors()[:, 0].argmax(-1)
    for number in range(len(data)):
        one = data.select([number])
        with torch.no_grad():
            ahead, _ = model.states(EpiGNN.prepare(one, config))
        possible = (ahead[:, :, component] > NOTHING).numpy()
        assert (possible[:, 0] == possible[:, 1]).all()
        found = possible[:, 0] @ (1 << np.arange(len(calculus)))
        masks = np.uint64(1) << one.edge_label.astype(np.uint64)
        names = tuple(map(str, range(one.node_count[0])))
        network = Network(calculus, names, one.edge_source, one.edge_target, masks)
        closed = directional(network, str(one.query_head[0])).rounds[-1]
        assert sorted(found.tolist()) == sorted(closed.tolist())


def test_what_has_no_such_weights_is_refused():
    with pytest.raises(BadArgument, match="facets of as many components, and these have 8"):
        weights_of(load("allen"), EpiGNNConfig(dim=32, facets=4))
    with pytest.raises(BadArgument, match="ablation"):
        weights_of(load("rcc8"), EpiGNNConfig(constrained=False))
