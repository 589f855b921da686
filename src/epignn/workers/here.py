"""Jobs done in this process, one after the other."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, final

from epignn.workers.api import A, Arrays, Failure, InMemory, Job, R, Tell, attempt


@final
class Here:
    """This process."""

    count = 1

    def outcomes(
        self, job: Job[A, R], numbered: Sequence[tuple[int, A]], tell: Tell
    ) -> Iterator[tuple[int, R | Failure]]:
        """What becomes of jobs; see `Workers`."""
        for number, argument in numbered:
            yield number, attempt(job, argument, tell)

    def share(self, arrays: Arrays, folder: Path) -> InMemory:
        """The arrays themselves."""
        return InMemory(dict(arrays))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """There is nothing to end."""
