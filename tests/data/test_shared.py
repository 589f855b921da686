"""A graph as arrays: the same graph again, mapped and not copied."""

import numpy as np

from epignn.data.graph import Graph
from epignn.data.shared import EDGES, Names, arrays_of, graph_of_arrays
from epignn.workers.api import Mapped
from tests.conftest import random_graph


def test_the_same_graph(tmp_path):
    graph = random_graph(3)
    arrays = Mapped.write(arrays_of(graph), tmp_path).open()
    again = graph_of_arrays(arrays)
    assert (tuple(again.entities), again.relations) == (graph.entities, graph.relations)
    assert np.array_equal(again.facts, graph.facts)
    for name in EDGES:
        assert np.array_equal(getattr(again.edges, name), getattr(graph.edges, name))
        assert isinstance(getattr(again.edges, name), np.memmap)  # not sorted anew
    assert again.entity("e7") == graph.entity("e7")


def test_names_in_any_script():
    names = ("", "ä", "κόσμος", "a b", "名")
    found = Names(*Names.arrays(names))
    assert tuple(found) == names
    assert (found[-1], found[1:3], len(found)) == ("名", ["ä", "κόσμος"], 5)
    assert Graph(found, ("r",), np.zeros((0, 3), dtype=np.int32)).entity("a b") == 3
