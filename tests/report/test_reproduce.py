"""Suites: a record a run, taken up again; tables from records alone; every row's settings are valid."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
import torch

from epignn.errors import UnknownName
from epignn.learn.config import load_experiment
from epignn.models import LINKS
from epignn.report.plan import Plan, experiment_of, rows_of
from epignn.report.record import named_records, put_record
from epignn.report.reproduce import follow, reproduce
from epignn.report.suites import SUITES, Suite, Variant
from epignn.report.tables import figures, markdown, rows, spread
from epignn.workers import JobsFailed, workers_of
from tests.links import family, lines


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


SMALL = Suite(
    "small",
    (Variant("one", "rcc8-paper"), Variant("two", "rcc8-paper", ("model.forward_only=true",))),
    ((2, 1), (3, 1), (3, 2)),
    4,
    MappingProxyType({"average": 0.5, "k=3 b=2": 0.25}),
)


def test_records_and_table(tmp_path):
    said = []
    records = reproduce("small", SMALL, [0, 1], tmp_path / "results", tmp_path / "runs", True, said.append)
    assert len(records) == 4
    kept = named_records(tmp_path / "results" / "small-quick")
    assert list(kept) == ["one_seed0", "one_seed1", "two_seed0", "two_seed1"]
    record = kept["one_seed0"]
    assert {"experiment", "seed", "commit", "torch", "numpy", "python", "cells", "training_seconds"} <= set(record)
    assert all(cell["closure"] == 1.0 for cell in record["cells"])
    said.clear()
    again = reproduce("small", SMALL, [0, 1], tmp_path / "results", tmp_path / "runs", True, said.append)
    assert again == records
    assert all("recorded already" in text for text in said)
    columns, table = rows(SMALL, records)
    assert [row[0] for row in table] == ["one", "two", "exact closure", "paper"]
    assert table[0][2] == spread([figures(SMALL, run)["average"] for run in records[:2]])
    assert table[3][2:4] == ["0.50", "0.25"]
    assert markdown(columns, table).count("\n") == len(table) + 1


def test_what_learns_nothing_is_tested_on_the_data_of_its_row(tmp_path):
    """A row may set the task of an experiment: of two files, each has its own number of entities."""
    variants = []
    for people in (30, 120):
        side = family(0, people)
        triples = np.concatenate([side.graph.facts, side.valid, side.test])
        (tmp_path / f"{people}.tsv").write_text(lines(triples, side.graph))
        task = (f'data.task="{tmp_path}/{people}.tsv"',)
        variants.append(Variant(f"{people} baselines", "links", task, baselines=True))
    suite = Suite("known", tuple(variants), ((0, 0),), 0, MappingProxyType({}), links=True)
    few, many = reproduce("known", suite, [0], tmp_path / "results", tmp_path / "runs", True, lambda text: None)
    assert few["figures"]["chance"]["mrr"] > 2 * many["figures"]["chance"]["mrr"] > 0


@pytest.mark.parametrize("name", SUITES)
def test_every_row_of_every_suite_is_a_valid_experiment(name):
    names = set()
    for variant in SUITES[name].variants:
        load_experiment(variant.experiment, variant.settings)
        names.add(variant.name)
    assert len(names) == len(SUITES[name].variants)


def test_the_sixteen_ablations():
    assert len(SUITES["ablations"].variants) == 16


def test_rows_by_their_words():
    links = SUITES["kgc"]
    assert [v.name for v in links.only("wn18rr:v1").variants] == [
        f"wn18rr:v1 {r}" for r in ("paper", "best", "epignn", "baselines")
    ]
    assert [v.name for v in links.only("fb237:v2 best").variants] == ["fb237:v2 best", "fb237:v2 baselines"]
    assert len(links.only("paper").variants) == 16
    with pytest.raises(UnknownName, match="Unknown row 'wn18rr:v7'"):
        links.only("wn18rr:v7")
    assert [v.name for v in SUITES["ablations"].only("facets=1, mlp").variants] == ["facets=1, mlp"]


@pytest.mark.parametrize("name, graph", [("kgc", "fb237:v1"), ("kgc-known", "umls")])
@pytest.mark.parametrize("kind", LINKS)
def test_a_smoke_test_of_every_model_of_links_is_small(kind, name, graph):
    (variant,) = [v for v in SUITES[name].with_models([kind]).variants if v.name == f"{graph} {kind}"]
    experiment = experiment_of(variant, quick=True)
    assert (experiment.model.kind, experiment.training.epochs) == (kind, 1)
    assert (experiment.objective.validation_triples, experiment.data.task) == (50, graph)


def test_a_record_of_an_earlier_version_is_taken_as_it_is(tmp_path):
    """Its experiment names the calculus, and the loss among the settings of training."""
    experiment = load_experiment("rcc8-paper", ("training.epochs=2", "data.per_label=20")).to_dict()
    data, objective = experiment.pop("data"), experiment.pop("objective")
    experiment["data"] = {**data, "calculus": data.pop("task"), "source": "", "files": []}
    experiment["data"].pop("task", None)
    objective.pop("kind")
    experiment["training"] = {k: v for k, v in experiment["training"].items() if k != "patience"} | objective
    told = {"variant": "one", "experiment": experiment, "seed": 0, "cells": [{}]}
    put_record(tmp_path / "results" / "small-quick", "one_seed0", told)
    said = []
    one = replace(SMALL, variants=SMALL.variants[:1])
    reproduce("small", one, [0], tmp_path / "results", tmp_path / "runs", True, said.append)
    assert said == ["one, seed 0: recorded already"]


def told(record):
    """A record without what differs from run to run: times, memory and the machine."""
    cells = [{k: v for k, v in cell.items() if "seconds" not in k} for cell in record["cells"]]
    return {k: v for k, v in record.items() if "seconds" not in k and k not in ("peak_mb", "cells")}, cells


def test_processes_give_the_same_figures_and_weights(tmp_path):
    one = replace(SMALL, variants=SMALL.variants[:1])
    for name in ("1", "2"):
        plan = Plan(rows_of("small", one, [0, 1], tmp_path / name, tmp_path / f"runs{name}", quick=True))
        said = []
        with workers_of(name) as workers:
            follow(plan, workers, said.append).check()
        assert any("epoch 2/2" in text for text in said)
    a, b = ([told(row.record()) for row in plan.rows] for plan in (_plan(one, tmp_path, n) for n in ("1", "2")))
    assert a == b
    weights = [sorted(tmp_path.glob(f"runs{n}/*/*.safetensors")) for n in ("1", "2")]
    assert len(weights[0]) >= 2
    assert [path.read_bytes() for path in weights[0]] == [path.read_bytes() for path in weights[1]]


def _plan(suite, folder, name):
    return Plan(rows_of("small", suite, [0, 1], folder / name, folder / f"runs{name}", quick=True))


def test_rows_of_one_model_are_one_job(tmp_path):
    """Only one process may train in a folder."""
    rows = [row for name in ("rounds", "rcc8") for row in rows_of(name, SUITES[name], [0, 1], tmp_path, tmp_path)]
    jobs = Plan(rows).jobs
    assert len(jobs) == 2 * 3
    assert len({row.run for job in jobs for row in job}) == len(jobs)
    assert sum(map(len, jobs)) == len(rows) == 2 * 11


def test_the_plan_tells_what_is_left_and_how_long_it_takes(tmp_path):
    plan = _plan(SMALL, tmp_path, "1")
    assert plan.text(2).startswith(
        "4 runs, 0 of them recorded already; 4 models to train or test, 2 at a time: of 4"
    )
    experiment = plan.rows[0].experiment().to_dict()
    cells = [{"answer_cpu_seconds": 50.0}, {"answer_cpu_seconds": 50.0}]
    record = {"variant": "one", "experiment": experiment, "seed": 0, "training_seconds": 500.0, "cells": cells}
    put_record(tmp_path / "1" / "small-quick", "one_seed0", record)
    plan = _plan(SMALL, tmp_path, "1")
    assert plan.seconds() == (600.0, 2)
    assert plan.text(1) == (
        "4 runs, 1 of them recorded already; 3 models to train or test, 1 at a time: about 10 min by earlier "
        "records; of 2 no earlier record tells how long they take."
    )


def test_a_run_that_fails_is_told_when_the_others_are_done(tmp_path):
    bad = Variant("bad", "rcc8-paper", ("training.learning_rate=1e30",))
    suite = replace(SMALL, variants=(bad, SMALL.variants[0]))
    with pytest.raises(JobsFailed, match="1 of 2 runs failed: training diverged"):
        reproduce("small", suite, [0], tmp_path / "results", tmp_path / "runs", True, lambda text: None)
    assert list(named_records(tmp_path / "results" / "small-quick")) == ["one_seed0"]
