"""Workers: results in the order of jobs whoever does them; failures tried once more, and told at the end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from epignn.errors import BadArgument
from epignn.workers import JobsFailed, run, workers_of
from epignn.workers.api import Fault
from epignn.workers.bounds import megabytes_of
from tests.workers import jobs

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=["1", "2"])
def workers(request):
    with workers_of(request.param) as found:
        yield found


def test_results_are_in_the_order_of_jobs(workers):
    seen, told, taken = [], [], {}
    found = run(
        workers, jobs.square, range(20), lambda done, of: seen.append((done, of)), told.append, taken.__setitem__
    )
    assert found.all() == [n * n for n in range(20)]
    assert seen == [(n, 20) for n in range(1, 21)]
    assert sorted(told) == sorted(f"square {n}" for n in range(20))
    assert taken == {n: n * n for n in range(20)}
    assert run(workers, jobs.square, []).all() == []


def test_a_refusal_is_told_at_the_end_and_the_others_are_done(workers):
    found = run(workers, jobs.refuse, range(4))
    assert found.values == [0, 1, None, 3]
    with pytest.raises(JobsFailed, match=r"1 of 4 jobs failed: two is refused\."):
        found.all()


def test_a_fault_of_ours_keeps_its_traceback(workers):
    found = run(workers, jobs.fault, [1, 0])
    assert found.values == [1, None]
    with pytest.raises(Fault, match=r"(?s)jobs\.py.*ZeroDivisionError"):
        found.all()


def test_arrays_are_shared(workers, tmp_path):
    rows = np.arange(30.0).reshape(3, 10)
    shared = workers.share({"rows": rows}, tmp_path)
    assert run(workers, jobs.total, [(shared, row) for row in range(3)]).all() == rows.sum(1).tolist()


def test_a_killed_process_costs_one_try(tmp_path):
    with workers_of("2") as workers:
        asked = [jobs.Once(tmp_path / "mark", n) for n in range(5)]
        assert run(workers, jobs.die_once, asked).all() == [0, 1, 2, 3, 4]
        assert (tmp_path / "mark").exists()
        found = run(workers, jobs.die, range(4))
        assert found.values == [0, None, 2, 3]
        with pytest.raises(JobsFailed, match=r"ended in the middle of a job \(SIGKILL\)"):
            found.all()
        assert run(workers, jobs.square, range(4)).all() == [0, 1, 4, 9]  # others took their place


def test_a_process_has_one_thread_and_a_share_of_the_memory(monkeypatch):
    monkeypatch.setenv("EPIGNN_WORKER_MB", "1024")
    with workers_of("2") as workers:
        assert run(workers, jobs.threads, range(2)).all() == [1, 1]
        found = run(workers, jobs.much, [100, 3000])
        assert found.values == [100 << 17, None]
        assert "EPIGNN_WORKER_MB" in found.failures[0].text


def test_the_share_of_the_memory(monkeypatch):
    monkeypatch.delenv("EPIGNN_WORKER_MB", raising=False)
    assert megabytes_of(1) >= megabytes_of(2) >= 1024
    monkeypatch.setenv("EPIGNN_WORKER_MB", "many")
    with pytest.raises(BadArgument, match="must be a number of megabytes"):
        megabytes_of(1)


def test_a_process_that_cannot_be_started_is_told(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/none")
    with workers_of("2") as workers, pytest.raises(JobsFailed, match=r"no worker can be started: .*No such file"):
        run(workers, jobs.square, [1, 2]).all()


def test_no_job_is_begun_after_the_end(tmp_path):
    with workers_of("2") as workers:
        found = workers.outcomes(jobs.slow, [(n, (tmp_path, n, 0.0 if n == 0 else 60.0)) for n in range(9)], print)
        assert next(found) == (0, 0)
        _until(lambda: len(list(tmp_path.iterdir())) == 3)
    time.sleep(1)  # in which a process would start, and begin
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes as Linux shows them")
def test_processes_end_with_the_one_that_started_them(tmp_path):
    code = (
        "import sys; from pathlib import Path; from epignn.workers import run, workers_of; "
        "from tests.workers import jobs; folder = Path(sys.argv[1])\n"
        "with workers_of('2') as w: run(w, jobs.slow, [(folder, n, 60) for n in range(2)])"
    )
    driver = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    begun = [tmp_path / f"begun_{n}" for n in range(2)]
    _until(lambda: all(path.exists() and path.read_text() for path in begun))
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    _until(lambda: not any(_lives(int(path.read_text())) for path in begun), seconds=10)


def _until(holds, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _lives(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "9999", ""])
def test_what_is_no_number_of_workers(text):
    with pytest.raises(BadArgument, match="--workers takes a number of processes"):
        workers_of(text)


def test_as_many_as_there_are_cores():
    with workers_of("auto") as found:
        assert found.count == len(os.sched_getaffinity(0))


def test_a_cluster_and_processes_are_not_both_asked_for():
    with pytest.raises(BadArgument, match="leave out one"):
        workers_of("4", "auto")


def test_ray_is_asked_for_kindly(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadArgument, match=r"pip install 'epignn\[ray\]'"):
        workers_of("ray")
