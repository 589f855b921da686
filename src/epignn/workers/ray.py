"""Jobs done on a Ray cluster.

Ray schedules, moves arguments and results, and keeps shared arrays in its object store; here it is decided what a
failure is. Every job tells the versions that it was given with: a node with others refuses it, because its results
would not be the same bits.
"""

import os
import platform
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, final

from epignn.errors import BadArgument
from epignn.extras import optional
from epignn.version import __version__
from epignn.workers.api import A, Arrays, Failure, Job, R, Tell, attempt
from epignn.workers.bounds import ONE_THREAD, bound, megabytes_of

SECONDS = 10.0
"""How long an address may take to answer."""
AHEAD = 2
"""Jobs that are given to the cluster for each of its cores, so that none waits for the next."""
PASSED_ON = "EPIGNN_"
"""Variables of these names are the same on all nodes as here."""


@dataclass(frozen=True)
class Situation:
    """What must be the same wherever a job is done."""

    versions: dict[str, str]
    variables: dict[str, str]
    folder: str

    @classmethod
    def here(cls) -> "Situation":
        """That of this process."""
        variables = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
        return cls(_versions(), variables, str(Path.cwd()))

    def take(self) -> Failure | None:
        """Make it the situation of this process, on a node of the cluster; tells what is in the way."""
        node, here = platform.node(), _versions()
        others = [
            f"{name} {here[name]} instead of {self.versions[name]}"
            for name in here
            if here[name] != self.versions[name]
        ]
        if others:
            return Failure(f"the node {node} has {', '.join(others)}: install the same on all nodes.", again=False)
        os.environ.update({**self.variables, **ONE_THREAD})
        try:
            os.chdir(self.folder)
        except OSError:
            return Failure(
                f"the node {node} does not see the folder {self.folder}: start in a folder that all nodes share.",
                again=False,
            )
        bound(megabytes_of(os.cpu_count() or 1))
        return None


@cache
def _versions() -> dict[str, str]:
    """Versions on which the bits of results depend."""
    found = {"epignn": __version__, "python": ".".join(platform.python_version_tuple()[:2])}
    for package in ("numpy", "torch"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


def _work(job: Job[A, R], argument: A, given: Situation) -> R | Failure:
    """Do a job on a node of the cluster."""
    refusal = given.take()
    return attempt(job, argument, lambda text: None) if refusal is None else refusal


@dataclass(frozen=True)
class InStore:
    """Arrays in the object store, one copy a node."""

    reference: Any

    def open(self) -> Arrays:
        """The arrays, for reading."""
        found: Arrays = optional("ray", "a cluster").get(self.reference)
        return found


@final
class RayWorkers:
    """A Ray cluster.

    Args:
        address: `HOST:PORT`, `ray://HOST:PORT`, or `auto` for the cluster of this machine; None also starts one
            where there is none.
    """

    def __init__(self, address: str | None = None) -> None:
        ray = optional("ray", "a cluster")
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            _connect(ray, address)
        self._do = ray.remote(num_cpus=1, max_retries=0)(_work)

    @property
    def count(self) -> int:
        """Cores of the cluster, as it is now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def outcomes(
        self, job: Job[A, R], numbered: Sequence[tuple[int, A]], tell: Tell
    ) -> Iterator[tuple[int, R | Failure]]:
        """What becomes of jobs; see `Workers`. What they tell stays on their nodes."""
        waiting = deque(numbered)
        running: dict[Any, int] = {}
        given = self._ray.put(Situation.here())
        while waiting or running:
            room = AHEAD * self.count - len(running)
            for _ in range(min(len(waiting), room)):
                number, argument = waiting.popleft()
                running[self._do.remote(job, argument, given)] = number
            ready, _ = self._ray.wait(list(running), num_returns=1, timeout=SECONDS)
            for reference in ready:
                yield running.pop(reference), self._outcome(reference)

    def _outcome(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:  # before the job itself began
            cause = error.cause if isinstance(error.cause, BaseException) else error
            if isinstance(cause, ImportError):
                return Failure(
                    f"a node of the cluster cannot load the job ({cause}): install epignn {__version__} with the "
                    "same extras on all nodes.",
                    again=False,
                )
            return Failure(f"{type(cause).__name__}: {cause}", trace=str(error))
        except errors.RayError as error:  # a worker or a node died, or what it gave is lost
            told = str(error).strip().partition("\n")[0]
            return Failure(f"a worker ended in the middle of a job ({type(error).__name__}: {told[:200]}).")

    def share(self, arrays: Arrays, folder: Path) -> InStore:
        """The object store of the cluster."""
        return InStore(self._ray.put(dict(arrays)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """Leave the cluster, unless the caller had joined it before."""
        if self._ours:
            self._ray.shutdown()


def _connect(ray: Any, address: str | None) -> None:
    """Join a cluster.

    Raises:
        BadArgument: it cannot be reached, or has other versions.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address is not None and address != "auto":
        _answers(address)
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    alone = {"include_dashboard": False} if address is None else {}
    try:
        ray.init(address=address, **quiet, **alone)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        told = " ".join(str(error).split())[:300]
        if "ersion mismatch" in told:
            raise BadArgument(
                f"the Ray cluster has other versions of Ray or Python than this machine: {told}"
            ) from error
        where = address or os.environ.get("RAY_ADDRESS") or "this machine"
        raise BadArgument(f"no Ray cluster is reached at {where}: {told}") from error


def _answers(address: str) -> None:
    """Ask for an address whether somebody listens there, which Ray itself takes minutes to tell."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        raise BadArgument(f"{address!r} is no address of a Ray cluster: write HOST:PORT, ray://HOST:PORT, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise BadArgument(
            f"no Ray cluster is reached at {address}: {reason}. Check the address, and that the cluster is up "
            "(`ray status` there)."
        ) from error
