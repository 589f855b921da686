"""Messages of workers: what jobs take and give comes back the same, and what is not ours is refused."""

import dataclasses
import io
import json
import subprocess
from enum import Enum
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset
from epignn.data.graph import Graph
from epignn.data.prove import prove
from epignn.data.shared import arrays_of
from epignn.distil.bodies import Counts
from epignn.distil.evaluate import Asked as ByFile
from epignn.distil.evidence import Evidence
from epignn.distil.links import Asked as Rules
from epignn.distil.links import LinkRule
from epignn.distil.orbits import Orbits
from epignn.distil.rules import Rule, RuleSet
from epignn.distil.table import Judging
from epignn.errors import BadArgument, BadFile
from epignn.learn.checkpoint import Kept
from epignn.learn.evaluate import Asked as Evaluated
from epignn.reason.networks import Several, run_several
from epignn.reason.predicted import Asked as Graphs
from epignn.reason.sharded import Asked as Of
from epignn.reason.sharded import Asking, Examined, Part
from epignn.report.plan import rows_of
from epignn.report.suites import SUITES
from epignn.report.trial import Trial
from epignn.tasks.check import Asked, check_file
from epignn.tasks.shards import Shard, write_shard
from epignn.workers import run, workers_of
from epignn.workers.api import Failure, Fault, Mapped, attempt
from epignn.workers.messages import LENGTH, receive, send
from tests.workers import jobs

RCC8 = load("rcc8")
NETWORKS = [
    Network.of(RCC8, [("a", "ntpp", "b"), ("b", "dc|ec", "ç \ud800"), ("a", relation, "ç \ud800")], title="ü")
    for relation in ("dc", "eq")
]
DATA = Dataset(("DC", "EC"), [3], [0, 2], [0, 1], [1, 2], [1, 0], [0], [2], [1])
RULES = RuleSet(("a", "b"), 1, (Rule(0, 0, 1, 0.5, 2, 0.25),))
SEVERAL = Several(NETWORKS, "closure", ("a", "b"), "", "auto")


def shard(folder: Path) -> Shard:
    proved = partial(prove, calculus=RCC8)
    taken = Mapped(folder, ("taken",))
    return Shard(
        RCC8, 2, 1, 2, 0, 0, 2, folder / "a.csv.gz", folder / "a.npz", proved, np.arange(3, dtype=np.uint64), taken
    )


def part(folder: Path) -> Part:
    graph = Graph(("a", "b"), ("r",), np.array([[0, 0, 1]], dtype=np.int32))
    shared = Mapped.write(arrays_of(graph), folder)
    about = {"models": ["0f"], "questions": [None, "r", True, False], "answers": [10, False, 0.1, False]}
    asked = Of((Kept("runs/x", "0f", "cpu", (Path("mine.py"),)),), 0.5, shared)
    asking = Asking(asked, 10, False, 0.1, True, folder, about)
    return Part(asking, 3, [(1, np.array([0, 1], dtype=np.int32)), (0, np.zeros(0, dtype=np.int32))])


SENT = {
    "plain": lambda folder: [None, True, -(1 << 70), 0.1, float("inf"), 1e-320, "ü \ud800 \0", [], {}, ()],
    "sets and tables": lambda folder: ({1}, frozenset({(1, 2)}), {(1, "a"): {"set": 1}}, MappingProxyType({2: 3})),
    "arrays": lambda folder: [
        np.arange(6, dtype=np.int16).reshape(2, 3).T,
        np.zeros((0, 4), dtype=np.uint64),
        np.array(2.5),
        np.array(["ab", "c"]),
        np.array([True, False]),
        np.arange(3, dtype=">i4"),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.float32(0.1),
        np.int64(-1),
    ],
    "every calculus": lambda folder: [make() for make in CALCULI.values()],
    "check": lambda folder: (check_file, Asked(Path("x.csv"), RCC8, "closure"), Asked(Path("y"), None, "dpc")),
    "close": lambda folder: SEVERAL,
    "closed": lambda folder: run_several(SEVERAL, print),
    "generate": lambda folder: (write_shard, shard(folder)),
    "predict": part,
    "evaluate": lambda folder: Evaluated(Kept("runs/x", "0f", "cpu", ()), Path("a.csv")),
    "ranks": lambda folder: Examined(part(folder).asking.asked, np.zeros((2, 3), "i4"), np.zeros((2, 0), "i4")),
    "distil": lambda folder: Judging(Evidence.of(DATA), Orbits.of(("a", "b"), 0, (0, 1)), np.eye(3) > 0),
    "distil links": lambda folder: Rules(Kept("runs/x", "0f", "cpu", ()), Mapped(folder, ("facts",)), 1, 2, 3),
    "rules": lambda folder: ([LinkRule(1, (0, 2), "a, b -> c", 0.5, Counts(3, 4))], []),
    "exact": lambda folder: ByFile(RULES, folder / "x.csv"),
    "graphs": lambda folder: Graphs(Kept("rcc8", "0f", "cpu", ()), DATA),
    "sweep": lambda folder: Trial("one", "rcc8", ("a=1",), 0.5, 9, 1, (Path("x.py"),), "", ((0.1, 0.2), ())),
    "reproduce": lambda folder: tuple(rows_of("rcc8", SUITES["rcc8"], [0], folder, folder)),
    "failure": lambda folder: attempt(jobs.refuse, 2, print),
    "place of an error": lambda folder: Failure("no", error=BadFile("is no number.", "a.csv", 3, 1)),
    "fault": lambda folder: attempt(jobs.fault, 0, print),
}  # fmt: skip


def same(one, other) -> None:
    """Compare kinds, too, and what classes leave out when they compare."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray | np.generic):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            same(mine, theirs)
    elif isinstance(one, dict | MappingProxyType):
        same(list(one.items()), list(other.items()))
    elif isinstance(one, partial):
        same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    elif isinstance(one, BaseException):
        same((one.args, str(one), vars(one)), (other.args, str(other), vars(other)))
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            same(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other


def told(message, package: str = "tests") -> bytes:
    target = io.BytesIO()
    send(target, message, package)
    return target.getvalue()


@pytest.mark.parametrize("kind", SENT)
def test_what_jobs_take_and_give_comes_back_the_same(kind, tmp_path):
    message = SENT[kind](tmp_path)
    found = receive(io.BytesIO(told(message)), "tests")
    same(message, found)


def test_what_is_used_several_times_is_sent_once():
    found = receive(io.BytesIO(told(SEVERAL)), "tests")
    assert found.networks[0].calculus is found.networks[1].calculus
    assert len(told(NETWORKS)) < 1.5 * len(told(NETWORKS[:1]))


def test_messages_follow_each_other():
    source = io.BytesIO(told([np.arange(5)]) + told("next"))
    assert receive(source)[0].tolist() == [0, 1, 2, 3, 4]
    assert receive(source) == "next"


def test_a_message_that_is_cut_is_the_end():
    whole = told((close, [np.arange(5), "x"]))
    for length in range(len(whole)):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole[:length]))


class Colour(Enum):
    RED = 1


FOREIGN = (
    object(), b"x", 1j, lambda: 0, subprocess.Popen, subprocess.run, io.BytesIO(), np.array([None]), print,
    np.zeros(1, dtype=[("a", "i4")]), Path.home, RCC8.compose, dataclasses.make_dataclass("Made", [])(),
)  # fmt: skip


@pytest.mark.parametrize("value", FOREIGN)
def test_what_cannot_be_sent(value):
    target = io.BytesIO()
    with pytest.raises(TypeError):
        send(target, [value], "tests")
    assert not target.getvalue()


def test_only_the_package_of_the_job_is_looked_into():
    for value in (Colour.RED, jobs.Once(Path(), 1), jobs.square):
        same(value, receive(io.BytesIO(told(value)), "tests"))
        with pytest.raises(TypeError, match=r"^tests\.\S+ is defined in none of epignn\."):
            receive(io.BytesIO(told(value)))
        with pytest.raises(TypeError, match=r"^tests\.\S+ is defined in none of epignn\."):
            told(value, "epignn")


@pytest.mark.parametrize(
    "text",
    [
        {"function": "os:system"},
        {"function": "epignn.workers.processes:subprocess.run"},
        {"function": "epignn.workers.processes:os.system"},
        {"class": ["subprocess:Popen", {"args": "true"}]},
        {"class": ["epignn.workers.processes:subprocess.Popen", {"args": "true"}]},
        {"class": ["epignn.files:sha256", {"path": "x"}]},
        {"class": ["epignn.workers.api:Missing", {}]},
        {"named": ["builtins:eval", ["1"]]},
        {"enum": ["epignn.workers.api:Failure", "text"]},
        {"error": ["builtins:Exception", "", {"dict": []}]},
        {"partial": [{"function": "builtins:eval"}, {"tuple": ["1"]}, {"dict": []}]},
        {"bytes": "x"},
        {},
    ],
)
def test_what_is_defined_elsewhere_is_not_found(text):
    data = json.dumps(text).encode()
    with pytest.raises(TypeError):
        receive(io.BytesIO(LENGTH.pack(len(data)) + data))


def test_a_job_of_the_script_that_runs_is_refused():
    def job(number, tell):
        return number

    job.__module__, job.__qualname__ = "__main__", "job"
    with workers_of("2") as workers, pytest.raises(Fault, match="job is defined in the script that runs"):
        run(workers, job, [1]).all()


def test_a_module_that_workers_do_not_have_is_told(tmp_path, monkeypatch):
    (tmp_path / "far_away.py").write_text("def job(number, tell):\n    return number\n")
    monkeypatch.syspath_prepend(str(tmp_path))  # of this process alone
    import far_away

    with workers_of("2") as workers:
        with pytest.raises(Fault, match="No module named 'far_away'"):
            run(workers, far_away.job, [1]).all()
        assert run(workers, jobs.square, [3]).all() == [9]


def test_an_error_of_a_class_that_is_not_known_becomes_one_that_is():
    class Own(BadArgument):
        pass

    Own.__module__ = "mine"
    found = receive(io.BytesIO(told(Own("no."))))
    assert (type(found), str(found)) == (BadArgument, "no.")


def test_what_cannot_be_sent_is_told_with_its_traceback():
    with workers_of("2") as workers:
        for job, argument in ((jobs.square, object()), (jobs.thing, 1), (jobs.tell_thing, 1)):
            with pytest.raises(Fault, match=r"plain values, not a builtins\.object"):
                run(workers, job, [argument]).all()
        assert run(workers, jobs.square, [3]).all() == [9]


def test_brackets_that_are_too_deep_are_told():
    """A thread that waits for a job hears of everything: what it does not, nobody would, and all would wait."""
    with workers_of("2") as workers:
        for job, argument in ((jobs.square, jobs.deep(100_000, None)), (jobs.deep, 100_000)):
            with pytest.raises(Fault, match="RecursionError"):
                run(workers, job, [argument]).all()
        assert run(workers, jobs.square, [3]).all() == [9]
