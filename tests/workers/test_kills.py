"""A worker is killed in the middle of every kind of work: nothing is lost, and the bits are the same."""

from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.cli.links import Asked as LinksAsked
from epignn.cli.links import predict_links
from epignn.data.prove import prove
from epignn.distil.calculus import distil_calculus
from epignn.distil.links import distil_links
from epignn.learn.checkpoint import Kept, load_model
from epignn.learn.evaluate import Asked as Evaluated
from epignn.learn.evaluate import evaluate_asked
from epignn.learn.protocols import stored_negatives
from epignn.reason.links import Links
from epignn.reason.networks import Several, closed_dict, run_several
from epignn.reason.neural import Neural
from epignn.reason.predicted import chances_by
from epignn.reason.sharded import examine_by
from epignn.report.plan import Plan, rows_of
from epignn.report.reproduce import follow
from epignn.report.space import Range, Space
from epignn.report.suites import Suite, Variant
from epignn.report.sweep import sweep
from epignn.tasks.check import Asked, check_file
from epignn.tasks.generate import generate
from epignn.workers import Here, run, workers_of
from tests.distil.conftest import exact_reading, problems
from tests.links import family, lines, trained_on
from tests.workers.jobs import Dying

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
RCC8 = load("rcc8")
TRAINED = ("data.per_label=8", "data.k=[2, 3]", "data.b=[1]", "training.epochs=2", "training.starts=1")
SPACE = Space("rcc8-paper", TRAINED, tried={"training.learning_rate": Range(0.001, 0.1, log=True)})
SUITE = Suite(
    "small", (Variant("one", "rcc8-paper", TRAINED),), ((2, 1), (3, 1)), 5, MappingProxyType({}), distil=True
)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Problems, a graph and a model of links to work on."""
    folder = tmp_path_factory.mktemp("made")
    generate(RCC8, [6], [3], 400, 1, folder / "problems", shards=3)
    side = family(0, people=200)
    trained_on(side, out=folder / "run")
    (folder / "graph.tsv").write_text(lines(side.graph.facts, side.graph))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def generated(workers, made, folder):
    generate(RCC8, [9], [3], 60, 5, folder / "out", partial(prove, calculus=RCC8), shards=3, workers=workers)
    return contents(folder / "out")


def checked(workers, made, folder):
    asked = [Asked(path, RCC8, "closure") for path in sorted((made / "problems").glob("*.csv.gz"))]
    return run(workers, check_file, asked).all()


def closed(workers, made, folder):
    rng = np.random.default_rng(0)
    facts = [
        [(f"{i}", str(rng.choice(RCC8.relations)), f"{j}") for i in range(40) for j in range(i)] for _ in range(12)
    ]
    networks = [Network.of(RCC8, some[::5]) for some in facts]
    parts = [Several(networks[n : n + 3], "closure", None, "", "auto") for n in range(0, 12, 3)]
    found = [closed_dict(result, None) for part in run(workers, run_several, parts).all() for result in part]
    return [{key: value for key, value in one.items() if key != "statistics"} for one in found]


def swept(workers, made, folder):
    found = sweep(SPACE, trials=2, seed=3, out=folder / "out", workers=workers)
    return [{**trial, "cpu_seconds": 0} for trial in (found.recipe, *found.trials)]


def reproduced(workers, made, folder):
    plan = Plan(rows_of("small", SUITE, [0, 1], folder / "out", folder / "runs", quick=True))
    follow(plan, workers, lambda text: None).check()
    cells = [
        [{k: v for k, v in c.items() if "seconds" not in k} for c in row.record()["cells"]] for row in plan.rows
    ]
    weights = {path.parent.name: path.read_bytes() for path in (folder / "runs").glob("*/weights.safetensors")}
    return cells, weights


def predicted(workers, made, folder):
    asked = LinksAsked(None, None, None, True, 3, False, 0.0, None)
    predict_links(Links.load(str(made / "run")), made / "graph.tsv", asked, folder / "out.csv", True, workers)
    return (folder / "out.csv").read_bytes()


def evaluated(workers, made, folder):
    (folder / "shared").mkdir()
    side, links = family(0, people=200), Links.load(str(made / "run"))
    return examine_by(workers, links, side, stored_negatives(side), folder / "shared").metrics()


def evaluated_graphs(workers, made, folder):
    model, files = Kept.of(load_model("rcc8")), sorted((made / "problems").glob("*.csv.gz"))
    graphs = Neural.load("rcc8")
    from epignn.tasks.own import read

    told = chances_by(workers, graphs, read(files[0], "rcc8", graphs.relations))
    return run(workers, evaluate_asked, [Evaluated(model, file) for file in files]).all(), told


def distilled(workers, made, folder):
    found = distil_calculus(exact_reading(RCC8), problems(RCC8, 12), problems=2000, workers=workers)
    return found.calculus_text(), found.certificate_text()


def distilled_links(workers, made, folder):
    return distil_links(load_model(str(made / "run")), family(0, people=200), workers=workers)


WORKS = (
    generated, checked, closed, swept, reproduced, predicted, evaluated, evaluated_graphs, distilled,
    distilled_links,
)  # fmt: skip


@pytest.mark.parametrize("work", WORKS)
def test_a_worker_is_killed_in_the_middle(work, made, cluster, tmp_path):
    alone, shared, mark = tmp_path / "alone", tmp_path / "shared", tmp_path / "mark"
    alone.mkdir(), shared.mkdir()
    with workers_of("ray", cluster.address) as workers:
        found = work(Dying(workers, mark), made, shared)
    assert mark.exists()  # somebody was killed
    assert found == work(Here(), made, alone)
