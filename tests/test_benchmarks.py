"""The benchmarks: every script runs, figures compare the right way round, README blocks are filled or refused."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from epignn.report.record import put_record
from tests.scripts import BENCHMARKS, script

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def record():
    return script("record")


@pytest.fixture(scope="module")
def render():
    return script("render")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["closure", "generator", "startup", "model"])
def test_every_benchmark_runs_and_shows_each_figure_beside_the_last(name, tmp_path):
    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    last = json.loads((ROOT / "results" / f"bench_{name}.json").read_text())
    table = run.stdout.partition("  figure ")[2]
    assert last["commit"] in table.splitlines()[0]
    assert next(iter(last["figures"])).split("_")[0] in table
    assert not list(tmp_path.iterdir())  # a quick run records nothing


@pytest.mark.slow
@pytest.mark.parametrize("name", ["files", "stream"])
def test_benchmarks_that_have_no_record_yet_run(name, tmp_path):
    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path), "OMP_NUM_THREADS": "1"}
    call = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick"]
    run = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    assert "seconds" in run.stdout.partition("  figure ")[2]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_benchmark_of_peers_has_a_line_for_every_model_and_records_nothing(tmp_path):
    from epignn.models import LINKS_ALONE, MODELS, REFINED

    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(BENCHMARKS / "peers.py"), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.partition("  figure ")[0].splitlines()
    assert [line[2:22].rstrip() for line in lines] == [
        "epignn, plain torch",
        *(name for name in MODELS.names() if name not in LINKS_ALONE | REFINED),
    ]
    assert "1.00 times plain EpiGNN" in lines[0]
    assert all("parameters" in line for line in lines)
    told = ("times plain EpiGNN", "no step: it learns by counting", "does not classify graphs")
    assert [line for line in lines if not any(words in line for words in told)] == []
    assert "lstm-triples graphs per second" in run.stdout
    assert not list(tmp_path.iterdir())


def test_models_that_count_have_no_step_and_refusals_are_told(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    torch = pytest.importorskip("torch")
    from epignn.models.api import Model, ModelConfig
    from epignn.models.batch import GraphBatch

    class Majority(Model):
        def __init__(self, relations, config):
            super().__init__(relations, config)
            self.register_buffer("seen", torch.zeros(relations))

        def count(self, graphs, epoch):
            self.seen += sum(torch.bincount(part.label, minlength=self.relations) for part in graphs)
            return 0.0

        def scores(self, batch: GraphBatch):
            return self.seen.expand(len(batch), -1)

    class Silent(Model):
        """Has a parameter, and no `scores`."""

        def __init__(self, relations, config):
            super().__init__(relations, config)
            self.unused = torch.nn.Parameter(torch.zeros(3))

    peers = script("peers")
    data = peers.problems([(2, 1)], 16)
    counting = Majority(8, ModelConfig())
    found = peers.figures_of(counting, data, data, 0.01)
    assert (found["step"], found["parameters"]) == ("no step: it learns by counting", 0)
    assert found["graphs_per_second"] > 0
    assert counting.seen.sum() == len(data)
    found = peers.figures_of(Silent(8, ModelConfig()), data, data, 0.01)
    assert found == {"parameters": 3, "refusal": "Silent does not classify graphs: it has no method `scores`."}
    assert peers.line("silent", found).endswith(found["refusal"])


def test_ratios_tell_how_many_times_better(record):
    now = {
        "x": {"seconds": 2.0, "graphs_per_second": 30.0, "regions": 5, "gqr_seconds": 1.0},
        "x_published": {"seconds": 9.0},
        "new": {"seconds": 1.0},
    }
    before = {"x": {"seconds": 8.0, "graphs_per_second": 10.0, "gqr_seconds": 1.0}, "x_published": {"seconds": 9.0}}
    assert list(record.compared(now, before)) == [
        ("x seconds", 2.0, 8.0, 4.0),
        ("x graphs per second", 30.0, 10.0, 3.0),
        ("new seconds", 1.0, None, 1.0),
    ]


def test_a_record_goes_where_it_is_asked_to(record, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record, "RESULTS", tmp_path / "results")
    record.save("made", {"x": {"seconds": 8.0}}, record.Options(quick=False, out=tmp_path / "results"))
    record.save("made", {"x": {"seconds": 2.0}}, record.Options(quick=False, out=tmp_path / "other"))
    assert "4.00" in capsys.readouterr().out
    kept, other = (json.loads((tmp_path / f / "bench_made.json").read_text()) for f in ("results", "other"))
    assert (kept["figures"]["x"]["seconds"], other["figures"]["x"]["seconds"]) == (8.0, 2.0)
    assert {"commit", "python", "cpu"} <= set(other)


def block(name, inside="old\n"):
    return f"<!-- begin {name} -->\n{inside}<!-- end {name} -->"


def test_blocks_are_filled_and_the_rest_is_kept(render):
    text = f"# Title\n\n{block('ia-table')}\n\nwords\n\n{block('rcc8-table')}\nend"
    filled = render.render(text, ROOT / "results")
    assert "old" not in filled
    assert "| ia-paper | 3 |" in filled
    assert filled.startswith("# Title\n\n<!-- begin ia-table -->\n| model |")
    assert filled.endswith("One core.\n<!-- end rcc8-table -->\nend")
    assert render.render(filled, ROOT / "results") == filled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (block("ia-table"), "there is no record"),
        (block("model-sentence"), "there is no record"),
        (block("nothing-table"), "unknown block 'nothing-table'; known: headlines"),
        ("<!-- begin ia-table -->", "one begin mark and one end mark"),
        (block("ia-table") + block("ia-table"), "one begin mark and one end mark"),
        ("<!-- end ia-table --><!-- begin ia-table -->", "after <!-- end ia-table -->"),
        ("<!-- begin ia-table --><!-- begin x --><!-- end ia-table --><!-- end x -->", "comes <!-- begin x -->"),
    ],
)
def test_a_block_that_cannot_be_filled_is_an_error(render, tmp_path, text, message):
    with pytest.raises(render.CannotRender, match=message):
        render.render(text, tmp_path)


def test_a_text_without_blocks_needs_no_records(render, tmp_path):
    assert render.render("words", tmp_path) == "words"


def test_link_prediction_is_a_row_a_split(render, tmp_path):
    from epignn.models.baselines import BASELINES

    figures = {name: {"grail_hits@10": 0.5} for name in BASELINES}
    seconds = {"training_seconds": 60.0, "training_cpu_seconds": 50.0, "parameters": 1234}
    runs = [
        {"variant": "wn18rr:v1 best", "seed": s, "cells": [{"grail_hits@10": h}], **seconds}
        for s, h in enumerate((0.93, 0.95))
    ]
    for number, one in enumerate([*runs, {"variant": "wn18rr:v1 baselines", "figures": figures}]):
        put_record(tmp_path / "kgc", str(number), one)
    lines = render.render(block("kgc-negatives"), tmp_path).splitlines()
    assert lines[1].startswith("| split | ours, best | seeds | paper |")
    assert lines[3].startswith("| wn18rr:v1 | 94.0 ± 2.0 | 2 | 92.5 |")


def test_the_headline_of_links_needs_every_split(render, tmp_path):
    from epignn.tasks import SPLITS

    def put(split, reached):
        run = {"variant": f"{split} best", "seed": 0, "cells": [{"mrr": reached}]}
        put_record(tmp_path / "kgc", split.replace(":", "-"), {**run, "training_cpu_seconds": 1.0, "parameters": 1})

    for number, split in enumerate(SPLITS[:-1], 1):
        put(split, number / 10)
    with pytest.raises(render.CannotRender, match=SPLITS[-1]):
        render.render(block("kgc-headline"), tmp_path)
    put(SPLITS[-1], 0.8)
    told = render.render(block("kgc-headline"), tmp_path)
    assert "10.0, 20.0, 30.0, 40.0 and 50.0, 60.0, 70.0, 80.0. NBFNet has, as published, 74.1" in told


@pytest.mark.slow
def test_the_benchmark_of_links_shows_time_memory_and_chunk_and_records_nothing(tmp_path):
    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / "links.py"), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    (line,) = [line for line in run.stdout.splitlines() if "in chunks of" in line]
    assert line.split()[:6] == ["2,000", "facts,", "16", "heads,", "dim", "16"]
    for figure in ("train seconds", "score seconds", "train peak mb", "score peak mb"):
        assert f"2,000 facts, 16 heads, dim 16 {figure}" in run.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_benchmark_of_the_server_shows_rate_and_times_and_records_nothing(tmp_path):
    environment = {**os.environ, "EPIGNN_BENCH_OUT": str(tmp_path)}
    command = [sys.executable, str(BENCHMARKS / "serve.py"), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    for pace in ("as fast as answers come", "220 requests a second in all"):
        for figure in ("requests per second", "p50 seconds", "p99 seconds"):
            assert f"50 clients, {pace} {figure}" in run.stdout
    assert not list(tmp_path.iterdir())


def test_every_recipe_that_is_tried_is_an_experiment():
    recipes = script("recipes")
    steps = tomllib.loads(recipes.STEPS.read_text())
    for name, step in steps.items():
        experiment = recipes.experiment_of(steps, name)
        assert experiment.data.holdout == ("asked" if name.startswith("asked") else "entities")
        assert experiment.training.patience == 0  # nothing chooses among epochs
        assert step["about"]
    wide = recipes.experiment_of(steps, "fb-groups2")
    assert (wide.model.dim, wide.model.groups, wide.objective.negatives) == (
        128,
        2,
        256,
    )  # its own over the others'


def test_steps_that_weigh_rules_alone_are_ranked_with_the_weights_of_others():
    recipes = script("recipes")
    steps = tomllib.loads(recipes.STEPS.read_text())
    assert recipes.trained_as(steps, "asked-v1-adapt") == recipes.trained_as(steps, "asked-v1-spread") == "asked-v1"
    assert recipes.trained_as(steps, "asked-v4-trust") == "asked-v4"
    assert recipes.trained_as(steps, "fb-thin0") == "fb-thin0"
    for name in steps:
        own, first = (recipes.experiment_of(steps, step) for step in (name, recipes.trained_as(steps, name)))
        assert (own.data, own.objective, own.training) == (first.data, first.objective, first.training)


def test_what_was_tried_is_told_with_its_gain(render, tmp_path):
    records = [("fb-before", 0, 0.25), ("fb-dim64", 0, 0.4), ("fb-dim64", 1, 0.5), ("fb-thin0", 0, 0.4)]
    for step, seed, mrr in records:
        figures = {"mrr": mrr, "hits@10": 0.6}
        record = {"step": step, "split": "fb237:v1", "figures": figures, "training_cpu_seconds": 20}
        put_record(tmp_path / "links-recipe", f"{step}_seed{seed}", record)
    lines = render.render(block("recipe-fb"), tmp_path).splitlines()
    cells = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[3:7]] for line in lines[3:-1]}
    assert cells["fb-before"] == ["0.250", "", "0.600", "1"]
    assert cells["fb-dim64"] == ["0.450", "+0.200", "0.600", "2"]
    assert cells["fb-thin0"] == ["0.400", "-0.050", "0.600", "1"]
