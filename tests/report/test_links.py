"""Tables of link prediction from records."""

from pathlib import Path

from epignn.models.baselines import BASELINES
from epignn.report.links import BY_TRIPLE, TRAINING, differences, draw, models, protocols, rows
from epignn.report.record import read_records
from epignn.tasks import SPLITS


def baselines(split: str) -> dict:
    return {
        "variant": f"{split} baselines",
        "figures": {name: {"mrr": 0.05 * n, "grail_hits@10": 0.1 * n} for n, name in enumerate(BASELINES, 1)},
    }


def run(split: str, preset: str, hits: float, mrr: float = 0.5) -> dict:
    cell = {"k": 0, "b": 0, "mrr": mrr, "grail_hits@10": hits}
    costs = {"parameters": 1500, "training_cpu_seconds": 80 * hits}
    return {"variant": f"{split} {preset}", "cells": [cell], **costs}


def test_rows_have_the_order_of_the_paper_and_mean_and_spread_over_seeds():
    records = [
        baselines("fb237:v1"),
        run("fb237:v1", "paper", 0.9),
        run("fb237:v1", "best", 0.5),
        run("fb237:v1", "best", 0.7),
        baselines("wn18rr:v2"),
        run("wn18rr:v2", "best", 0.8),
    ]
    columns, lines = rows(records, "grail_hits@10")
    assert columns[:7] == ["split", "ours, paper", "ours, best", "seeds", "paper", "NBFNet", "REST"]
    assert columns[7:] == ["pagerank", "relation frequency", "chance"]
    published = (["86.0", "90.3", "94.6"], ["91.7", "82.1", "75.1"])
    chance = ["10.0", "20.0", "30.0"]
    assert lines == [
        ["wn18rr:v2", "–", "80.0", "0, 1", *published[0], *chance],
        ["fb237:v1", "90.0", "60.0 ± 20.0", "1, 2", *published[1], *chance],
    ]


def test_full_ranking_comes_first_with_what_it_takes():
    records = [baselines("fb237:v1"), run("fb237:v1", "best", 0.5, 0.2), run("fb237:v1", "best", 0.7, 0.4)]
    columns, (line,) = rows(records)
    assert columns[:5] == ["split", "ours, best", "seeds", "RED-GNN", "NBFNet"]
    assert columns[-2:] == ["parameters", "training, CPU s"]
    assert line == ["fb237:v1", "30.0 ± 20.0", "2", "36.9", "42.2", "5.0", "10.0", "15.0", "1,500", "48"]


def test_rows_of_baselines_alone():
    (line,) = rows([baselines("wn18rr:v1")])[1]
    assert line[:2] == ["wn18rr:v1", "0"]
    assert line[-2:] == ["–", "–"]


def test_every_protocol_under_its_own_name():
    records = [baselines("fb237:v1"), run("fb237:v1", "best", 0.5, 0.2), run("fb237:v1", "best", 0.7, 0.4)]
    assert protocols(records) == (["split", "mrr", "grail_hits@10"], [["fb237:v1", "30.0", "60.0"]])
    assert protocols(records, "paper") == (["split"], [])


def test_models_stand_beside_published_figures_and_pagerank():
    other = baselines("fb237:v2")
    records = [
        *(baselines("fb237:v1"), other, run("fb237:v1", "best", 0.5, 0.2), run("fb237:v1", "best", 0.7, 0.4)),
        *(
            run("fb237:v2", "best", 0.5, 0.6),
            run("fb237:v2", "rules", 0.9, 0.5),
            run("fb237:v1", "nbfnet", 0.8, 0.4),
        ),
    ]
    columns, lines = models(records, "grail_hits@10")
    assert columns == ["model", "seeds", "fb237:v1", "fb237:v2"]
    assert lines == [
        ["epignn, with rules", "1 to 2", "60.0 ± 20.0", "50.0"],
        ["rules", "1", "–", "90.0"],
        ["drum (published)", "", "52.9", "58.9"],
        ["nbfnet", "1", "80.0", "–"],
        ["nbfnet (published)", "", "82.1", "94.8"],
        ["grail (published)", "", "64.2", "81.8"],
        ["pagerank", "", "10.0", "10.0"],
    ]
    seconds = models(records, TRAINING)[1]
    assert seconds == [
        ["epignn, with rules", "1 to 2", "48", "40"],
        ["rules", "1", "–", "72"],
        ["nbfnet", "1", "64", "–"],
    ]


def test_models_are_compared_triple_by_triple():
    """Two seeds of ours have .5 on each of four triples; the other gains on one what it loses on another."""

    def ranked(preset: str, *values: float) -> dict:
        made = run("fb237:v1", preset, 0.5, sum(values) / len(values))
        made["cells"][0][BY_TRIPLE] = list(values)
        return made

    ours = [ranked("best", 0.4, 0.6, 0.4, 0.6), ranked("best", 0.6, 0.4, 0.6, 0.4)]
    columns, lines = differences([*ours, ranked("nbfnet", 0.7, 0.3, 0.5, 0.5), ranked("rules", 0.4, 0.4, 0.4, 0.4)])
    assert columns == ["split", "test triples", "model", "seeds", "MRR, against ours", "95 % interval"]
    # Standard deviation .2 · √(2/3), of four triples: t is 3.18. Rules are behind by the same on every triple; four
    # leave open how far on three quarters of all others.
    assert lines == [
        ["fb237:v1", "4", "rules", "1", "-10.0", "-77.5 to +72.5"],
        ["fb237:v1", "4", "nbfnet", "1", "+0.0", "-26.0 to +26.0"],
    ]
    older = run("fb237:v1", "nbfnet", 0.5)  # without its triples
    assert differences([*ours, older])[1] == []
    assert differences([*ours, older, ranked("nbfnet", 0.7, 0.3, 0.5, 0.5)])[1] == [lines[1]]
    assert differences([*ours, run("fb237:v1", "best", 0.5), ranked("Mine", 0.7, 0.3, 0.5, 0.5)])[1] == [
        ["fb237:v1", "4", "Mine", *lines[1][3:]]
    ]
    assert protocols(ours) == (["split", "mrr", "grail_hits@10"], [["fb237:v1", "50.0", "50.0"]])


def test_published_models_that_are_not_here_have_rows_too():
    records = [baselines("fb237:v2") | {"figures": {"pagerank": {"ultra_hits@10": 0.1}}}]
    lines = models(records, "ultra_hits@10")[1]
    assert lines == [
        ["red-gnn (published)", "", "62.9"],
        ["ultra, zero-shot (published)", "", "69.4"],
        ["pagerank", "", "10.0"],
    ]


def test_models_of_ones_own_have_rows():
    lines = models([run("fb237:v2", "Mine", 0.9), baselines("fb237:v2")], "grail_hits@10")[1]
    assert ["Mine", "1", "90.0"] in lines


def test_graphs_that_the_paper_does_not_have(tmp_path):
    """Nobody's figures stand beside; and a graph of 14 entities has no metric among 50 negatives."""
    small = run("nations", "best", 0.5)
    del small["cells"][0]["grail_hits@10"]
    records = [run("umls", "best", 0.9, 0.7), small, run("umls", "ComplEx (PyKEEN)", 0.8, 0.6)]
    columns, lines = rows(records)
    assert columns[:3] == ["split", "ours, best", "seeds"]
    assert [line[:3] for line in lines] == [["nations", "50.0", "1"], ["umls", "70.0", "1"]]
    assert [line[:2] for line in rows(records, "grail_hits@10")[1]] == [["nations", "–"], ["umls", "90.0"]]
    assert protocols(records) == (
        ["split", "mrr", "grail_hits@10"],
        [["nations", "50.0", "–"], ["umls", "70.0", "90.0"]],
    )
    assert models(records, "grail_hits@10")[1] == [
        ["epignn, with rules", "1", "–", "90.0"],
        ["ComplEx (PyKEEN)", "1", "–", "80.0"],
        ["pagerank", "", "–", "–"],
    ]
    drawn = draw(records, tmp_path).with_suffix(".svg").read_text()
    for text in ("nations", "umls", "ComplEx (PyKEEN)", "Links among the entities of training"):
        assert text in drawn


def test_a_split_without_baselines_has_dashes():
    records = [run("fb237:v1", "best", 0.5)]
    (line,) = rows(records)[1]
    assert line[:2] == ["fb237:v1", "50.0"]  # of the mean reciprocal rank
    assert line[-5:] == ["–", "–", "–", "1,500", "40"]
    assert models(records, "grail_hits@10")[1][-1] == ["pagerank", "", "–"]


def test_picture_of_what_is_recorded(tmp_path):
    runs = [run("fb237:v1", name, 0.5) for name in ("best", "red-gnn")]
    path = draw([baselines("fb237:v1"), *runs, baselines("wn18rr:v1")], tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")
    drawn = path.with_suffix(".svg").read_text()
    for text in ("wn18rr:v1", "fb237:v1", "best", "pagerank", "NBFNet, published", "mean reciprocal rank"):
        assert text in drawn
    assert ">RED-GNN<" in drawn  # as it was run here
    assert "fb237:v2" not in drawn


def test_committed_records_render():
    records = read_records(Path(__file__).parents[2] / "results" / "kgc")
    columns, lines = rows(records)
    assert [line[0] for line in lines] == list(SPLITS)
    assert all(len(line) == len(columns) for line in lines)
    best = {record["variant"].removesuffix(" best") for record in records if record["variant"].endswith(" best")}
    assert [line[0] for line in protocols(records)[1]] == [split for split in SPLITS if split in best]
    assert best
