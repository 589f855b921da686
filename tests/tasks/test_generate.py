"""Files and manifest: reproducible, honest, and careful with what is already there."""

import functools
import hashlib
import json
import re

import numpy as np
import pytest

from epignn import __version__
from epignn.calculus import Calculus, load
from epignn.data import stream as stream_module
from epignn.data.prove import prove
from epignn.errors import BadArgument, BadFile, EpignnError
from epignn.files import sha256
from epignn.formats.star_csv import read_csv
from epignn.tasks import shards as shards_module
from epignn.tasks.generate import generate
from epignn.workers import workers_of


@pytest.fixture
def rcc8():
    return load("rcc8")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(rcc8, tmp_path):
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        generate(rcc8, [2, 6], [1, 3], 30, seed, tmp_path / folder)
    a, b, c = (contents(tmp_path / folder) for folder in "abc")
    assert a == b
    assert a.keys() == c.keys()
    assert all(a[name] != c[name] for name in a)


def test_a_cell_does_not_depend_on_the_others(rcc8, tmp_path):
    generate(rcc8, [2, 3, 5], [1, 2], 40, 0, tmp_path / "all")
    generate(rcc8, [5], [2], 40, 0, tmp_path / "one")
    name = "test_rcc8_k_5_b_2.csv.gz"
    assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    files = contents(tmp_path / "all")
    assert len(set(files.values())) == len(files) == 7


def test_the_manifest_says_what_the_files_hold(tmp_path):
    allen = load("allen")
    manifest = generate(allen, [2, 7], [1], 25, 3, tmp_path, prefix="train")
    assert manifest == json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["epignn"], manifest["calculus"], manifest["seed"]) == (__version__, "allen", 3)
    assert [cell["file"] for cell in manifest["cells"]] == [f"train_interval_k_{k}_b_1.csv.gz" for k in (2, 7)]
    for cell in manifest["cells"]:
        path = tmp_path / cell["file"]
        data = read_csv(path, allen)
        assert (data.k, data.b) == (cell["k"], cell["b"])
        assert len(data) == cell["instances"] == 13 * 25
        assert cell["distinct"] == len({data.example(g) for g in range(len(data))})
        assert cell["mean_nodes"] == pytest.approx(data.node_count.mean(), abs=1e-4)
        assert cell["mean_edges"] == pytest.approx(data.edge_count.mean(), abs=1e-4)
        assert cell["max_nodes"] == data.node_count.max()
        assert cell["max_edges"] == data.edge_count.max()
        assert cell["labels"] == dict.fromkeys(allen.relations, 25)
        assert cell["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_existing_files_are_refused_and_others_left_alone(rcc8, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "test_rcc8_k_3_b_1.csv.gz").write_text("precious")
    before = contents(tmp_path)
    with pytest.raises(BadArgument, match=r"test_rcc8_k_3_b_1\.csv\.gz exists already: choose another folder"):
        generate(rcc8, [2, 3], [1], 5, 0, tmp_path)
    assert contents(tmp_path) == before
    generate(rcc8, [2, 3], [1], 5, 0, tmp_path, overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert len(read_csv(tmp_path / "test_rcc8_k_3_b_1.csv.gz", rcc8)) == 40
    with pytest.raises(BadArgument, match=r"manifest\.json exists already"):
        generate(rcc8, [4], [1], 5, 0, tmp_path)


def test_every_problem_is_proved_and_a_failure_is_shown(rcc8, tmp_path, monkeypatch):
    monkeypatch.setattr(stream_module, "CHUNK_GRAPHS", 80)
    proved = []

    def prove(data):
        proved.append(len(data))
        good = np.ones(len(data), dtype=bool)
        good[3] = len(proved) < 4
        return good

    generate(rcc8, [4], [1], 30, 0, tmp_path / "good", prove=prove)
    assert proved == [80, 80, 80]
    with pytest.raises(EpignnError, match=r"a mistake in epignn.*rcc8, seed 0, k=4, b=1.* entails \w+\(0, 4\)"):
        generate(rcc8, [4], [1], 30, 0, tmp_path / "bad", prove=prove)
    assert not list((tmp_path / "bad").iterdir())


def test_progress_counts_problems_over_all_cells(rcc8, tmp_path):
    calls = []
    generate(rcc8, [2, 3], [1, 2], 10, 0, tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(80, 320), (160, 320), (240, 320), (320, 320)]


def test_interruption_leaves_no_half_written_file(rcc8, tmp_path, monkeypatch):
    monkeypatch.setattr(stream_module, "CHUNK_GRAPHS", 80)

    def stop(done, total):
        if done == 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(rcc8, [2, 3], [1], 30, 0, tmp_path, progress=stop)
    assert list(contents(tmp_path)) == ["test_rcc8_k_2_b_1.csv.gz"]
    assert len(read_csv(tmp_path / "test_rcc8_k_2_b_1.csv.gz", rcc8)) == 240


def test_what_was_interrupted_goes_on_and_ends_in_the_same_bytes(rcc8, tmp_path, monkeypatch):
    generate(rcc8, [2, 3], [1], 30, 0, tmp_path / "whole", shards=2)
    written: list[str] = []

    def digest(path):
        written.append(path.name)
        if len(written) == 3:
            raise KeyboardInterrupt
        return sha256(path)

    monkeypatch.setattr(shards_module, "sha256", digest)
    with pytest.raises(KeyboardInterrupt):
        generate(rcc8, [2, 3], [1], 30, 0, tmp_path / "killed", shards=2)
    with pytest.raises(BadArgument, match="exists already"):  # another plan does not go on with it
        generate(rcc8, [2, 3], [1], 31, 0, tmp_path / "killed", shards=2)
    generate(rcc8, [2, 3], [1], 30, 0, tmp_path / "killed", shards=2)
    assert not set(written[:2]) & set(written[3:5])  # these were there
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert {path.name for path in (tmp_path / "killed").iterdir()} == set(contents(tmp_path / "whole"))


def examples(folder, calculus):
    """The problems of each file."""
    files = sorted(folder.glob("*.csv.gz"))
    return [[data.example(g) for g in range(len(data))] for data in (read_csv(file, calculus) for file in files)]


def test_files_of_a_cell_share_no_problem(tmp_path):
    """In a cell with half as many problems again as are asked for, so that files drawn apart clash often."""
    point = load("point")
    manifest = generate(point, [5], [1], 50, 0, tmp_path, shards=5)
    files = examples(tmp_path, point)
    every = [one for file in files for one in file]
    assert [len(file) for file in files] == [30] * 5
    assert len(set(every)) == len(every) == 150 == manifest["totals"][0]["distinct"]
    apart = [set(_drawn(point, 5, part)) for part in range(5)]
    assert sum(map(len, apart)) > len(set.union(*apart))  # else there was nothing to settle


def _drawn(calculus, parts, part):
    rng = np.random.default_rng([0, 5, 1, parts, part])
    for chunk in stream_module.Problems(calculus, 5, 1, 10, rng):
        yield from (chunk.example(g) for g in range(len(chunk)))


def test_small_cells_hold_all_there_is_and_repeat_it(rcc8, tmp_path):
    """At k = 2, b = 1 there are 27 problems; no way of sharing them out avoids repetition."""
    manifest = generate(rcc8, [2], [1], 40, 0, tmp_path, shards=4)
    files = examples(tmp_path, rcc8)
    assert [len(file) for file in files] == [80] * 4
    assert len({one for file in files for one in file}) == 27 == manifest["totals"][0]["distinct"]
    assert manifest["totals"][0]["instances"] == 320


def test_the_same_bytes_from_any_workers(rcc8, tmp_path):
    prove_all = functools.partial(prove, calculus=rcc8)
    for name in ("1", "2"):
        with workers_of(name) as workers:
            generate(rcc8, [2, 4], [1, 2], 20, 5, tmp_path / name, prove_all, shards=3, workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_parts_do_not_change_what_one_file_holds(rcc8, tmp_path):
    generate(rcc8, [4], [1], 20, 5, tmp_path)
    data = next(iter(stream_module.Problems(rcc8, 4, 1, 20, np.random.default_rng([5, 4, 1]))))
    assert examples(tmp_path, rcc8) == [[data.example(g) for g in range(len(data))]]


def test_a_label_without_problems_is_named(tmp_path):
    vague = Calculus("vague", ("same", "other"), 0, (0, 1), ((1, 2), (2, 3)))
    generate(vague, [2], [1], 3, 0, tmp_path / "fine")
    vaguer = Calculus("vaguer", ("same", "other"), 0, (0, 1), ((1, 3), (3, 3)))
    with pytest.raises(BadArgument, match="vaguer has no problem with the label 'other'"):
        generate(vaguer, [2], [1], 3, 0, tmp_path / "bad")
    assert not list((tmp_path / "bad").iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": [2, 1]}, "k must be 2 or more, not 1"),
        ({"b": [0]}, "b must be 1 or more, not 0"),
        ({"k": []}, "at least one k and one b"),
        ({"per_label": 0}, "per_label must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"prefix": "../x"}, "is no file name"),
        ({"shards": 0}, "shards must be 1 or more"),
        ({"shards": 2}, "at most so many files"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(rcc8, tmp_path, change, message):
    arguments = {"k": [2], "b": [1], "per_label": 1, "seed": 0, "out": tmp_path / "new"} | change
    with pytest.raises(BadArgument, match=re.escape(message)):
        generate(rcc8, **arguments)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_is_refused(rcc8, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="cannot be a folder"):
        generate(rcc8, [2], [1], 1, 0, tmp_path / "file")
