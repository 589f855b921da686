"""Tables in shards: joined to what one table would be, resumed, and not mixed with another."""

import csv
import json

import pytest

from epignn.bridges.shards import ABOUT, Shards, csv_text
from epignn.errors import BadArgument, BadFile

PARTS = (
    {"head": ["a", "b,c"], "rank": [1, 2], "probability": [0.5, None], "known": [True, False]},
    {"head": ["d"], "rank": [1], "probability": [None], "known": [False]},
    {"head": [], "rank": [], "probability": [], "known": []},
)
ROWS = [("a", 1, 0.5, True), ("b,c", 2, None, False), ("d", 1, None, False)]


def read(path):
    if path.suffix == ".json":
        return [tuple(row.values()) for row in json.loads(path.read_text())]
    if path.suffix == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        return [tuple(row.values()) for row in table.to_pylist()]
    rows = list(csv.DictReader(path.read_text().splitlines()))
    chance = [float(row["probability"]) if row["probability"] else None for row in rows]
    return [(r["head"], int(r["rank"]), p, r["known"] == "True") for r, p in zip(rows, chance, strict=True)]


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.parquet"])
def test_shards_become_one_table_and_are_resumed(tmp_path, name):
    if name == "t.parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / name
    begun = Shards(out, {"model": "m", "top": 3})
    begun.write(0, PARTS[0])
    begun.write(2, PARTS[2])
    again = Shards(out, {"model": "m", "top": 3})
    assert [again.has(number) for number in range(3)] == [True, False, True]
    with pytest.raises(BadFile, match="missing"):
        again.join(3)
    assert not out.exists()
    again.write(1, PARTS[1])
    again.join(3)
    assert read(out) == ROWS
    assert not again.folder.exists()


def test_another_table_is_not_mixed_in(tmp_path):
    Shards(tmp_path / "t.csv", {"model": "m", "top": 3})
    with pytest.raises(BadArgument, match=r"another table \(other top\)"):
        Shards(tmp_path / "t.csv", {"model": "m", "top": 4})
    (tmp_path / "t.csv.parts" / ABOUT).write_text("[]")
    with pytest.raises(BadArgument, match="other model, top"):
        Shards(tmp_path / "t.csv", {"model": "m", "top": 3})


def test_csv_has_one_header():
    assert csv_text(PARTS[0]).splitlines()[0] == "head,rank,probability,known"
    assert csv_text(PARTS[0], header=False).splitlines()[1] == '"b,c",2,,False'


def test_a_link_in_the_place_of_the_shards_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "t.csv.parts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadArgument, match="is a link"):
        Shards(tmp_path / "t.csv", {"model": "m"})
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_shard_that_is_cut(tmp_path):
    pytest.importorskip("pyarrow")
    shards = Shards(tmp_path / "t.parquet", {"model": "m"})
    shards.write(0, PARTS[0])
    part = shards.folder / "000000.parquet"
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(BadFile, match="delete it to begin anew"):
        shards.join(1)
    assert not (tmp_path / "t.parquet").exists()
    assert part.exists()
