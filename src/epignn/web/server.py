"""The server itself: a socket, a log, and an orderly end."""

import errno
import logging
import signal
import socket
import sys
from collections.abc import Callable

import uvicorn

from epignn.errors import BadArgument
from epignn.web.app import create_app
from epignn.web.limits import Context

END_SECONDS = 3
"""Requests that are being answered when the server ends have so long to be."""
KEEP_ALIVE = 30
BACKLOG = 512


def serve(context: Context, host: str, port: int, workers: int, ready: Callable[[str], None]) -> None:
    """Serve until a signal ends it.

    Args:
        context: where runs and records are, and limits.
        host: the address to listen at.
        port: the port; 0 takes a free one.
        workers: processes for quick work.
        ready: called with the address of the page once the server listens.

    Raises:
        BadArgument: it cannot listen there.
    """
    signal.signal(
        signal.SIGTERM, lambda number, frame: sys.exit(0)
    )  # once all has ended, the server raises it again
    with _listening(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listener.getsockname()[1]}/"
        config = uvicorn.Config(
            create_app(context, host, workers),
            log_level=logging.WARNING,
            access_log=False,
            lifespan="on",
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=END_SECONDS,
        )
        _Server(config, lambda: ready(address)).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that tells when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and tell."""
        await super().startup(sockets)
        if self.started:
            self.ready()


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once only if it says TCP
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise BadArgument(f"port {port} of {host} is in use; choose another with --port.") from error
        raise BadArgument(f"cannot listen at {host}, port {port}: {error}.") from error
    return listener
