"""What endpoints work with: pools of workers and the training runs; and how a request has its work done."""

import asyncio
import json
from collections.abc import Coroutine
from types import MappingProxyType
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from epignn.web.errors import Refused
from epignn.web.limits import Context
from epignn.web.runs import Runs
from epignn.web.workers import Pool

GRACE = 0.3
"""Seconds that work may still take when its client has gone: to start another worker takes as long."""
SEARCHERS = MODELS = 2
NICE = 10
"""How much long work gives way to short."""
T = TypeVar("T")


class Gone(Refused):
    """The client has gone, and so has the work; nobody reads this."""

    status = 499


class Services:
    """All of it, for one server.

    Args:
        context: where things are, and limits.
        workers: processes for quick work.
    """

    def __init__(self, context: Context, workers: int) -> None:
        limits = context.limits
        self.context = context
        self.pools = MappingProxyType(
            {
                "quick": Pool(context, workers, limits.quick_seconds),
                "search": Pool(context, SEARCHERS, limits.seconds, NICE),
                "models": Pool(context, MODELS, 2 * limits.seconds, NICE, bounded=False),
            }
        )
        self.runs = Runs(context, self.pools["quick"], self.pools["search"])

    async def start(self) -> None:
        """Start the workers for quick work; others start when they are needed."""
        await self.pools["quick"].fill()

    async def end(self) -> None:
        """End all workers, and the runs that train."""
        await self.runs.end()
        for pool in self.pools.values():
            await pool.end()


def services(request: Request) -> Services:
    """Those of the server that a request came to."""
    found: Services = request.app.state.services
    return found


async def work(
    request: Request, pool: str, job: str, body: dict[str, Any], seconds: float | None = None
) -> Response:
    """The answer of a worker to a request; where the client goes away, the work ends."""
    status, found = await attended(request, services(request).pools[pool].run(job, body, seconds))
    return Response(found, status, media_type="application/json")


async def attended(request: Request, coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, as long as somebody waits for it.

    Raises:
        Gone: nobody does.
    """
    task, gone = asyncio.ensure_future(coroutine), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=GRACE)
        if not task.done():
            raise Gone("the client has gone.")
        return task.result()
    finally:
        gone.cancel()
        task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def parsed(response: Response) -> dict[str, Any]:
    """What a worker answered."""
    found: dict[str, Any] = json.loads(bytes(response.body))
    return found
