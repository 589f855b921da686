"""What counting finds of calculi that are known, from generated problems."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.config import load_experiment
from epignn.learn.objectives.classify import Classify
from epignn.learn.run import train
from epignn.models.api import build
from epignn.models.cells import unpacked
from epignn.models.counted import SHARES, Counted, CountedConfig, CountedEM, CountedEMConfig
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric
ALL_SEEN = len(SHARES) - 1
"""The epoch that takes whatever was seen, without laws; as many later, with them."""
WITH_LAWS = ALL_SEEN + len(SHARES)


def problems(name: str, k: tuple[int, ...], per_label: int, seed: int = 1) -> Dataset:
    return Dataset.concat([generated(load(name), n, b, per_label, seed) for n in k for b in (1, 2, 3)])


def truth(name: str) -> np.ndarray:
    calculus = load(name)
    return unpacked(calculus.composition_table, len(calculus))


def counted(data: Dataset, epoch: int) -> Counted:
    model = Counted(len(data.relations), CountedConfig())
    model.count(Counted.prepare(data, model.config).chunks(500), epoch)
    return model


def accuracy(model: Counted, data: Dataset) -> float:
    found = model.scores(type(model).prepare(data, model.config)).argmax(1).numpy()
    return float((found == data.label).mean())


def right_cells(model: Counted, name: str) -> int:
    return int((model.allowed.numpy() == truth(name)).all(-1).sum())


def test_two_step_walks_are_counted_by_their_cell_and_label():
    # Two branches, of two and of three edges: the first is counted alone.
    source, target, relation = [0, 1, 0, 2, 3], [1, 4, 2, 3, 4], [1, 2, 0, 1, 1]
    data = Dataset(("a", "b", "c"), [5], [0, 5], source, target, relation, [0], [4], [2])
    counts = counted(data, ALL_SEEN).counts
    assert counts[1, 2, 2] == 1
    assert counts.sum() == 1


def test_780_graphs_of_two_steps_show_the_interval_algebra():
    data = problems("allen", (2,), 20)
    assert len(data) == 780
    assert right_cells(counted(data, WITH_LAWS), "allen") == 169
    assert 140 < right_cells(counted(data, ALL_SEEN), "allen") < 169


def test_480_graphs_of_two_steps_show_all_cells_of_rcc8():
    """Those that say nothing never occur: they allow anything."""
    data = problems("rcc8", (2,), 20)
    assert len(data) == 480
    model = counted(data, WITH_LAWS)
    assert right_cells(model, "rcc8") == 64
    assert accuracy(model, generated(load("rcc8"), 9, 2, 5, 7)) == 1
    assert int((model.counts.sum(-1) > 0).sum()) == 61


def test_a_share_is_chosen_by_validation_where_labels_are_wrong(rng):
    data = problems("rcc8", (2, 3), 100)
    label = data.label.copy()
    wrong = rng.random(len(label)) < 0.1
    label[wrong] = rng.integers(0, 8, wrong.sum())
    noisy = Dataset(
        data.relations, data.node_count, data.edge_offset, data.edge_source, data.edge_target, data.edge_label,
        data.query_head, data.query_tail, label,
    )  # fmt: skip
    experiment = load_experiment("rcc8", ['model.kind="counted"'])
    assert experiment.training.epochs == 2 * len(SHARES)
    order = rng.permutation(len(noisy))
    kept, held = noisy.select(order[400:]), noisy.select(order[:400])
    objective = Classify(experiment.objective, kept, held, lambda part: Counted.prepare(part, experiment.model))
    chosen = train(experiment, objective, seed=0).trained.model
    test = generated(load("rcc8"), 6, 2, 5, 7)
    assert accuracy(counted(kept, WITH_LAWS), test) < 0.5
    assert accuracy(chosen, test) > 0.9


def test_em_learns_rcc8_without_ever_seeing_two_relations_composed():
    data = problems("rcc8", (3, 4), 100)
    model = build(CountedEM, 8, CountedEMConfig(), 0)
    graphs = CountedEM.prepare(data, model.config)
    losses = [model.count(graphs.chunks(1000), epoch) for epoch in range(WITH_LAWS)]
    assert losses[0] > 1.5 > 1 > losses[-1]
    assert right_cells(model, "rcc8") >= 61
    test = generated(load("rcc8"), 9, 2, 5, 7)
    assert accuracy(model, test) > 0.95
    assert accuracy(counted(data, WITH_LAWS), test) < 0.3


def test_em_begins_with_what_two_steps_show():
    data = problems("rcc8", (2,), 20)
    model = build(CountedEM, 8, CountedEMConfig(), 0)
    model.count(CountedEM.prepare(data, model.config).chunks(100), WITH_LAWS)
    plain = counted(data, WITH_LAWS)
    assert torch.equal(model.allowed, plain.allowed)
    torch.testing.assert_close(model.counts[..., :-1], plain.counts, rtol=0, atol=1)


def test_an_epoch_of_em_is_several_steps():
    graphs = CountedEM.prepare(problems("rcc8", (3,), 20), CountedEMConfig())
    one, three = (build(CountedEM, 8, CountedEMConfig(steps=steps), 3) for steps in (1, 3))
    for epoch in range(3):
        one.count(graphs.chunks(100), epoch)
    three.count(graphs.chunks(100), 2)
    torch.testing.assert_close(three.counts, one.counts)
    assert torch.equal(three.allowed, one.allowed)


def test_em_depends_on_its_seed_where_nothing_is_shown():
    data = problems("rcc8", (3,), 20)
    first, same, other = (build(CountedEM, 8, CountedEMConfig(), seed) for seed in (3, 3, 4))
    for model in (first, same, other):
        model.count(CountedEM.prepare(data, model.config).chunks(100), 0)
    assert torch.equal(first.counts, same.counts)
    assert not torch.allclose(first.counts, other.counts, rtol=0.01, atol=0)


def test_the_loss_of_em_never_rises_without_smoothing():
    data = problems("rcc8", (3, 4), 20)
    model = build(CountedEM, 8, CountedEMConfig(smoothing=1e-12, steps=1), 1)
    graphs = CountedEM.prepare(data, model.config)
    losses = [model.count(graphs.chunks(1000), epoch) for epoch in range(40)]
    assert all(after <= before + 1e-6 for before, after in pairwise(losses))


def test_more_relations_than_a_set_holds_are_refused():
    with pytest.raises(BadArgument, match="at most 64 relations can be counted, not of 65"):
        Counted(65, CountedConfig())
