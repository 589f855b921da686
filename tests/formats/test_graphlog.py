"""Graphlog's files: published statistics, repeated edges, self-loops, and lines that are no graphs."""

import gzip
import json

import pytest

from epignn.errors import BadFile
from epignn.formats.graphlog import read_graphlog, read_world
from epignn.formats.readers import read_graphs, vocabulary
from tests.conftest import made_here

GRAPH = {"edges": [[0, 1, "R_7_+"], [2, 0, "R_4_+"]], "query": [2, 1, "R_6_+"], "resolution_path": [2, 0, 1]}


def written(folder, *lines, name="train.jsonl"):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_world_32_has_its_statistics(files):
    """The official ones, or what the generator found when it had made the sample's."""
    folder = files / "graphlog" / "world_32"
    worlds = [read_world(folder / f"{split}.jsonl.gz") for split in ("train", "valid", "test")]
    graphs = sum(len(world.data) for world in worlds)
    nodes = sum(int(world.data.node_count.sum()) for world in worlds)
    edges = sum(len(world.data.edge_label) for world in worlds)
    steps = sum(int(world.path_offset[-1]) - len(world.data) for world in worlds)
    expected = {"mean_nodes": 16.27, "mean_edges": 20.929, "mean_path": 4.66}
    if made_here(files):
        expected = json.loads((folder / "manifest.json").read_text())["statistics"]
    assert nodes / graphs == pytest.approx(expected["mean_nodes"], abs=0.0051)
    assert edges / graphs == pytest.approx(expected["mean_edges"], abs=0.00051)
    assert steps / graphs == pytest.approx(expected["mean_path"], abs=0.0051)
    assert not any(world.repeated.any() for world in worlds)
    paths = [folder / f"{split}.jsonl.gz" for split in ("valid", "train")]
    assert vocabulary(paths) == tuple(f"R_{i}_{sign}" for i in range(10) for sign in "+-")


def test_every_graph_is_what_a_plain_reading_finds(files):
    path = files / "graphlog" / "re_0" / "train.jsonl.gz"
    world = read_world(path)
    with gzip.open(path, "rt") as stream:
        graphs = [json.loads(line) for line in stream]
    for g, graph in enumerate(graphs):
        example = world.data.example(g)
        kept = list(dict.fromkeys((head, relation, tail) for head, tail, relation in graph["edges"]))
        assert list(example.edges) == kept
        assert world.repeated[g] == len(graph["edges"]) - len(kept) > 0
        assert [*example.query, example.label] == graph["query"]
        nodes = world.path_node[world.path_offset[g] : world.path_offset[g + 1]].tolist()
        assert nodes == graph["resolution_path"]


def test_repeated_edges_and_loops(tmp_path):
    edges = [[5, 5, "b"], [5, 9, "a"], [5, 5, "b"], [5, 9, "c"], [9, 5, "a"]]
    world = read_world(written(tmp_path, {"edges": edges, "query": [9, 5, "b"]}, "", name="x.jsonl.gz"))
    assert world.data.example(0).edges == ((0, "b", 0), (0, "a", 1), (0, "c", 1), (1, "a", 0))
    assert (world.repeated.tolist(), world.path_offset.tolist()) == ([1], [0, 0])
    assert world.data.relations == ("a", "b", "c")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected {"),
        ("[" * 100_000, "nested without end"),
        ({"edges": []}, "the query must be"),
        ({**GRAPH, "query": [0, 0, 0]}, "the query must be"),
        ({**GRAPH, "edges": [[0, 1]]}, "expected {"),
        ({**GRAPH, "edges": [[0, True, "a"]]}, "expected {"),
        ({**GRAPH, "edges": [[0, 1 << 70, "a"]]}, "expected {"),
        ({**GRAPH, "resolution_path": 3}, "list of nodes"),
        ({**GRAPH, "query": [2, 1, "R6"]}, "Did you mean 'R_6_+'"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    with pytest.raises(BadFile) as caught:
        read_graphlog(written(tmp_path, GRAPH, line), ("R_4_+", "R_6_+", "R_7_+"))
    assert caught.value.line == 2
    assert message in str(caught.value)


def test_the_suffix_chooses_the_reader(tmp_path):
    assert len(read_graphs(written(tmp_path, GRAPH, GRAPH, name="a.JSONL.gz"))) == 2
    with pytest.raises(BadFile, match=r"\.csv or \.jsonl"):
        read_graphs(tmp_path / "a.txt")


def test_half_a_character_is_no_relation(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"edges": [[0, 1, "\\ud800"]], "query": [0, 1, "R"]}\n')
    with pytest.raises(BadFile, match=r"a\.jsonl:1: half a surrogate pair is no text"):
        read_graphs(path)
