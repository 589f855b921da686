"""Who does the work: the one place where `--workers` and `--ray-address` are read."""

import os
import re

from epignn.errors import BadArgument
from epignn.workers.api import Workers
from epignn.workers.here import Here
from epignn.workers.processes import Processes

MOST = 1024
"""Processes of one machine."""


def workers_of(workers: str = "1", ray_address: str | None = None) -> Workers:
    """Workers by what a user says.

    Args:
        workers: `1` is this process, `N` are so many processes of this machine, `auto` is one for each core, `ray`
            is a Ray cluster: the one that is running, or one of this machine alone; `ray://HOST:PORT` is a cluster
            that is reached from outside.
        ray_address: of a Ray cluster, `auto` for the one that this machine belongs to.

    Raises:
        BadArgument: it is none of these, or Ray is asked for and not installed or not reached.
    """
    if is_cluster(workers, ray_address):
        if ray_address is not None and workers not in ("1", "ray"):
            raise BadArgument(f"--ray-address asks for a cluster and --workers {workers} does not: leave out one.")
        from epignn.workers.ray import RayWorkers

        return RayWorkers(ray_address or (workers if workers != "ray" else None))
    if workers == "auto":
        workers = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    if not re.fullmatch("[0-9]{1,6}", workers) or not 1 <= int(workers) <= MOST:
        raise BadArgument(
            f"--workers takes a number of processes from 1 to {MOST}, auto, ray, or ray://HOST:PORT, "
            f"not {workers[:80]!r}."
        )
    return Here() if int(workers) == 1 else Processes(int(workers))


def is_cluster(workers: str, ray_address: str | None) -> bool:
    """Whether a user asks for a Ray cluster."""
    return ray_address is not None or workers == "ray" or workers.startswith("ray://")
