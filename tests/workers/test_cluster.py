"""Ray clusters: the same results as here, and what dies in the middle costs nothing but time."""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import load
from epignn.errors import BadArgument
from epignn.tasks.generate import generate
from epignn.workers import JobsFailed, ray, run, workers_of
from tests.workers import jobs
from tests.workers.conftest import ROOT, kill, nodes, until

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def workers(cluster):
    with workers_of("ray", cluster.address) as found:
        yield found


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_results_are_in_the_order_of_jobs(workers):
    assert workers.count == 2
    assert run(workers, jobs.square, range(20)).all() == [n * n for n in range(20)]
    assert run(workers, jobs.threads, range(2)).all() == [1, 1]
    assert run(workers, jobs.refuse, range(4)).values == [0, 1, None, 3]
    with pytest.raises(JobsFailed, match=r"1 of 4 jobs failed: two is refused\."):
        run(workers, jobs.refuse, range(4)).all()


def test_a_killed_worker_costs_one_try(workers, tmp_path):
    asked = [jobs.Once(tmp_path / "mark", n) for n in range(3)]
    assert run(workers, jobs.die_once, asked).all() == [0, 1, 2]
    assert (tmp_path / "mark").exists()
    found = run(workers, jobs.die, range(3))
    assert found.values == [0, None, 2]
    assert "ended in the middle of a job" in found.failures[0].text


def test_arrays_larger_than_the_object_store(workers, tmp_path):
    rows = np.ones((3, 10_000_000))  # 240 MB, in a store of 80
    shared = workers.share({"rows": rows}, tmp_path)
    assert run(workers, jobs.total, [(shared, row) for row in range(3)]).all() == [1e7] * 3


def test_generated_files_are_the_same_bytes_everywhere(workers, tmp_path):
    arguments = load("rcc8"), [2, 4], [1, 2], 20, 5
    generate(*arguments, tmp_path / "here", shards=3)
    generate(*arguments, tmp_path / "ray", shards=3, workers=workers)
    assert contents(tmp_path / "here") == contents(tmp_path / "ray")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_where_nobody_answers(address):
    with pytest.raises(BadArgument, match=r"no Ray cluster is reached at .*127\.0\.0\.1:1: Connection refused"):
        workers_of("1", address)


def test_what_is_no_address():
    with pytest.raises(BadArgument, match="is no address of a Ray cluster"):
        workers_of("1", "somewhere")


def test_a_sentence_on_the_command_line():
    command = [sys.executable, "-m", "epignn", "check", "x.csv", "--ray-address", "127.0.0.1:1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("error: no Ray cluster is reached at 127.0.0.1:1: Connection refused.")


def test_a_node_with_another_version_refuses(workers, monkeypatch):
    older = {**ray._versions(), "epignn": "0.0.0"}
    monkeypatch.setattr(ray, "_versions", lambda: older)
    with pytest.raises(JobsFailed, match=r"has epignn \S+ instead of 0\.0\.0: install the same on all nodes"):
        run(workers, jobs.square, range(2)).all()


def test_a_folder_that_a_node_does_not_see(workers, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setattr(ray.Path, "cwd", lambda: tmp_path / "gone")
    found = run(workers, jobs.square, range(2))
    assert "does not see the folder" in found.failures[0].text


def test_a_node_that_is_removed_costs_nothing(tmp_path):
    with nodes(2) as cluster, workers_of("ray", cluster.address) as workers:
        second = next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)

        def remove() -> None:
            until(lambda: len([*tmp_path.glob("begun_*")]) >= 2)
            cluster.remove_node(second, allow_graceful=False)

        thread = threading.Thread(target=remove)
        thread.start()
        found = run(workers, jobs.slow, [(tmp_path, n, 3) for n in range(4)])
        thread.join()
        assert found.all() == [0, 1, 2, 3]


DRIVER = """
import sys
from pathlib import Path
from epignn.calculus import load
from epignn.tasks.generate import generate
from epignn.workers import workers_of
with workers_of("1", sys.argv[1]) as workers:
    generate(load("rcc8"), [9], [3], 240, 5, Path(sys.argv[2]), shards=24, workers=workers)
"""


def test_a_driver_that_is_killed_goes_on(cluster, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", DRIVER, cluster.address, str(tmp_path / "ray")]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    until(lambda: len([*(tmp_path / "ray").glob(".epignn-generate/*.1.json")]) >= 2, 120)
    kill(first.pid)
    first.wait()
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "ray").glob("*.csv.gz")}
    assert len(before) >= 2
    noted = {path.name.removesuffix(".1.json") for path in (tmp_path / "ray").glob(".epignn-generate/*.1.json")}
    assert subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode == 0
    generate(load("rcc8"), [9], [3], 240, 5, tmp_path / "here", shards=24)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "ray").glob("*.csv.gz")}
    assert all(before[name] == after[name] for name in noted)  # these were not made twice
