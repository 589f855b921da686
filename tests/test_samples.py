"""The sample data folder: where the registry looks, readable by every reader, and nothing in it published."""

import pytest

from epignn.calculus import load
from epignn.formats.networks import read_networks
from epignn.formats.readers import read_graphs
from epignn.formats.star_csv import read_csv
from epignn.formats.triples import read_triples
from epignn.tasks import registry
from epignn.tasks.registry import datasets, locate
from tests.conftest import known_files


def test_nothing_is_published(sample):
    theirs = {file.sha256 for entry in datasets() for file in entry.files.values()}
    entries = registry.tomllib.loads((sample / "registry.toml").read_text())["dataset"]
    ours = {file["sha256"] for entry in entries for file in entry["files"].values()}
    assert len(ours) > 100
    assert not ours & theirs


def test_files_are_found_where_the_registry_has_them(sample, monkeypatch):
    monkeypatch.setenv("EPIGNN_DATA", str(sample))
    assert locate("clutrr-db9b8f04", "1.2_test.csv") == sample / "clutrr" / "data_db9b8f04" / "1.2_test.csv.gz"
    assert locate("WN18RR_v1", "WN18RR_v1_ind/test.txt").is_file()


@pytest.mark.parametrize("entry", datasets(), ids=lambda entry: entry.name)
def test_every_file_is_read(sample, entry):
    read = 0
    for path in known_files(sample, entry.name, ""):
        name = path.name.removesuffix(".gz")
        if entry.folder == "rcc8_ia":
            calculus = load("rcc8" if "rcc8" in name else "allen")
            read += len(read_csv(path, calculus))
        elif entry.folder.startswith(("clutrr", "graphlog/")) and not name.startswith(("config", "meta")):
            read += len(read_graphs(path))
        elif name.endswith((".csp", ".json")) and entry.folder.startswith("qcn"):
            read += len(read_networks(path))
        elif entry.folder.startswith(("inductive_kgc", "transductive", "pykeen", "better_inductive")):
            read += len(read_triples(path))
    others = ("graphlog-labels", "graphlog-statistics", "nora")
    assert (read > 0) == (entry.name not in others)


@pytest.mark.parametrize("name", [f"{name}_v{n}" for name in ("WN18RR", "fb237", "nell") for n in range(1, 5)])
def test_links_ask_for_what_was_seen(sample, name):
    """Every entity and relation of valid and test has a fact; the twin has no other relations, and no entity."""
    entities, relations = [], []
    for twin in ("", "_ind"):
        folder = sample / "inductive_kgc" / f"{name}{twin}"
        parts = ("train", "valid", "test")
        train, valid, test = (set(read_triples(folder / f"{part}.txt.gz").triples) for part in parts)
        assert not train & valid
        assert not train & test
        seen = {end for head, _, tail in train for end in (head, tail)}
        entities.append(seen)
        relations.append({relation for _, relation, _ in train})
        assert {end for head, _, tail in valid | test for end in (head, tail)} <= seen
        assert {relation for _, relation, _ in valid | test} <= relations[-1]
    assert not entities[0] & entities[1]
    assert relations[1] <= relations[0]
