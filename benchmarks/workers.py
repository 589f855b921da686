"""How much faster two workers are than one, for each kind of work that is shared out.

    python benchmarks/workers.py [--quick] [--out DIR]

Each kind is done EPIGNN_BENCH_RUNS times (3) by one worker and by two, in turn; the shortest time of each counts.
Beside it stand the processor seconds of all processes: where they are the same, two free cores halve the time.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.data.graph import Graph, Side
from epignn.data.prove import prove
from epignn.data.shared import arrays_of
from epignn.distil.calculus import distil_calculus
from epignn.distil.reading import read_weights
from epignn.learn.checkpoint import Kept, load_model
from epignn.learn.config import load_experiment
from epignn.learn.evaluate import Asked as Evaluated
from epignn.learn.evaluate import evaluate_asked
from epignn.learn.objectives.rank import Rank
from epignn.learn.run import train
from epignn.reason.links import Links, every_question
from epignn.reason.networks import Several, run_several
from epignn.reason.sharded import Asked as Asking_
from epignn.reason.sharded import Asking, Part, write_part
from epignn.report.trial import Trial, run_trial
from epignn.tasks.check import Asked, check_file
from epignn.tasks.generate import generate
from epignn.tasks.own import read
from epignn.workers import Workers, run, workers_of

from networks import random_boxes
from record import options, save

SHARDS = 8
RUNS = int(os.environ.get("EPIGNN_BENCH_RUNS", "3"))
Work = Callable[[Workers, Path], object]


def works(folder: Path, quick: bool) -> dict[str, Work]:
    """What is measured, by name; each is called with workers and an empty folder."""
    rcc8, rng = load("rcc8"), np.random.default_rng(0)
    scale = 1 if quick else 8
    networks = [random_boxes(60 * scale, 10 * scale, seed) for seed in range(5 * scale)]
    checked = folder / "checked"
    generate(rcc8, [6], [3], 600 * scale, 1, checked, shards=SHARDS)
    files = sorted(checked.glob("*.csv.gz"))
    settings = ("data.per_label=100", f"training.epochs={scale}", "training.starts=1")
    graph = _graph(400 * scale, 4_000 * scale, rng)
    links = _links(graph, folder / "run")
    model = load_model("rcc8")
    reading, examples = read_weights(model.model, model.relations), _examples(folder, scale)

    def made(workers: Workers, out: Path) -> object:
        proved = partial(prove, calculus=rcc8)
        return generate(rcc8, [9], [3], 250 * scale, 0, out, proved, shards=SHARDS, workers=workers)

    def check(workers: Workers, out: Path) -> object:
        return run(workers, check_file, [Asked(file, rcc8, "closure") for file in files]).all()

    def close(workers: Workers, out: Path) -> object:
        return run(workers, run_several, [Several([one], "closure", None, "", "auto") for one in networks]).all()

    def trials(workers: Workers, out: Path) -> object:
        return run(workers, run_trial, [Trial("x", "rcc8-paper", settings, seed=s) for s in range(4)]).all()

    def evaluate(workers: Workers, out: Path) -> object:
        return run(workers, evaluate_asked, [Evaluated(Kept.of(model), file) for file in files]).all()

    def predict(workers: Workers, out: Path) -> object:
        asked = Asking_.of(links, (), workers.share(arrays_of(graph), out))
        asking = Asking(asked, 10, False, 0.0, False, out / "all.parquet", {})
        questions = every_question(graph)[: 200 * scale]
        parts = [Part(asking, n, questions[n::SHARDS]) for n in range(SHARDS)]
        return run(workers, write_part, parts).all()

    def distil(workers: Workers, out: Path) -> object:
        return distil_calculus(reading, examples, problems=500 * scale, workers=workers)

    return {
        "generate": made,
        "check": check,
        "close": close,
        "trials of a sweep, rows of a table": trials,
        "evaluate": evaluate,
        "predict --all": predict,
        "distil": distil,
    }


def _graph(entities: int, facts: int, rng: np.random.Generator) -> Graph:
    triples = np.unique(rng.integers(0, [entities, 10, entities], (facts, 3), dtype=np.int32), axis=0)
    return Graph(tuple(map(str, range(entities))), tuple(f"r{r}" for r in range(10)), triples)


def _links(graph: Graph, out: Path) -> Links:
    experiment = load_experiment("links", ("training.epochs=1",))
    few = graph.facts[:200]
    side = Side(Graph(graph.entities, graph.relations, few), few[:9], few[:0])
    train(experiment, Rank(experiment.objective, side), seed=0, out=out)
    return Links.load(str(out))


def _examples(folder: Path, scale: int) -> Dataset:
    rcc8 = load("rcc8")
    generate(rcc8, [2, 3, 4], [1, 2, 3], 100 * scale, 2, folder / "examples")
    return Dataset.concat([read(file, "rcc8", rcc8.relations) for file in (folder / "examples").glob("*.gz")])


def processor_seconds() -> float:
    """Of this process and of those that it has started and that still live, as Linux tells them."""
    total, tick = sum(os.times()[:2]), os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            total += (int(fields[11]) + int(fields[12])) / tick
    return total


def main() -> None:
    chosen = options(__doc__)
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name, workers_of("1") as one, workers_of("2") as two:
        measured = works(Path(name), chosen.quick)
        for kind, work in measured.items():
            row = figures.setdefault(kind, {})
            for count, workers in ((1, one), (2, two), *((1, one), (2, two)) * (1 if chosen.quick else RUNS)):
                out = Path(tempfile.mkdtemp(dir=name))
                wall, cpu = time.perf_counter(), processor_seconds()
                work(workers, out)
                spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": processor_seconds() - cpu}
                shutil.rmtree(out)
                if "begun" not in row or row["begun"] < 2:  # what processes load first is not measured
                    row["begun"] = row.get("begun", 0) + 1
                    continue
                for key, value in spent.items():
                    known = row.get(f"workers_{count}_{key}", value)
                    row[f"workers_{count}_{key}"] = min(known, value)
            row.pop("begun")
            row["faster"] = row["workers_1_seconds"] / row["workers_2_seconds"]
            row["more_work"] = row["workers_2_cpu_seconds"] / row["workers_1_cpu_seconds"]
            row["load"] = os.getloadavg()[0]
            print(f"  {kind}: {row['faster']:.2f} times as fast with two workers", flush=True)
    save("workers", figures, chosen)


if __name__ == "__main__":
    main()
