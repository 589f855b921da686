"""Load: eight threads and eight processes on one model and one network, and closures in memory that does not grow.

A few seconds here; `make fuzz` sets EPIGNN_FUZZ_SECONDS, and closes networks for so long.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.incremental import Incremental
from epignn.calculus.solve.search import minimal_labels, solve
from epignn.calculus.solve.sparse import partial
from epignn.reason.exact import Exact
from tests.conftest import random_network

EIGHT = 8
SECONDS = float(os.environ.get("EPIGNN_FUZZ_SECONDS", "3"))
GROWTH = 16 << 20
"""Bytes by which a process may grow after its first rounds: what an allocator keeps differs from run to run."""


def together(work):
    """What eight threads get that do the same at once."""
    with ThreadPoolExecutor(EIGHT) as pool:
        return list(pool.map(lambda _: work(), range(EIGHT)))


def asked(network: Network) -> list[object]:
    """Everything that may be asked of a network."""
    found = [answer(network).matrix().tolist() for answer in (close, partial, solve, minimal_labels)]
    kept = Incremental.over(network)
    kept.retract(*(network.fact(0).head, int(network.masks[0]), network.fact(0).tail))
    return [*found, kept.matrix().tolist(), str(Exact(network.calculus).explain(network, "0", "5").support)]


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_eight_threads_on_one_network(name):
    rng = np.random.default_rng(0)
    networks = (random_network(load(name), rng, 12, 0.5, 5) for _ in range(1000))
    network = next(one for one in networks if close(one).consistent and len(one) > 5)
    expected = asked(network)
    assert together(lambda: asked(network)) == [expected] * EIGHT


def test_eight_threads_on_one_model():
    """Each with two threads of its own in the kernels: the same bits as one after the other."""
    import torch

    from epignn import Neural
    from epignn.tasks.star import generated

    model, data = Neural.load("rcc8"), generated(load("rcc8"), 5, 3, 4, 0)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        expected = model.probabilities(data)
        for found in together(lambda: model.probabilities(data)):
            np.testing.assert_array_equal(found, expected)
    finally:
        torch.set_num_threads(before)


def test_eight_processes_on_one_network(tmp_path):
    path = tmp_path / "facts.txt"
    path.write_text(". ".join(f"ntpp(n{i}, n{i + 1})" for i in range(50)))
    command = [sys.executable, "-m", "epignn", "close", str(path), "--out", str(tmp_path / "out.csv"), "--json"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(EIGHT)]
    said = {process.communicate(timeout=120)[0].partition('"closed"')[2] for process in running}
    assert [process.returncode for process in running] == [0] * EIGHT
    assert len(said) == 1
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["facts.txt", "out.csv"]
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 51 * 50 // 2


@pytest.mark.skipif("EPIGNN_FUZZ_SECONDS" not in os.environ, reason="each process loads torch: for make fuzz")
def test_eight_processes_on_one_model():
    command = [sys.executable, "-m", "epignn", "ask", "ec(a, b). ntpp(b, c). tppi(a, d). po(d, c)", "a", "c"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(EIGHT)]
    said = {process.communicate(timeout=600)[0] for process in running}
    assert [process.returncode for process in running] == [0] * EIGHT
    assert len(said) == 1


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="tells the memory of a process")
def test_memory_does_not_grow():
    rng, calculi = np.random.default_rng(1), [load(name) for name in ("rcc8", "allen")]

    def once() -> None:
        for calculus in calculi:
            network = random_network(calculus, rng, 14, 0.4, 4)
            for answer in (close, partial, solve):
                answer(network).matrix()
            kept = Incremental.over(network)
            kept.retract(network.fact(0).head, int(network.masks[0]), network.fact(0).tail)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(20):
        once()
    before, end = resident(), time.process_time() + SECONDS
    while time.process_time() < end:
        once()
    assert resident() - before < GROWTH
