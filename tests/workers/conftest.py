"""Ray clusters of several nodes on this machine; only `make test-cluster` starts them."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STORE = 80 << 20
"""Bytes of a node's object store, the least that Ray takes."""
TRIES = 5
"""How often a node is started before it is a failure."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("EPIGNN_CLUSTER"):
        for item in items:
            if item.get_closest_marker("cluster"):
                item.add_marker(pytest.mark.skip(reason="EPIGNN_CLUSTER is not set: make test-cluster"))


@contextmanager
def nodes(count: int) -> Iterator[Any]:
    """A cluster of so many nodes, each of one core, that see this folder's modules."""
    from ray.cluster_utils import Cluster

    made = Cluster()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("RAY_worker_niceness", "0")  # on a busy machine, workers that give way to all others starve
        try:
            while len(made.list_all_nodes()) < count:
                _add(made)
            yield made
        finally:
            made.shutdown()


def _add(cluster: Any) -> None:
    """Start a node; on a busy machine Ray gives up too early."""
    for left in reversed(range(TRIES)):
        try:
            cluster.add_node(num_cpus=1, object_store_memory=STORE, include_dashboard=False)
        except Exception:
            if not left:
                raise
        else:
            return


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A cluster of two nodes, which tests leave as it is."""
    with nodes(2) as made:
        yield made


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something, but not for ever."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def kill(process: int) -> None:
    """As the system does where memory runs out."""
    os.kill(process, signal.SIGKILL)
