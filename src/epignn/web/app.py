"""The application: all endpoints, the page, and what is answered when something goes wrong."""

import html
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from epignn.errors import EpignnError
from epignn.version import __version__
from epignn.web import asking, shapes, training
from epignn.web.errors import INSIDE, Busy, Conflict, NotThere, TooLong, TooMuch, told
from epignn.web.guard import Guard
from epignn.web.limits import Context
from epignn.web.services import Services

STATIC = Path(__file__).parent / "static"
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": shapes.Error, "description": text}
    for status, text in {
        400: "What was sent cannot be read or answered.",
        422: "A field is missing, unknown, or not of its type.",
        500: "Something went wrong inside the server.",
        **{kind.status: kind.__doc__ or "" for kind in (NotThere, TooLong, Conflict, TooMuch, Busy)},
    }.items()
}


def create_app(context: Context, host: str = "127.0.0.1", workers: int = 2) -> Guard:
    """The whole server as an ASGI application.

    Args:
        context: where runs and records are, and limits.
        host: the address that it listens at.
        workers: processes for quick work.
    """
    work = Services(context, workers)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await work.start()
        try:
            yield
        finally:
            await work.end()

    # FastAPI's own pages of documentation load scripts from other hosts.
    app = FastAPI(title="epignn", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.services = work
    for router in (asking.router, training.router):
        app.include_router(router, responses=REFUSALS)
    app.add_exception_handler(EpignnError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _inside)
    app.add_api_route("/docs", _docs, include_in_schema=False)
    app.mount("/", StaticFiles(directory=STATIC, html=True, check_dir=False))
    return Guard(app, host, context.limits.bytes, {"/api/runs": context.limits.upload})


# -- what goes wrong --


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, EpignnError)
    status, body = told(error)
    return JSONResponse(body, status)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Say of the first field that is wrong what is wrong with it."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return JSONResponse({"error": f"{place[:200]}: {first['msg']}."}, 422)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": f"{error.detail}."}, error.status_code, error.headers)


async def _inside(request: Request, error: Exception) -> JSONResponse:
    """Say no more than that; the server's log has the rest."""
    return JSONResponse({"error": INSIDE}, 500)


# -- what there is --


async def _docs(request: Request) -> HTMLResponse:
    """A plain page that lists the endpoints."""
    rows = [
        f"<tr><td><code>{method.upper()} {html.escape(path)}</code><td>{html.escape(about['description'])}"
        for path, methods in request.app.openapi()["paths"].items()
        for method, about in methods.items()
    ]
    title = "<!doctype html><html lang=en><title>The API of epignn</title><h1>The API of epignn</h1>"
    link = "<p>Requests and answers, typed: <a href=/openapi.json>openapi.json</a>."
    return HTMLResponse(f"{title}{link}<table>{''.join(rows)}</table>")


def openapi(app: Guard) -> str:
    """What /openapi.json says."""
    assert isinstance(app.app, FastAPI)
    return json.dumps(app.app.openapi())
