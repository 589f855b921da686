"""What workers are, and the one way to have jobs done by them.

A job is a function of a module and one plain argument: `job(argument, tell)`. What it gives, and what it writes,
depends on the argument alone, so that results are the same bits whoever does them and in whatever order. `tell`
takes plain values on how it goes, for whoever watches; nothing depends on it.
"""

import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from epignn.errors import EpignnError

A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Tell = Callable[[Any], None]
Arrays = Mapping[str, NDArray[Any]]
SHOWN = 5
"""Failures that a message tells in full."""


class Job(Protocol[A_contra, R_co]):
    """A function of a module."""

    def __call__(self, argument: A_contra, tell: Tell, /) -> R_co:
        """Do the job."""


@dataclass(frozen=True)
class Failure:
    """A job that was not done.

    Attributes:
        text: why, in a sentence.
        again: whether another try may help: the worker was killed or out of memory; a refusal comes again.
        trace: where it happened, if it is a fault of epignn.
        error: what was raised, if it is a refusal.
        number: of the job, from 0.
    """

    text: str
    again: bool = True
    trace: str = ""
    error: EpignnError | None = None
    number: int = -1


class JobsFailed(EpignnError):
    """Some jobs were not done; the message tells which, and why."""


class Fault(Exception):
    """A job met a fault of epignn; the text is the traceback in the worker."""


class Shared(Hashable, Protocol):
    """Arrays that all workers see, without a copy for each; the same ones have the same hash."""

    def open(self) -> Arrays:
        """The arrays, for reading."""


class Workers(Protocol):
    """Who does jobs. `with` ends them."""

    @property
    def count(self) -> int:
        """How many jobs go on at once, as far as known."""

    def outcomes(
        self, job: Job[A, R], numbered: Sequence[tuple[int, A]], tell: Tell
    ) -> Iterator[tuple[int, R | Failure]]:
        """What becomes of jobs, by their numbers, as they end."""

    def share(self, arrays: Arrays, folder: Path) -> Shared:
        """Let all workers see arrays; where that takes files, they go to the folder."""

    def __enter__(self) -> "Workers": ...

    def __exit__(self, *raised: object) -> None: ...


@dataclass
class Results(Generic[R]):
    """What jobs gave.

    Attributes:
        values: in the order of the jobs; None for those that failed.
        failures: of jobs that failed twice, or refused, in their order.
    """

    values: list[R | None]
    failures: list[Failure] = field(default_factory=list)

    def all(self, what: str = "jobs") -> list[R]:
        """The values, if every job was done.

        Raises:
            JobsFailed: some were not.
            Fault: one met a fault of epignn.
        """
        self.check(what)
        return [value for value in self.values if value is not None]

    def check(self, what: str = "jobs") -> None:
        """Raise what `all` raises."""
        if not self.failures:
            return
        if trace := next((failure.trace for failure in self.failures if failure.trace), ""):
            raise Fault(trace)
        if len(self.values) == 1:
            raise self.failures[0].error or JobsFailed(self.failures[0].text)
        told = [failure.text for failure in self.failures[:SHOWN]]
        if len(self.failures) > SHOWN:
            told.append(f"and {len(self.failures) - SHOWN} more.")
        raise JobsFailed(f"{len(self.failures)} of {len(self.values)} {what} failed: {' '.join(told)}")


def run(
    workers: Workers,
    job: Job[A, R],
    arguments: Iterable[A],
    report: Callable[[int, int], None] | None = None,
    tell: Tell = lambda told: None,
    take: Callable[[int, R], None] = lambda number, value: None,
) -> Results[R]:
    """Have jobs done; a job that fails is tried once more when all others have ended.

    Args:
        workers: who does them.
        job: a function of a module, which gives anything but None.
        arguments: one for each job.
        report: called with jobs done and jobs in all.
        tell: called with what jobs tell.
        take: called with the number and the result of each job, as it ends.
    """
    given = list(arguments)
    found: Results[R] = Results([None] * len(given))
    todo = list(enumerate(given))
    done = 0
    for last in (False, True):
        failed: list[tuple[int, A]] = []
        for number, outcome in workers.outcomes(job, todo, tell):
            if isinstance(outcome, Failure):
                if outcome.again and not last:
                    failed.append((number, given[number]))
                    continue
                found.failures.append(replace(outcome, number=number))
            else:
                found.values[number] = outcome
                take(number, outcome)
            done += 1
            if report:
                report(done, len(given))
        todo = sorted(failed, key=lambda one: one[0])
    found.failures.sort(key=lambda failure: failure.number)
    return found


def attempt(job: Job[A, R], argument: A, tell: Tell) -> R | Failure:
    """Do a job; what goes wrong becomes a failure."""
    try:
        return job(argument, tell)
    except EpignnError as error:
        return Failure(str(error), again=False, error=error)
    except Exception as error:
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            return Failure(
                "a job needs more memory than a worker may have: choose fewer workers, or set EPIGNN_WORKER_MB."
            )
        return Failure(f"{type(error).__name__}: {error}", trace=traceback.format_exc())


@dataclass(frozen=True, eq=False)
class InMemory:
    """Arrays that are where the work is done."""

    arrays: dict[str, NDArray[Any]]

    def open(self) -> Arrays:
        """The arrays."""
        return self.arrays


@dataclass(frozen=True)
class Mapped:
    """Arrays in files, which the processes of a machine map into their memory."""

    folder: Path
    names: tuple[str, ...]

    @classmethod
    def write(cls, arrays: Arrays, folder: Path) -> "Mapped":
        """Write arrays to a folder that is there."""
        from epignn.files import writing

        for name, array in arrays.items():
            with writing(folder / f"{name}.npy") as part, part.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        return cls(folder.resolve(), tuple(arrays))

    def open(self) -> Arrays:
        """The arrays; only what is read of them takes memory, once for all."""
        return {name: np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in self.names}
