"""Link prediction on the command line: from triples to answers, and what bad input gets."""

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from epignn.data.graph import both_sides
from epignn.report.record import named_records
from epignn.tasks.links import Triples
from tests.links import family, lines

SMALL = (
    "--set", "training.epochs=12", "--set", "training.batch_size=4", "--set", "model.dim=16",
    "--set", "model.facets=2", "--set", "model.rounds=3", "--set", "training.learning_rate=0.05",
    "--set", "model.trust=1",  # else rules, which find all there is, leave nothing to the passes
)  # fmt: skip
SHORT = ("--set", "training.epochs=5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with train, valid and test, and its twin."""
    root = tmp_path_factory.mktemp("data")
    for name, side in (("own", family(0)), ("own_ind", family(5, prefix="q"))):
        (root / name).mkdir()
        for part, triples in (("train", side.graph.facts), ("valid", side.valid), ("test", side.test)):
            (root / name / f"{part}.txt").write_text(lines(triples, side.graph))
    return root / "own"


@pytest.fixture
def run(epignn, folder, tmp_path):
    """A run folder; training is done once."""
    torch.set_num_threads(1)
    once = folder.parent / "run"
    if not once.exists():
        ran = epignn("train", folder, "--out", once, *SMALL)
        assert ran.code == 0, ran.err
        assert "60 entities, 3 relations" in ran.err
        assert "epoch 12/12" in ran.err
        assert "mrr" in ran.out
    return shutil.copytree(once, tmp_path / "run")


def test_train_evaluate_predict(epignn, run, folder, tmp_path):
    again = epignn("train", folder, "--out", run, *SMALL)
    assert "this run had ended already" in again.out
    stored = tmp_path / "negatives.npz"
    first = json.loads(epignn("evaluate", run, folder, "--negatives", stored, "--json").out)
    (result,) = first["results"]
    assert "others" not in result
    assert set(result["metrics"]) == {"model", "pagerank", "relation frequency", "chance"}
    assert result["metrics"]["model"]["mrr"] > result["metrics"]["chance"]["mrr"]
    assert stored.exists()
    second = json.loads(epignn("evaluate", run, folder, "--negatives", stored, "--json").out)
    assert second["results"] == first["results"]
    assert "grail_hits@10" in epignn("evaluate", run, folder).out

    graph = folder.with_name("own_ind") / "train.txt"
    question = ("--head", "q010", "--relation", "grandparent^-1", "--top", 3)
    document = json.loads(epignn("predict", run, graph, *question, "--json").out)
    assert [answer["rank"] for answer in document["answers"]] == [1, 2, 3]
    assert all(0 <= answer["probability"] <= 1 for answer in document["answers"])
    shown = epignn("predict", run, graph, *question)
    assert "supported by" in shown.out
    assert max(map(len, shown.out.partition("supported by")[0].splitlines())) < 80
    assert " -> grandparent^-1: holds for " in shown.out
    assert "supported by" not in epignn("predict", run, graph, *question, "--no-paths").out
    many = (*question[:-1], 20)
    answers = json.loads(epignn("predict", run, graph, *many, "--json").out)["answers"]
    likely = [answer["rank"] for answer in answers if answer["probability"] >= 0.01]
    told, every = (
        [int(rank) for rank in re.findall(r"^ *(\d+)  q010 --", shown.out, re.MULTILINE)]
        for shown in (epignn("predict", run, graph, *many), epignn("predict", run, graph, *many, "--paths"))
    )
    assert told == [rank for rank in every if rank in likely]
    assert 0 < len(told) < len(every)
    assert "answers that the graph states are left out" in shown.err
    assert "states" not in epignn("predict", run, graph, *question, "--include-known").err
    graph_read, no_file = epignn("evaluate", run, folder, "--negatives", graph), epignn("evaluate", run, "none.tsv")
    assert (graph_read.code, "not a file of negatives" in graph_read.err) == (2, True)
    assert (no_file.code, "none.tsv: cannot read it" in no_file.err) == (2, True)

    queries, out = tmp_path / "queries.txt", tmp_path / "answers.csv"
    queries.write_text("q010 sibling\nq011 parent^-1\n")
    assert epignn("predict", run, graph, "--queries", queries, "--top", 2, "--out", out).code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["head"] for row in rows] == ["q010", "q010", "q011", "q011"]
    assert list(rows[0]) == ["head", "relation", "rank", "tail", "probability", "score", "known"]
    with_paths = ("predict", run, graph, "--queries", queries, "--top", 2, "--paths", "--out", tmp_path / "b.csv")
    assert epignn(*with_paths).code == 0
    assert any(row["path"] for row in csv.DictReader((tmp_path / "b.csv").read_text().splitlines()))
    streamed = epignn("predict", run, graph, "--queries", queries, "--top", 2)
    assert streamed.out == out.read_text()
    assert epignn("predict", run, graph, *question, "--out", tmp_path / "one.csv").code == 0
    one = list(csv.DictReader((tmp_path / "one.csv").read_text().splitlines()))
    assert [row["path"] for row in one] == [answer["path"] for answer in document["answers"]]
    assert any(row["path"] for row in one)


def test_questions_of_which_one_is_wrong(epignn, run, folder, tmp_path):
    graph, queries = folder.with_name("own_ind") / "train.txt", tmp_path / "queries.txt"
    queries.write_text("q010 sibling\n\nq999 parent\n")
    ran = epignn("predict", run, graph, "--queries", queries)
    assert (ran.code, f"{queries}:3: Unknown entity 'q999'" in ran.err) == (2, True), ran.err


def test_a_folder_is_no_place_for_answers(epignn, run, folder, tmp_path):
    (tmp_path / "there").mkdir()
    ran = epignn("predict", run, folder.with_name("own_ind") / "train.txt", "--all", "--out", tmp_path / "there")
    assert (ran.code, "is a folder" in ran.err) == (2, True), ran.err
    assert not (tmp_path / "there.parts").exists()


def test_all_questions_say_what_probabilities_mean(epignn, run, folder, tmp_path):
    """And with --least there is nothing without a probability: the model does not know what `adopted` is."""
    graph = tmp_path / "new.tsv"
    graph.write_text("a\tparent\tb\nb\tadopted\tc\nb\tparent\td\n")
    every, likely = (epignn("predict", run, graph, "--all", *least) for least in ((), ("--least", 0.001)))
    assert "of all questions, most have none" in every.err
    asked, kept = ([row["relation"] for row in csv.DictReader(ran.out.splitlines())] for ran in (every, likely))
    assert "adopted" in asked
    assert set(kept) == {"parent"}


def test_a_file_that_is_not_the_one_learnt_from(epignn, tmp_path):
    """Other lines in it, and other triples are held out: some of those that were learnt."""
    file, other = tmp_path / "own.tsv", tmp_path / "shuffled.tsv"
    text = lines(family(0).graph.facts, family(0).graph)
    file.write_text(text)
    other.write_text("".join(sorted(text.splitlines(keepends=True), reverse=True)))
    assert epignn("train", file, "--out", tmp_path / "run", *SMALL, *SHORT).code == 0
    same, differs = (epignn("evaluate", tmp_path / "run", data) for data in (file, other))
    assert "learnt from" not in same.err
    assert f"{other} is not the file that {tmp_path / 'run'} learnt from" in differs.err
    assert differs.code == 0


@pytest.mark.parametrize(
    "values, apart",
    [((0.1, 0.01, 0.2), True), ((-0.1, -0.2, -0.01), True), ((0.0, -0.1, 0.1), False), ((0.1, 0.0, 0.2), False)],
)
def test_whether_triples_tell_models_apart(values, apart):
    from epignn.cli.links import _difference

    told = _difference(*values)
    assert ("do not tell them apart" not in told) == apart
    assert told.startswith(f"mrr {values[0]:+.4f}, 95 % interval {values[1]:+.4f} to {values[2]:+.4f}")


BAD_QUESTIONS = (
    ((), "Give --head and --relation, or --queries FILE"),
    (("--head", "q010"), "Give --head and --relation"),
    (("--head", "q999", "--relation", "parent"), "Unknown entity 'q999'. Did you mean"),
    (("--head", "q010", "--relation", "parnt"), "Did you mean 'parent'"),
    (("--head", "q010", "--relation", "parent", "--queries", "x.txt"), "not both"),
    (("--head", "q010", "--relation", "parent", "--all"), "not both"),
    (("--relation", "parent"), "or --all"),
    (("--queries", "nowhere.txt"), "cannot read it"),
)


def test_bad_questions(epignn, run, folder):
    for arguments, says in BAD_QUESTIONS:
        ran = epignn("predict", run, folder.with_name("own_ind") / "train.txt", *arguments)
        assert (ran.code, says in ran.err) == (2, True), ran.err


def test_unknown_relations_of_a_new_graph(epignn, run, tmp_path):
    graph = tmp_path / "new.tsv"
    graph.write_text("a\tparent\tb\nb\tadopted\tc\nb\tparent\td\n")
    question = ("--head", "a", "--relation", "grandparent", "--json")
    passed = epignn("predict", run, graph, *question)
    assert passed.code == 0
    assert f"{graph}: training never saw the relation 'adopted' (1 triples)" in passed.err
    assert json.loads(passed.out)["answers"][0]["probability"] is not None
    unseen = json.loads(epignn("predict", run, graph, "--head", "a", "--relation", "adopted", "--json").out)
    assert {(one["score"], one["probability"], one["path"]) for one in unseen["answers"]} == {(0.0, None, "")}
    slip = epignn("predict", run, graph, "--head", "a", "--relation", "adoptd")
    assert (slip.code, "Did you mean 'adopted'" in slip.err) == (2, True)


def test_bad_training_data(epignn, tmp_path, monkeypatch):
    path = tmp_path / "own.tsv"
    path.write_text("a r b\na r\n")
    ran = epignn("train", path, "--out", tmp_path / "run")
    assert (ran.code, f"{path}:2: a triple has three columns" in ran.err) == (2, True)
    monkeypatch.delenv("EPIGNN_DATA", raising=False)
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path))
    assert "epignn data get WN18RR_v1" in epignn("train", "wn18rr:v1", "--out", tmp_path / "run").err
    assert "--preset takes" in epignn("train", path, "--preset", "worst").err


def test_folders_without_validation_or_test_triples(epignn, run, folder, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "train.txt").write_text((folder / "train.txt").read_text())
    trained = epignn("train", tmp_path / "bare", "--out", tmp_path / "new")
    assert (trained.code, "add a valid.txt" in trained.err, (tmp_path / "new").exists()) == (2, True, False)
    tested = epignn("evaluate", run, tmp_path / "bare")
    assert (tested.code, "has no test triples" in tested.err) == (2, True)
    (tmp_path / "bare" / "test.txt").write_text((folder / "test.txt").read_text())
    assert epignn("evaluate", run, tmp_path / "bare").code == 0


def test_one_file_of_triples(epignn, tmp_path):
    side = family(0)
    path = tmp_path / "own.tsv"
    path.write_text(lines(side.graph.facts, side.graph))
    ran = epignn("train", path, "--out", tmp_path / "run", *SMALL, "--set", "training.epochs=1", "--json")
    document = json.loads(ran.out)
    assert (document["epochs"], document["data"]) == (1, str(path))
    assert epignn("evaluate", tmp_path / "run", path).code == 0


def test_what_was_held_out_of_a_file_is_tested(epignn, tmp_path):
    """Another seed holds out other triples: those of training are asked, not facts that the model has seen."""
    side = family(0)
    path, stored = tmp_path / "own.tsv", tmp_path / "negatives.npz"
    path.write_text(lines(side.graph.facts, side.graph))
    run = tmp_path / "run"
    assert epignn("train", path, "--out", run, *SMALL, "--set", "training.epochs=1", "--seed", 3).code == 0
    assert epignn("evaluate", run, path, "--negatives", stored).code == 0
    held = Triples(task=str(path)).links(3).train
    assert np.array_equal(np.load(stored)["questions"], both_sides(held.test, len(held.graph.relations)))


def test_a_killed_run_goes_on(epignn, folder, tmp_path):
    """A process that is killed, and the same command again."""
    run = tmp_path / "run"
    command = [sys.executable, "-m", "epignn", "train", str(folder), "--out", str(run), *SMALL, *SHORT]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "epoch 2/5" in line:
                process.kill()
                break
        process.stderr.close()
    assert process.wait() == -signal.SIGKILL
    again = epignn("train", folder, "--out", run, *SMALL, *SHORT)
    assert again.code == 0
    assert "epoch 2/5" not in again.err
    assert "epoch 5/5" in again.err
    straight = tmp_path / "straight"
    assert epignn("train", folder, "--out", straight, *SMALL, *SHORT).code == 0
    assert (run / "weights.safetensors").read_bytes() == (straight / "weights.safetensors").read_bytes()


def test_early_stopping_is_said(epignn, folder, tmp_path):
    patient = ("--set", "training.patience=1", "--set", "training.learning_rate=1e-9", "--out", tmp_path / "run")
    ran = epignn("train", folder, *SMALL, *patient)
    as_good = "in epoch 1 of 4 epochs (that of epoch 4, which is as good, is kept)"
    assert f"{as_good}; training ended after 3 epochs without a better one" in ran.out
    again = epignn("train", folder, *SMALL, *patient)
    assert "had ended already and stays as it is; with a larger training.patience it goes on" in again.out
    longer = epignn("train", folder, *SMALL, *patient, "--set", "training.patience=2")
    assert "of 5 epochs" in longer.out
    assert json.loads(epignn("train", folder, *SMALL, *patient, "--json").out)["ended_early"]


def test_countries_of_another_continent(epignn, tmp_path):
    """Real facts: what a capital lies in, learnt in Europe, is told of Quito without retraining."""
    examples = Path(__file__).parents[2] / "examples" / "kgc"
    assert epignn("train", examples / "europe.tsv", "--out", tmp_path / "run").code == 0
    question = ("--head", "Quito", "--relation", "lies in", "--top", 2, "--json")
    answers = json.loads(epignn("predict", tmp_path / "run", examples / "latin_america.tsv", *question).out)[
        "answers"
    ]
    assert answers[0]["tail"] == "South America"
    assert answers[0]["path"] == "Quito --capital^-1--> Ecuador --part of--> South America"
    assert answers[0]["probability"] > 0.5


def test_reproduce_quick(epignn, data, tmp_path):
    options = ("--quick", "--seed", 0, "--results", tmp_path / "results", "--runs", tmp_path / "runs", "--json")
    document = json.loads(epignn("reproduce", "kgc", "--only", "wn18rr:v1 best", *options).out)
    (row,) = document["rows"]
    assert row[0] == "wn18rr:v1"
    record = named_records(tmp_path / "results" / "kgc-quick")["wn18rr-v1_best_seed0"]
    assert record["cells"][0]["grail_hits@10"] > 0.3
    again = epignn("reproduce", "kgc", "--only", "wn18rr:v1 best", *options)
    assert "recorded already" in again.err
    compared = json.loads(epignn("reproduce", "kgc", "--models", "rules", *options).out)
    by_model = {row[0]: row[2] for row in compared["rows"]}
    assert compared["metric"] == "mrr"
    assert float(by_model["rules"]) > 30
    assert float(by_model["epignn, with rules"]) == round(100 * record["cells"][0]["mrr"], 1)
    assert {other["title"] for other in compared["others"]} > {"Hits@10 (%), full filtered ranking"}
    shown = epignn("reproduce", "kgc", "--report", "--results", tmp_path / "none")
    assert (shown.code, "holds no record" in shown.err) == (2, True)
    assert "Unknown row" in epignn("reproduce", "kgc", "--only", "wn18rr:v7", *options).err
    misspelt = epignn("reproduce", "kgc", "--models", "rulez", *options)
    assert (misspelt.code, misspelt.out) == (2, "")
    assert misspelt.err.startswith("error: Unknown model that predicts links 'rulez'. Did you mean 'rules'")


def test_models_are_compared_and_answer_together(epignn, run, folder, tmp_path):
    other = tmp_path / "other"
    assert epignn("train", folder, "--out", other, *SMALL, *SHORT, "--seed", 1).code == 0
    document = json.loads(epignn("evaluate", run, other, f"{run},{other}", folder, "--json").out)
    (result,) = document["results"]
    alone = json.loads(epignn("evaluate", other, folder, "--json").out)["results"][0]["metrics"]["model"]
    assert result["others"]["other"] == alone
    assert set(result["others"]) == {"other", "run,other"}
    table = epignn("evaluate", run, other, folder).out
    assert all(word in table for word in ("run", "other", "pagerank"))
    apart = result["mrr_differences"]["other"]
    assert apart["mean"] == pytest.approx(alone["mrr"] - result["metrics"]["model"]["mrr"])
    assert apart["low"] <= apart["mean"] <= apart["high"]
    assert f"other against run: mrr {apart['mean']:+z.4f}" in table
    assert ("do not tell them apart" in table) == (apart["low"] <= 0 <= apart["high"])
    low, high = (result["mrr_interval"][end] for end in ("low", "high"))
    assert f"{low:.4f} to {high:.4f}" in table
    assert low <= result["metrics"]["model"]["mrr"] <= high
    graph = folder.with_name("own_ind") / "train.txt"
    found = epignn("predict", f"{run},{other}", graph, "--head", "q010", "--relation", "sibling", "--json")
    assert json.loads(found.out)["model"] == f"{run},{other}"
    nothing = epignn("evaluate", run, other)
    assert (nothing.code, "Name the data after the models" in nothing.err) == (2, True)


def test_a_file_whose_test_triples_another_model_learnt(epignn, tmp_path):
    side = family(0)
    path = tmp_path / "own.tsv"
    path.write_text(lines(side.graph.facts, side.graph))
    for seed in (0, 1):
        settings = (*SMALL, "--set", "training.epochs=1", "--seed", seed)
        assert epignn("train", path, "--out", tmp_path / f"run{seed}", *settings).code == 0
    refused = epignn("evaluate", tmp_path / "run0", tmp_path / "run1", path)
    assert (refused.code, "trained on test triples of the other" in refused.err) == (2, True)


@pytest.mark.parametrize("name", ["all.csv", "all.json", "all.parquet"])
def test_all_questions_in_shards(epignn, run, folder, tmp_path, monkeypatch, name):
    if name == "all.parquet":
        pytest.importorskip("pyarrow")
    graph = folder.with_name("own_ind") / "train.txt"
    whole, cut = tmp_path / name, tmp_path / f"cut{Path(name).suffix}"
    command = ("predict", run, graph, "--all", "--top", 2)
    assert epignn(*command, "--out", whole).code == 0
    monkeypatch.setattr("epignn.cli.links.SHARD", 50)
    from epignn.bridges.shards import Shards

    write = Shards.write

    def stop(self, number, columns):
        if number == 2:
            raise KeyboardInterrupt
        write(self, number, columns)

    monkeypatch.setattr(Shards, "write", stop)
    stopped = epignn(*command, "--out", cut)
    assert (stopped.code, "goes on from there" in stopped.err, cut.exists()) == (130, True, False)
    monkeypatch.setattr(Shards, "write", write)
    other = epignn("predict", run, graph, "--all", "--top", 3, "--out", cut)
    assert (other.code, "another table" in other.err) == (2, True)
    again = epignn(*command, "--out", cut)
    assert again.code == 0
    if name == "all.parquet":
        import pyarrow.parquet as parquet

        assert parquet.read_table(cut).equals(parquet.read_table(whole))
        assert parquet.read_table(cut).num_rows == 60 * 3 * 2
    else:
        assert cut.read_bytes() == whole.read_bytes()


def test_processes_write_the_same_answers(epignn, run, folder, tmp_path, monkeypatch):
    graph = folder.with_name("own_ind") / "train.txt"
    monkeypatch.setattr("epignn.cli.links.SHARD_WITH_PATHS", 50)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for workers, out in enumerate(files, 1):
        ran = epignn("predict", run, graph, "--all", "--top", 2, "--paths", "--workers", workers, "--out", out)
        assert ran.code == 0, ran.err
    assert files[0].read_bytes() == files[1].read_bytes()
    for command in (("evaluate", run, folder), ("distil", run, "--out", tmp_path / "rules.tsv")):
        runs = [epignn(*command, "--json", "--workers", n) for n in (1, 2)]
        assert (runs[0].code, runs[0].out) == (0, runs[1].out), runs[1].err
    refused = epignn("predict", run, graph, "--all", "--workers", 2)
    assert (refused.code, "name it by --out" in refused.err) == (2, True)


def test_pruned_passes(epignn, run, folder, tmp_path):
    graph, files = folder.with_name("own_ind") / "train.txt", {}
    for share in ("1", "0.999", "0.05"):
        files[share] = tmp_path / f"{share}.csv"
        ran = epignn("predict", run, graph, "--all", "--top", 2, "--pruned", share, "--out", files[share])
        assert ran.code == 0, ran.err
    assert files["1"].read_bytes() == files["0.999"].read_bytes() != files["0.05"].read_bytes()
    found = [json.loads(epignn("evaluate", run, folder, "--json", *more).out) for more in ((), ("--pruned", 0.05))]
    whole, pruned = (document["results"][0]["metrics"] for document in found)
    assert whole["model"] != pruned["model"]
    assert all(whole[name] == pruned[name] for name in whole if name != "model")
    assert epignn("predict", run, graph, "--all", "--pruned", 0).code == 2


def test_only_likely_answers(epignn, run, folder, tmp_path):
    graph, out = folder.with_name("own_ind") / "train.txt", tmp_path / "likely.csv"
    asked = ("predict", run, graph, "--all", "--relation", "grandparent", "--least", 0.2, "--out", out)
    assert epignn(*asked).code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert 0 < len(rows) < 600
    assert all(float(row["probability"]) >= 0.2 and row["relation"] == "grandparent" for row in rows)


def test_rules_of_a_model(epignn, run, folder, tmp_path):
    out = tmp_path / "rules.tsv"
    ran = epignn("distil", run, "--out", out)
    assert ran.code == 0, ran.err
    assert "the model's first answer is that of its strongest rule" in ran.out
    rows = list(csv.DictReader(out.read_text().splitlines(), delimiter="\t"))
    assert "parent, parent -> grandparent" in {row["rule"] for row in rows}
    document = json.loads(epignn("distil", run, "--data", folder, "--out", out, "--json").out)
    assert 0 <= document["check"]["explained"] <= document["check"]["reached"] <= 1
    refused = epignn("distil", run, "--weights-only")
    assert (refused.code, "are rules" in refused.err) == (2, True)


def test_a_small_graph_has_no_metrics_among_fifty(epignn, run, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    (small / "train.txt").write_text("a parent b\nb parent c\n")
    (small / "test.txt").write_text("a grandparent c\n")
    document = json.loads(epignn("evaluate", run, small, "--json").out)
    assert {"hits@10_50", "grail_hits@10"}.isdisjoint(document["results"][0]["metrics"]["model"])
    assert "mrr" in document["results"][0]["metrics"]["model"]
