"""The endpoints of training runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response, StreamingResponse

from epignn.web import shapes
from epignn.web.errors import Conflict
from epignn.web.experiments import OFFERS
from epignn.web.folders import known_run, trains
from epignn.web.services import services, work

router = APIRouter(prefix="/api")
Name = Annotated[str, Path(max_length=200)]
DISTIL_SECONDS = 600.0
STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}


@router.get("/experiments")
async def experiments() -> shapes.Experiments:
    """What can be trained by one click."""
    offers = [
        shapes.Experiment(
            name=name, title=offer.title, about=offer.about, seconds=offer.seconds, upload=not offer.what
        )
        for name, offer in OFFERS.items()
    ]
    return shapes.Experiments(experiments=offers)


@router.post("/runs")
async def begin(request: Request, body: shapes.Begin) -> shapes.Begun:
    """Begin a run, or go on with the same one."""
    return shapes.Begun(name=await services(request).runs.begin(body.model_dump()))


@router.get("/runs", response_model=shapes.Runs)
async def runs(request: Request) -> Response:
    """All runs."""
    return await work(request, "quick", "runs", {})


@router.get("/runs/{name}")
async def run(request: Request, name: Name) -> shapes.Run:
    """A run, epoch by epoch."""
    return shapes.Run.model_validate(await services(request).runs.told(name))


@router.get("/runs/{name}/events", response_class=StreamingResponse, responses=STREAM)
async def events(request: Request, name: Name) -> StreamingResponse:
    """What happens to a run, as server-sent events: every epoch, those there are first, and at last its state."""
    found = services(request)
    known_run(found.context.root, name)
    return StreamingResponse(found.runs.events(name), media_type="text/event-stream")


@router.post("/runs/{name}/stop")
async def stop(request: Request, name: Name) -> shapes.RunState:
    """Stop a run; it is kept, and can be resumed."""
    await services(request).runs.stop(name)
    return shapes.RunState(state="stopped")


@router.post("/runs/{name}/resume")
async def resume(request: Request, name: Name) -> shapes.RunState:
    """Go on with a run that was stopped."""
    await services(request).runs.resume(name)
    return shapes.RunState(state="training")


@router.post("/runs/{name}/distil", response_model=shapes.DistilledCalculus | shapes.Rules)
async def distil(request: Request, name: Name) -> Response:
    """Read a calculus, or rules, off the weights of a run; they are kept beside it, and answer from then on."""
    if trains(known_run(services(request).context.root, name)):
        raise Conflict(f"{name} trains; stop it first, or wait for its end.")
    return await work(request, "models", "distil", {"name": name}, DISTIL_SECONDS)
