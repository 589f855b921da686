"""The parts of walks, which provers work on, against all runs of relations listed one by one."""

import numpy as np
import pytest
import torch

from epignn.models.prover import Parts

pytestmark = pytest.mark.numeric


@pytest.mark.parametrize("lengths", [(1,), (2, 2), (1, 2, 3, 4, 7), (5, 5, 5, 1), (3, 3, 8)])
def test_parts_are_all_runs_of_relations_once(lengths, rng):
    walks = [rng.integers(0, 3, n).tolist() for n in lengths]
    wide = torch.tensor([walk + [-1] * (max(lengths) - len(walk)) for walk in walks])
    parts = Parts.of(wide)
    spelled = [[(r,) for r in parts.relation.tolist()]]
    for edges, splits in enumerate(parts.splits, 2):
        ways = [
            [
                spelled[m - 1][a] + spelled[edges - m - 1][b]
                for a, b in zip(*map(torch.Tensor.tolist, split), strict=True)
            ]
            for m, split in enumerate(splits, 1)
        ]
        assert len(ways) == edges - 1
        assert all(way == ways[0] for way in ways), "the ways to split a part disagree"
        spelled.append(ways[0])
    for edges, found in enumerate(spelled, 1):
        runs = {tuple(w[i : i + edges]) for w in walks for i in range(len(w) - edges + 1)}
        assert len(found) == len(set(found))
        assert set(found) == runs
        assert parts.ends[edges - 1].tolist() == np.flatnonzero(np.array(lengths) == edges).tolist()
    assert [spelled[len(w) - 1][i] for w, i in zip(walks, parts.whole.tolist(), strict=True)] == list(
        map(tuple, walks)
    )
