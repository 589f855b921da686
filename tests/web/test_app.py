"""The whole API: every endpoint by what its schema allows, and the examples and the page that come with it."""

import json

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from epignn.web.app import STATIC, create_app, openapi
from epignn.web.limits import Context
from tests.conftest import REALISED
from tests.web.conftest import RESULTS

SKIPPED = ("/api/runs", "/api/runs/{name}/events")
"""Would train, or have no end; the tests of runs have them."""
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_dict(json.loads(openapi(create_app(Context()))))


@pytest.mark.filterwarnings("ignore")
@schema.parametrize()
@hypothesis.settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
def test_every_endpoint_answers_as_its_schema_says(case, server):
    if case.operation.path in SKIPPED and case.method != "GET":
        return
    case.call_and_validate(base_url=server, checks=CHECKS, timeout=30)


def test_every_endpoint_of_the_contract_is_there():
    paths = json.loads(openapi(create_app(Context())))["paths"]
    assert {(method, path) for path, methods in paths.items() for method in methods} == {
        *(
            ("get", f"/api/{path}")
            for path in ("info", "calculi", "calculi/{name}", "examples", "models", "experiments")
        ),
        *(("get", f"/api/{path}") for path in ("runs", "runs/{name}", "runs/{name}/events", "results")),
        *(("get", f"/api/{path}") for path in ("results/{suite}", "results/{suite}/pictures/{file}")),
        *(("post", f"/api/{path}") for path in ("calculus", "parse", "files", "export", "close", "ask", "explain")),
        *(("post", f"/api/{path}") for path in ("entails", "realise", "broken", "links", "links/graph", "runs")),
        *(("post", f"/api/runs/{{name}}/{what}") for what in ("stop", "resume", "distil")),
    }


def test_the_page_is_small():
    """All that a browser ever loads of it, unpacked."""
    assert sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file()) < 1_500_000


def test_the_list_of_endpoints_has_them_all(api):
    page = api.get("/docs").text
    assert "<code>POST /api/close</code>" in page
    assert "://" not in page


def test_examples_have_an_answer(api, post):
    found = api.get("/api/examples").json()
    assert len(found["examples"]) >= 6
    for one in found["examples"]:
        facts = {"facts": one["facts"], "calculus": one["calculus"]}
        closed = post("close", **facts, query=[one["head"], one["tail"]])
        if one["name"] == "clash":
            assert not closed["consistent"]
        else:
            assert len(closed["query"]["relations"]) == 1, one["name"]
    for one in found["graphs"]:
        entities = post("links/graph", triples=one["triples"])
        assert one["head"] in entities["entities"]
        assert one["relation"] in entities["relations"]


@pytest.mark.parametrize("name", ["harbour.txt", "clash.txt", "kgc/europe.tsv", "kgc/latin_america.tsv"])
def test_examples_are_those_of_the_repository(name):
    ours = RESULTS.parent / "src" / "epignn" / "web" / "examples" / name.rpartition("/")[2]
    assert ours.read_bytes() == (RESULTS.parent / "examples" / name).read_bytes()


def test_calculi(api, post):
    found = {one["name"]: one for one in api.get("/api/calculi").json()["calculi"]}
    assert [name for name, one in found.items() if one["realisable"]] == REALISED
    assert "aunt" in found["kinship"]["words"]
    rcc8 = api.get("/api/calculi/rcc8").json()
    assert rcc8["composition"]["EC"]["NTPP"] == ["PO", "TPP", "NTPP"]
    assert set(rcc8["meanings"]) == set(rcc8["words"])
    own = (RESULTS.parent / "examples" / "heights.toml").read_text(encoding="utf-8")
    assert "Peirce" in post("calculus", toml=own)["laws"]
    assert "law" in post("calculus", status=400, toml=own.replace('"taller"', '"shorter"', 1))["error"]


@pytest.mark.parametrize(
    "toml", ["", "x", "rules = 3", "relations = 3", "name = 3\nrelations = 'a'\ncomposition = 1"]
)
def test_what_is_no_calculus(post, toml):
    assert "your calculus" in post("calculus", status=400, toml=toml)["error"]
