"""The endpoints that answer questions: about calculi, facts, worlds, models and results."""

import base64
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import FileResponse, Response

from epignn.kernels import native
from epignn.version import __version__
from epignn.web import shapes
from epignn.web.errors import NotThere
from epignn.web.example_files import examples
from epignn.web.services import parsed, services, work

router = APIRouter(prefix="/api")
SLOW = ("search", "minimal")
"""Algorithms that may take long."""
PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
SHOWN: dict[int | str, dict[str, Any]] = {200: {"content": {kind: {} for kind in PICTURES.values()}}}
UPLOAD = {
    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}


@router.get("/info")
async def info(request: Request) -> shapes.Info:
    """What the server is and has."""
    context = services(request).context
    limits = context.limits
    bounds = shapes.Bounds(
        bytes=limits.bytes,
        upload=limits.upload,
        entities=limits.entities,
        facts=limits.facts,
        seconds=limits.seconds,
    )
    kernels = "compiled" if native() else "plain"
    return shapes.Info(
        version=__version__, kernels=kernels, limits=bounds, results=context.results is not None, runs=True
    )


# -- calculi and examples --


@router.get("/calculi", response_model=shapes.Calculi)
async def calculi(request: Request) -> Response:
    """The shipped calculi."""
    return await work(request, "quick", "calculi", {})


@router.get("/calculi/{name}", response_model=shapes.CalculusTables)
async def calculus(request: Request, name: str) -> Response:
    """The tables of a shipped calculus."""
    return await work(request, "quick", "calculus", {"name": name})


@router.post("/calculus", response_model=shapes.CalculusTables | shapes.Rules)
async def own(request: Request, body: shapes.Toml) -> Response:
    """The tables of a calculus of your own, with the laws that it obeys; or your rules."""
    return await work(request, "quick", "own", body.model_dump())


@router.get("/examples")
async def all_examples() -> shapes.Examples:
    """Facts and graphs to begin with."""
    return shapes.Examples.model_validate(examples())


# -- facts --


@router.post("/parse", response_model=shapes.Parsed)
async def parse(request: Request, body: shapes.Facts) -> Response:
    """What facts say, and where each stands."""
    return await work(request, "quick", "parse", body.model_dump())


@router.post("/files", response_model=shapes.Parsed, openapi_extra=UPLOAD)
async def files(request: Request, name: Annotated[str, Query(max_length=255)]) -> Response:
    """The same of a file, whose name tells the format: .csp, .json, .csv, anything else is facts; also gzipped."""
    data = base64.b64encode(await request.body()).decode("ascii")
    return await work(request, "quick", "file", {"name": name, "data": data})


@router.post("/export", response_model=shapes.Exported)
async def export(request: Request, body: shapes.Export) -> Response:
    """Facts in another format."""
    return await work(request, "quick", "export", body.model_dump(by_alias=True))


@router.post("/close", response_model=shapes.Closed, response_model_exclude_unset=True)
async def close(request: Request, body: shapes.Close) -> Response:
    """What follows from facts, or which of them clash."""
    pool = "search" if body.algorithm in SLOW else "quick"
    return await work(request, pool, "close", body.model_dump())


@router.post("/ask", response_model=shapes.Answers)
async def ask(request: Request, body: shapes.Ask) -> Response:
    """What may hold of a pair, by all who can tell."""
    found = await work(request, "quick", "ask_exact", body.model_dump())
    model = parsed(found).get("ask")
    return found if model is None else await work(request, "models", "ask", {**body.model_dump(), "model": model})


@router.post("/explain", response_model=shapes.Explanation)
async def explain(request: Request, body: shapes.Explain) -> Response:
    """An answer, and why."""
    if body.by == "exact":
        return await work(request, "quick", "explain_exact", body.model_dump())
    return await work(request, "models", "explain", body.model_dump())


@router.post("/entails", response_model=shapes.Entailments)
async def entails(request: Request, body: shapes.Entails) -> Response:
    """Whether facts follow from others, by exact search."""
    most = services(request).context.limits.seconds
    return await work(request, "search", "entails", body.model_dump(), min(body.seconds or most, most))


@router.post("/realise", response_model=shapes.Realisation)
async def realise(request: Request, body: shapes.Realise) -> Response:
    """A concrete world in which facts hold."""
    return await work(request, "search", "realise", body.model_dump())


@router.post("/broken", response_model=shapes.BrokenFacts)
async def broken(request: Request, body: shapes.Broken) -> Response:
    """Which facts do not hold in a world."""
    return await work(request, "quick", "broken", body.model_dump())


# -- models --


@router.get("/models", response_model=shapes.Models)
async def models(request: Request) -> Response:
    """The trained models: shipped ones, and runs that have weights."""
    return await work(request, "quick", "models", {})


@router.post("/links", response_model=shapes.LinkAnswers)
async def links(request: Request, body: shapes.Links) -> Response:
    """Who is the tail of (head, relation, ?)."""
    return await work(request, "models", "links", body.model_dump())


@router.post("/links/graph", response_model=shapes.Graph)
async def graph(request: Request, body: shapes.GraphText) -> Response:
    """What a graph has."""
    return await work(request, "quick", "graph", body.model_dump())


# -- results --


@router.get("/results", response_model=shapes.Suites)
async def results(request: Request) -> Response:
    """The tables of which something is recorded."""
    return await work(request, "quick", "results", {})


@router.get("/results/{suite}", response_model=shapes.Table)
async def table(request: Request, suite: str) -> Response:
    """A table, and the records that it comes from."""
    return await work(request, "quick", "table", {"suite": suite})


@router.get("/results/{suite}/pictures/{file}", response_class=FileResponse, responses=SHOWN)
async def picture(request: Request, suite: str, file: str) -> FileResponse:
    """A picture of a table."""
    found = parsed(await work(request, "quick", "table", {"suite": suite}))
    folder = services(request).context.results
    if folder is None or file not in found.get("pictures", ()):
        raise NotThere(f"there is no picture {file[:80]!r} of {suite[:80]!r}.")
    path: Path = folder / suite / file
    return FileResponse(path, media_type=PICTURES[path.suffix])
