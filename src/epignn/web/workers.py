"""The server's side of its workers: pools of processes that work on requests, and are ended when they take long.

A request has a process of its own while it is worked on, so that a long search holds up nobody else. Where time is
up, or the client has gone, the process is killed, and another takes its place.
"""

import asyncio
import json
import logging
import sys
from typing import Any

from epignn.web.errors import INSIDE, Busy, TooLong
from epignn.web.limits import Context

MOST_WAITING = 200
"""Requests that wait for a worker; further ones are refused."""
PATIENCE = 30.0
"""Seconds that a request waits for a worker."""
log = logging.getLogger(__name__)


class Worker:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.source, self.target = process, process.stdout, process.stdin

    @classmethod
    async def start(cls, settings: str) -> "Worker":
        """Start one."""
        command = (sys.executable, "-m", "epignn.web.worker", settings)
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe))

    @property
    def alive(self) -> bool:
        """Whether it can work."""
        return self.process.returncode is None

    async def ask(self, job: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        """Have a piece of work done: the status and the JSON of the answer."""
        self.target.write(b"%s %f %d\n" % (job.encode(), seconds, len(body)) + body)
        await self.target.drain()
        status, length = (await self.source.readline()).split()
        return int(status), await self.source.readexactly(int(length))

    async def end(self) -> None:
        """End it, whatever it does."""
        if self.alive:
            self.process.kill()
        await self.process.wait()


class Pool:
    """Workers for one kind of work.

    Args:
        context: what they need to know of the server.
        count: how many there are at most; they are started when they are needed, or all at once by `fill`.
        seconds: the limit of a piece of work, unless it has another.
        nice: how much they give way to other processes.
        bounded: whether their memory is; torch asks for more than it uses.
    """

    def __init__(self, context: Context, count: int, seconds: float, nice: int = 0, bounded: bool = True) -> None:
        self.count, self.seconds, self.waiting = count, seconds, 0
        self._settings = json.dumps({"context": context.to_dict(), "nice": nice, "bounded": bounded})
        self._slots = asyncio.Semaphore(count)
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()

    async def fill(self) -> None:
        """Start all workers."""
        self._idle += [await Worker.start(self._settings) for _ in range(self.count - len(self._idle))]

    async def run(self, job: str, request: dict[str, Any], seconds: float | None = None) -> tuple[int, bytes]:
        """Have a piece of work done: the status and the JSON of the answer.

        A caller that is cancelled ends the work.

        Raises:
            Busy: too many wait, or nobody was free for long.
            TooLong: the work took longer than its limit.
        """
        if self.waiting >= MOST_WAITING:
            raise Busy("too many requests are waiting; try again in a moment.")
        self.waiting += 1
        try:
            async with asyncio.timeout(PATIENCE):
                await self._slots.acquire()
        except TimeoutError:
            raise Busy(f"all workers were busy for {PATIENCE:.0f} s; try again later.") from None
        finally:
            self.waiting -= 1
        try:
            return await self._work(job, json.dumps(request).encode(), seconds or self.seconds)
        finally:
            self._slots.release()

    async def _work(self, job: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        worker = await self._take()
        self._busy.add(worker)
        try:
            async with asyncio.timeout(seconds):
                answer = await worker.ask(job, body, seconds)
        except TimeoutError:
            raise TooLong(
                f"no answer within {seconds:g} s; ask for less, or raise the limit if there is one."
            ) from None
        except (OSError, ValueError, asyncio.IncompleteReadError):  # it has died: of memory, or of a signal
            log.exception("a worker ended during the job %s", job)
            return 500, json.dumps({"error": INSIDE}).encode()
        else:
            self._idle.append(worker)
            return answer
        finally:
            self._busy.discard(worker)
            if worker not in self._idle:
                await asyncio.shield(worker.end())

    async def _take(self) -> Worker:
        """A worker that is alive; the one that worked last, which has loaded the most."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
        return await Worker.start(self._settings)

    async def end(self) -> None:
        """End all workers."""
        for worker in (*self._idle, *self._busy):
            await worker.end()
