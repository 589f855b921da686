"""A real server for the tests of the API, and a client that asks it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from epignn.web import asking, training
from epignn.web.shapes import Error
from tests.web.browser import serving

RESULTS = Path(__file__).parents[2] / "results"
HARBOUR = (RESULTS.parent / "examples" / "harbour.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that keeps its runs in a folder of its own."""
    root = tmp_path_factory.mktemp("api") / "runs"
    root.mkdir()
    with serving(root, "--results", str(RESULTS)) as address:
        yield address


@pytest.fixture
def api(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=120) as client:
        yield client


def shape_of(path: str) -> Any:
    """What an endpoint says that it answers with."""
    routes = [*asking.router.routes, *training.router.routes]
    (found,) = [route for route in routes if "POST" in route.methods and route.path_regex.fullmatch(path)]
    return found.response_model


@pytest.fixture
def post(api):
    """`post("close", facts=…)` gives the answer, which has to have this status."""

    def ask(path: str, status: int = 200, **body):
        answer = api.post(f"/api/{path}", json=body)
        assert answer.status_code == status, answer.text
        shape = Error if status != 200 else shape_of(f"/api/{path}")
        TypeAdapter(shape).validate_json(answer.content, strict=True)
        return answer.json()

    return ask
