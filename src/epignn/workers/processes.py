"""Jobs done by processes of this machine.

A process has one job at a time, and a thread here that waits for it; so it is known which job a process was at when
it died. The server's workers (`epignn.web.workers`) are another thing: they take requests of strangers, as JSON and
from a fixed list, and are ended by the clock.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, final

from epignn.workers.api import A, Arrays, Failure, Job, Mapped, R, Tell
from epignn.workers.bounds import ONE_THREAD, megabytes_of
from epignn.workers.messages import package_of, receive, send
from epignn.workers.process import GRACE

START = "from epignn.workers.process import main; main()"


class _Process:
    """One worker; started when it is first needed, and again where it has died."""

    def __init__(self, megabytes: int) -> None:
        self._megabytes = megabytes
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False
        self._working, self._starting = threading.Lock(), threading.Lock()

    def work(self, job: object, argument: object, tell: Tell) -> Any:
        """Have a job done.

        Whatever goes wrong is a failure of the job: what were raised in the thread that waits for it, nobody would
        hear of.
        """
        process = None
        with self._working:
            try:
                process = self._alive()
                return _asked(process, job, argument, tell)
            except (EOFError, OSError) as error:
                return Failure(_how(process, error))
            except Exception as error:  # what cannot be sent, or read
                if process is not None:
                    _ended(process)
                return Failure(str(error) or type(error).__name__, again=False, trace=traceback.format_exc())

    def _alive(self) -> "subprocess.Popen[bytes]":
        with self._starting:
            if self._over:
                raise EOFError
            if self._process is None or self._process.poll() is not None:
                command = [sys.executable, "-c", START, str(self._megabytes), str(os.getpid())]
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env={**os.environ, **ONE_THREAD})
            return self._process

    def end(self) -> None:
        """End it, whatever it does, and start none again."""
        with self._starting:
            self._over, process = True, self._process
        if process is not None:
            _ended(process)


def _asked(process: "subprocess.Popen[bytes]", job: object, argument: object, tell: Tell) -> Any:
    """What a process gives for a job."""
    package = package_of(job)
    assert process.stdin is not None and process.stdout is not None
    send(process.stdin, package)
    send(process.stdin, (job, argument), package)
    while True:
        ended, told = receive(process.stdout, package)
        if ended:
            return told
        tell(told)


def _how(process: "subprocess.Popen[bytes] | None", error: Exception) -> str:
    """Why a job has no answer: its process has died, or none could be started."""
    if process is None:
        return f"no worker can be started: {error}." if str(error) else "the workers were ended."
    code = _ended(process)
    known = -code in set(signal.Signals)
    name = signal.Signals(-code).name if known else f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"a worker ended in the middle of a job ({name})."


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """End a process, whatever it does; gives its exit code."""
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what it did not read
            pipe.close()  # type: ignore[union-attr]
    return process.returncode


@final
class Processes:
    """Processes of this machine.

    Args:
        count: how many; each has one thread, and its share of the memory.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._processes = [_Process(megabytes_of(count)) for _ in range(count)]

    def outcomes(
        self, job: Job[A, R], numbered: Sequence[tuple[int, A]], tell: Tell
    ) -> Iterator[tuple[int, R | Failure]]:
        """What becomes of jobs; see `Workers`."""
        waiting: queue.SimpleQueue[tuple[int, A]] = queue.SimpleQueue()
        found: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        for one in numbered:
            waiting.put(one)

        def follow(process: _Process) -> None:
            with suppress(queue.Empty):
                while True:
                    number, argument = waiting.get_nowait()
                    found.put((number, process.work(job, argument, lambda text: found.put((-1, text)))))

        for process in self._processes[: len(numbered)]:
            threading.Thread(target=follow, args=(process,), daemon=True).start()
        left = len(numbered)
        try:
            while left:
                number, outcome = found.get()
                if number < 0:
                    tell(outcome)
                    continue
                left -= 1
                yield number, outcome
        finally:  # whoever asked wants no more
            with suppress(queue.Empty):
                while True:
                    waiting.get_nowait()

    def share(self, arrays: Arrays, folder: Path) -> Mapped:
        """Files that every process maps."""
        return Mapped.write(arrays, folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """End all processes, also in the middle of their jobs."""
        for process in self._processes:
            process.end()
