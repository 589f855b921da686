"""Workers: a long search holds up nobody, and ends when its time is up or its client has gone."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import httpx
import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import World
from epignn.formats.networks import write_network
from epignn.web.errors import Busy, TooLong
from epignn.web.limits import Context, Limits
from epignn.web.worker import JOBS, answer, job
from epignn.web.workers import MOST_WAITING, Pool
from tests.web.conftest import HARBOUR

FACTS = {"facts": HARBOUR, "format": "facts", "calculus": None, "own": None}
NAMES = tuple(f"i{number}" for number in range(200))
QUICK = {**FACTS, "algorithm": "closure", "query": None}


@cache
def hard() -> dict[str, object]:
    """Facts that can hold together, and whose minimal labels take minutes."""
    rng = np.random.default_rng(0)
    ends = np.sort(rng.choice(10_000, (200, 2), replace=False), axis=1).tolist()
    world = World.from_dict(
        {"kind": "intervals", "calculus": "allen", "intervals": dict(zip(NAMES, ends, strict=True))}
    )
    loose = np.bitwise_or.reduce(1 << rng.integers(0, 13, (200, 200, 5)), axis=2)
    facts = [
        (a, world.relation(a, b) | int(loose[i, j]), b)
        for i, a in enumerate(NAMES)
        for j, b in enumerate(NAMES[:i])
        if rng.random() < 0.15
    ]
    text = write_network(Network.of(load("allen"), facts), "json")
    return {**QUICK, "facts": text, "format": "json", "calculus": "allen", "algorithm": "minimal"}


def run(work, **limits):
    """What a coroutine gives that is called with a pool of one worker."""

    async def inside():
        pool = Pool(Context(Path("runs"), None, Limits(**limits)), 1, 30.0)
        try:
            return await work(pool)
        finally:
            await pool.end()

    return asyncio.run(inside())


@pytest.mark.parametrize("name", list(JOBS))
def test_every_job_is_there(name):
    assert callable(job(name))


def test_what_goes_wrong_inside_is_one_sentence_and_logged(caplog):
    status, body = answer("close", b"{}", Context())
    assert (status, json.loads(body)) == (
        500,
        {"error": "something went wrong inside the server; its log tells what."},
    )
    assert "KeyError" in caplog.text


def test_a_worker_answers_one_request_after_the_other():
    async def twice(pool):
        first = await pool.run("close", QUICK)
        (worker,) = pool._idle
        return first, await pool.run("parse", FACTS), pool._idle == [worker]

    (status, body), (again, parsed), same = run(twice)
    assert (status, again, same) == (200, 200, True)
    assert json.loads(body)["answer"] == "consistent"
    assert json.loads(parsed)["entities"][0] == "harbour"


def test_work_that_takes_too_long_is_ended_and_another_worker_takes_its_place():
    async def slow(pool):
        began = time.perf_counter()
        with pytest.raises(TooLong, match="no answer within 1 s"):
            await pool.run("close", hard(), 1.0)
        assert time.perf_counter() - began < 10
        assert not pool._idle
        return await pool.run("close", QUICK)

    assert run(slow)[0] == 200


def test_a_caller_that_is_cancelled_ends_the_work():
    async def cancelled(pool):
        task = asyncio.create_task(pool.run("close", hard()))
        async with asyncio.timeout(20):
            while not pool._busy:
                await asyncio.sleep(0.01)
        (worker,) = pool._busy
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return worker.process.returncode

    assert run(cancelled) == -9


def test_a_worker_that_dies_is_an_answer():
    async def dying(pool):
        task = asyncio.create_task(pool.run("close", hard()))
        async with asyncio.timeout(20):
            while not pool._busy:
                await asyncio.sleep(0.01)
        next(iter(pool._busy)).process.kill()
        return await task, await pool.run("close", QUICK)

    (status, _), (again, _) = run(dying)
    assert (status, again) == (500, 200)


def test_too_many_that_wait_are_refused():
    async def many(pool):
        pool.waiting = MOST_WAITING
        with pytest.raises(Busy, match="too many requests"):
            await pool.run("close", QUICK)

    run(many)


# -- by the server --


def workers_of(parent: int) -> dict[int, str]:
    """The workers that run below a process, by their numbers."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_text().split("\0")
            above = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if above == parent and "epignn.web.worker" in words:
            found[int(path.name)] = words[-2]
    return found


def searchers(parent: int) -> set[int]:
    """Those of them that search."""
    return {
        pid for pid, words in workers_of(parent).items() if '"nice": 10' in words and '"bounded": true' in words
    }


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A server, its process, and nobody else who asks it."""
    folder = tmp_path_factory.mktemp("workers")
    command = [sys.executable, "-m", "epignn", "serve", "--port", "0", "--root", str(folder / "runs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        address = process.stdout.readline().split()[4].rstrip("/")
        yield address, process.pid
        process.terminate()
        assert process.wait(20) == 0


def within(wanted, seconds: float = 20) -> None:
    """Wait until something is so."""
    until = time.perf_counter() + seconds
    while not wanted():
        assert time.perf_counter() < until
        time.sleep(0.05)


def search(address: str) -> None:
    """Ask for more than can be had, and go away after a while."""
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{address}/api/close", json=hard(), timeout=httpx.Timeout(30, read=3))


def test_a_long_search_holds_up_nobody(own):
    address, server = own
    thread = threading.Thread(target=search, args=[address])
    thread.start()
    with httpx.Client(base_url=address) as client:
        within(lambda: searchers(server))
        for _ in range(20):
            assert client.post("/api/close", json={"facts": HARBOUR}).status_code == 200
    assert thread.is_alive()
    thread.join()


def test_a_client_that_goes_away_ends_its_search(own):
    address, server = own
    search(address)
    within(lambda: not searchers(server))


def test_the_server_has_no_torch(own):
    _, server = own
    assert "libtorch" not in Path(f"/proc/{server}/maps").read_text()
