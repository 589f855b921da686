"""What every request passes before it is answered, and the headers that every answer has.

A page of another site, open in the same browser, must not use this server. It reaches it by a name of its own that
leads here (so `Host` is checked), or by a form or a script that posts here (so `Origin` is checked). A body is read
whole, and only as far as it may reach, before anything else looks at it.
"""

import asyncio
import json
from collections.abc import Mapping
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from epignn.web.errors import Refused, TooLong, TooMuch, told

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
SAFE = ("GET", "HEAD")
BODY_SECONDS = 20.0
"""A body has to arrive within so many seconds."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = MappingProxyType(
    {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "cross-origin-resource-policy": "same-origin",
    }
)


class Guard:
    """An ASGI application around another.

    Args:
        app: what answers.
        host: the address that the server listens at; clients may call it so.
        most: bytes of a body.
        larger: paths whose bodies may have more, and how many.
    """

    def __init__(self, app: ASGIApp, host: str, most: int, larger: Mapping[str, int]) -> None:
        self.app, self.most, self.larger = app, most, larger
        self.hosts = {*LOOPBACK, f"[{host}]" if ":" in host else host.casefold()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        guarded = _with_headers(send, "no-store" if scope["path"].startswith("/api/") else "no-cache")
        try:
            self._check(scope["method"], headers)
            body = await _body(headers, receive, self.larger.get(scope["path"], self.most))
        except Refused as error:
            return await _refuse(error, guarded)
        if body is None:
            return None  # the client has gone
        await self.app(scope, _replayed(body, receive), guarded)

    def _check(self, method: str, headers: dict[str, str]) -> None:
        """Refuse requests that come by another name, or from a page of another site."""
        host = headers.get("host", "").casefold()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self.hosts:
            raise Refused(f"this server is not called {name[:80]!r}; call it {', '.join(sorted(self.hosts))}.")
        origin = headers.get("origin")
        if method not in SAFE and origin is not None and origin.casefold() != f"http://{host}":
            raise Refused(f"a page of {origin[:80]} asks for this; only this server's own page may.")


async def _body(headers: dict[str, str], receive: Receive, most: int) -> bytes | None:
    """The whole body; None where the client has gone before its end.

    Raises:
        TooMuch: it has more bytes than it may.
        TooLong: it does not arrive in time.
    """
    too_much = TooMuch(f"a request may have {most:,} bytes; this one has more.")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_much
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    raise too_much
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise TooLong(f"the body did not arrive within {BODY_SECONDS:.0f} s.") from None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read before, then what else arrives."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send, cache: str) -> Send:
    """Sends with the headers that every answer has."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {key for key, _ in message["headers"]}
            own = {"cache-control": cache, **HEADERS}
            more = [(key.encode(), value.encode()) for key, value in own.items() if key.encode() not in there]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return guarded


async def _refuse(error: Refused, send: Send) -> None:
    status, found = told(error)
    body = json.dumps(found).encode()
    # The rest of a body that is not read would be taken for the next request.
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
