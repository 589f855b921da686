"""Generated worlds: labels follow by rules read from the files, splits are systematic, shapes are met."""

import gzip
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from epignn.data.world_graphs import length_shares
from epignn.data.worlds import LIKE, WorldShape
from epignn.errors import BadArgument
from epignn.formats.graphlog import read_world
from epignn.tasks.world_files import SPLITS, generate_world, statistics

SMALL = replace(LIKE[32], sequences=60, train=400, valid=80, test=80)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    return folder, generate_world(SMALL, 3, folder)


def graphs(folder, split):
    with gzip.open(folder / f"{split}.jsonl.gz", "rt") as stream:
        return [json.loads(line) for line in stream]


def rules_of(folder):
    rules = json.loads((folder / "config.json").read_text())["rules"]
    inverses = {rule["body"]: rule["head"] for rule in rules if isinstance(rule["body"], str)}
    return {tuple(r["body"]): r["head"] for r in rules if isinstance(r["body"], list)}, inverses | {
        head: body for body, head in inverses.items()
    }


def forward(rules, inverse, edges):
    """All that follows from edges: a loop over strings that shares nothing with the generator."""
    known = {}

    def learn(a, b, relation):
        for fact in ((a, b, relation), (b, a, inverse[relation])):
            known.setdefault(fact[:2], set()).add(fact[2])

    for a, b, relation in edges:
        learn(a, b, relation)
    size = -1
    while size != sum(map(len, known.values())):
        size = sum(map(len, known.values()))
        for (a, b), first in list(known.items()):
            for (c, d), second in list(known.items()):
                if b == c:
                    for pair in [(r, s) for r in first for s in second]:
                        if pair in rules:
                            learn(a, d, rules[pair])
    return known


def sequence(graph):
    found = {(a, b): relation for a, b, relation in graph["edges"]}
    path = graph["resolution_path"]
    return tuple(found[a, b] for a, b in pairwise(path))


def test_labels_follow_and_nothing_else(world):
    folder, _ = world
    rules, inverse = rules_of(folder)
    for split in SPLITS:
        for graph in graphs(folder, split)[:25]:
            head, tail, label = graph["query"]
            known = forward(rules, inverse, graph["edges"])
            assert known[head, tail] == {label}
            assert all(len(some) == 1 for some in known.values())
            assert (head, tail) not in {(a, b) for a, b, _ in graph["edges"]}
            path = [[i, i + 1, r] for i, r in enumerate(sequence(graph))]
            assert forward(rules, inverse, path)[0, len(path)] == {label}


def test_graphs_are_well_formed(world):
    folder, _ = world
    for split in SPLITS:
        for graph in graphs(folder, split):
            pairs = [frozenset(edge[:2]) for edge in graph["edges"]]
            assert len(set(pairs)) == len(pairs)
            nodes = {node for edge in graph["edges"] for node in edge[:2]}
            assert nodes == set(range(len(nodes)))
            assert len(set(graph["resolution_path"])) == len(graph["resolution_path"])
            assert graph["query"][:2] == [graph["resolution_path"][0], graph["resolution_path"][-1]]


def test_the_split_is_systematic(world):
    folder, _ = world
    seen = {split: {sequence(graph) for graph in graphs(folder, split)} for split in SPLITS}
    assert not seen["test"] & seen["train"]
    assert seen["valid"] <= seen["train"]
    assert min(map(len, seen["test"])) >= 3
    assert len(seen["test"] | seen["train"]) == SMALL.sequences


def test_the_shape_is_met(world):
    folder, manifest = world
    found = statistics([read_world(folder / f"{split}.jsonl.gz") for split in SPLITS])
    assert found == manifest["statistics"]
    assert (found["graphs"], found["classes"], found["sequences"]) == (560, SMALL.classes, SMALL.sequences)
    assert found["mean_path"] == pytest.approx(SMALL.mean_path, abs=0.35)
    assert found["mean_nodes"] == pytest.approx(SMALL.mean_nodes, abs=1.8)
    assert found["mean_edges"] == pytest.approx(SMALL.mean_edges, abs=3)


def test_statistics_are_counted_as_the_authors_count(data):
    folder = data / "graphlog" / "world_32"
    found = statistics([read_world(folder / f"{split}.jsonl.gz") for split in SPLITS])
    assert (found["classes"], found["sequences"]) == (16, 287)
    assert [round(found[key], 2) for key in ("mean_path", "mean_nodes", "mean_edges")] == [4.66, 16.27, 20.93]
    assert round(found["std_nodes"], 2) == 12.68


def test_the_seed_decides(tmp_path):
    shape = replace(SMALL, train=20, valid=5, test=5, sequences=20, classes=10)
    digests = [generate_world(shape, seed, tmp_path / str(n))["sha256"] for n, seed in enumerate([1, 1, 2])]
    assert digests[0] == digests[1] != digests[2]
    with pytest.raises(BadArgument, match="exists already"):
        generate_world(shape, 1, tmp_path / "0")
    with pytest.raises(BadArgument, match="seed must be"):
        generate_world(shape, -1, tmp_path / "4")


def test_a_world_that_cannot_be(tmp_path):
    with pytest.raises(BadArgument, match="found no world with 5 classes"):
        generate_world(WorldShape(classes=5, rules=1, sequences=40, train=5, valid=5, test=5), 0, tmp_path)


@pytest.mark.parametrize("mean", [2.0, 3.3, 6.0, 9.2])
def test_shares_of_lengths(mean):
    share = length_shares(mean, 10)
    assert share.sum() == pytest.approx(1)
    assert share @ np.arange(11) == pytest.approx(mean, abs=1e-6)
    assert not share[:2].any()
