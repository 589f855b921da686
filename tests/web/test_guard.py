"""What the server refuses: other names, pages of other sites, bodies that are too large; and its headers."""

import json
import socket

import httpx
import pytest

from epignn.web.guard import HEADERS
from epignn.web.limits import Limits

FACTS = {"facts": "ec(a, b)"}


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8000", "LOCALHOST:80"])
def test_the_names_of_this_machine_are_taken(api, host):
    assert api.get("/api/info", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "[::2]"]
)
def test_other_names_are_refused(api, host):
    for path in ("/", "/api/info"):
        answer = api.get(path, headers={"host": host})
        assert (answer.status_code, "is not called" in answer.text) == (400, True)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://localhost:1"])
def test_pages_of_other_sites_may_not_post(api, origin):
    answer = api.post("/api/parse", json=FACTS, headers={"origin": origin})
    assert (answer.status_code, "only this server's own page" in answer.text) == (400, True)


def test_the_own_page_may_post(api, server):
    assert api.post("/api/parse", json=FACTS, headers={"origin": server}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/info", "/api/nothing", "/nothing", "/openapi.json", "/docs"])
def test_every_answer_has_the_headers(api, path):
    answer = api.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS)
    assert answer.headers["cache-control"] == ("no-store" if path.startswith("/api/") else "no-cache")
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_refusals_have_them_too(api):
    answer = api.get("/api/info", headers={"host": "evil.example"})
    assert {name: answer.headers[name] for name in HEADERS} == dict(HEADERS)


def test_the_page_is_not_sent_twice(api):
    first = api.get("/")
    again = api.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


@pytest.mark.parametrize("path", ["/../app.py", "/..%2fapp.py", "/%2e%2e/app.py", "/vendor/../../app.py"])
def test_nothing_but_the_page_is_sent(server, path):
    with httpx.Client() as client:
        answer = client.send(httpx.Request("GET", httpx.URL(server, raw_path=path.encode())))
    assert answer.status_code == 404


def test_a_body_is_bounded_by_what_it_says(api):
    body = b" " * (Limits().bytes + 1)
    answer = api.post("/api/parse", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, "2,000,000 bytes" in answer.text) == (413, True)


def test_files_to_train_on_may_be_larger(api):
    body = json.dumps({"experiment": "nothing", "pad": " " * Limits().bytes})
    answer = api.post("/api/runs", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    answer = api.post("/api/runs", content=b" " * (Limits().upload + 1))
    assert (answer.status_code, "40,000,000 bytes" in answer.text) == (413, True)


def test_a_body_is_bounded_while_it_arrives(server):
    """In chunks, without its length; the answer comes before the end."""
    host, port = server.removeprefix("http://").split(":")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        head = "POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for _ in range(Limits().bytes // 0x10000 + 1):
            connection.sendall(chunk)
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")


def test_unknown_fields_and_wrong_types_are_sentences(post):
    assert post("parse", status=422, facts=3)["error"] == "facts: Input should be a valid string."
    assert "fact" in post("parse", status=422, fact="ec(a, b)", facts="")["error"]
    assert "query" in post("close", status=422, facts="ec(a, b)", query=["a"])["error"]


def test_a_body_that_is_not_json(api):
    for body in (b"{", b"\xff", b"[" * 100_000):
        answer = api.post("/api/parse", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), answer.text
        assert answer.json()["error"]
