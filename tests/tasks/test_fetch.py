"""Downloads from a server that cuts, ignores ranges, lies or refuses: whole files or none."""

import contextlib
import hashlib
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

import pytest

from epignn.errors import BadArgument, BadFile
from epignn.tasks import fetch
from epignn.tasks.registry import DataFile, Entry

BODY = bytes(range(256)) * 2000


class Server(ThreadingHTTPServer):
    """Serves `body`; `cuts` tells after how many bytes each of the next answers breaks off."""

    body = BODY
    daemon_threads = True
    ranges = True
    announced = ""
    leads_to = ""
    repeats = 1

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cuts, self.codes, self.asked = [], [], []
        self.sent = 0

    @property
    def host(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        asked = self.headers.get("Range")
        self.server.asked.append((self.path, asked))
        code = self.server.codes.pop(0) if self.server.codes else 200
        if code != 200:
            self.send_error(code)
            return
        if self.server.leads_to:
            self.send_response(302)
            self.send_header("Location", self.server.leads_to)
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.ranges else 0
        if start and start >= len(self.server.body):
            self.send_error(416)
            return
        rest = self.server.body[start:]
        self.send_response(206 if start else 200)
        if self.server.announced != "nothing":
            self.send_header("Content-Length", self.server.announced or str(len(rest)))
        self.end_headers()
        if self.server.cuts:
            rest = rest[: self.server.cuts.pop(0)]
            self.close_connection = True
        with contextlib.suppress(ConnectionError):  # who hangs up on us has seen enough
            for _ in range(self.server.repeats):
                self.server.sent += self.wfile.write(rest)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as running:
        threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield running
        running.shutdown()


def entry_of(content=BODY, name="a b,c.bin", source="x/a b,c.bin", columns=()):
    file = DataFile(name, len(content), hashlib.sha256(content).hexdigest(), source)
    files = MappingProxyType({name: file})
    return Entry("set", "1", "t", "o/r", "main", "x", "f", "MIT", "c", files, "Ask them.", columns)


def names(folder):
    return sorted(path.name for path in (folder / "f").iterdir())


def test_a_file_is_fetched_once(server, tmp_path):
    seen = []
    assert fetch.get(entry_of(), tmp_path, server.host, lambda *args: seen.append(args)) == {"a b,c.bin": "fetched"}
    assert (tmp_path / "f" / "a b,c.bin").read_bytes() == BODY
    assert names(tmp_path) == ["a b,c.bin"]
    assert server.asked == [("/o/r/main/x/a%20b%2Cc.bin", None)]
    assert seen[-1] == (len(BODY), len(BODY))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert fetch.get(entry_of(), tmp_path, server.host) == {"a b,c.bin": "there"}
    assert len(server.asked) == 1


def test_cut_connections_are_taken_up_where_they_broke(server, tmp_path):
    server.cuts = [100_000, 0, 200_000]
    fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert (tmp_path / "f" / "a b,c.bin").read_bytes() == BODY
    assert [asked for _, asked in server.asked] == [None, "bytes=100000-", "bytes=100000-", "bytes=300000-"]


def test_a_later_call_continues(server, tmp_path):
    part = tmp_path / "f" / ".a b,c.bin.part"
    part.parent.mkdir()
    part.write_bytes(BODY[:1234])
    fetch.get(entry_of(), tmp_path, server.host)
    assert server.asked[0][1] == "bytes=1234-"
    assert names(tmp_path) == ["a b,c.bin"]


def test_a_server_that_ignores_ranges(server, tmp_path):
    server.ranges, server.cuts = False, [5000]
    fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert (tmp_path / "f" / "a b,c.bin").read_bytes() == BODY


@pytest.mark.parametrize("stale", [b"something else", BODY + b"more", BODY])
def test_a_part_that_does_not_fit_is_begun_anew(server, tmp_path, stale):
    part = tmp_path / "f" / ".a b,c.bin.part"
    part.parent.mkdir()
    part.write_bytes(stale)
    fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert (tmp_path / "f" / "a b,c.bin").read_bytes() == BODY
    assert names(tmp_path) == ["a b,c.bin"]


def test_other_content_is_refused(server, tmp_path):
    with pytest.raises(BadFile, match="not the published content"):
        fetch.get(entry_of(BODY[::-1]), tmp_path, server.host)
    assert names(tmp_path) == []


def test_a_file_in_the_way_is_left_alone(server, tmp_path):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a b,c.bin").write_text("mine")
    with pytest.raises(BadFile, match="is not the published file"):
        fetch.get(entry_of(), tmp_path, server.host)
    assert (tmp_path / "f" / "a b,c.bin").read_text() == "mine"


@pytest.mark.parametrize(("codes", "asked"), [([404], 1), ([403], 1), ([503] * 5, 5)])
def test_refusals(server, tmp_path, codes, asked):
    server.codes = codes
    with pytest.raises(BadFile, match=f"HTTP {codes[0]}"):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert len(server.asked) == asked
    assert names(tmp_path) == []


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.codes = [503, 429]
    fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert names(tmp_path) == ["a b,c.bin"]


def test_nobody_answers(server, tmp_path):
    server.shutdown()
    server.server_close()
    with pytest.raises(BadFile, match="nothing arrives"):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)


def test_columns_are_dropped_on_the_way(server, tmp_path):
    server.body = b',id,story,target\n0,7,"a, b",son\n'
    fetch.get(entry_of(b"id,target\n7,son\n", "a.csv", "a.csv", ("id", "target")), tmp_path, server.host)
    assert (tmp_path / "f" / "a.csv").read_bytes() == b"id,target\n7,son\n"
    server.body = b"no,table\n"
    with pytest.raises(BadFile, match="columns id, target"):
        fetch.get(entry_of(b"id,target\n7,son\n", "b.csv", "b.csv", ("id", "target")), tmp_path, server.host)


PORTAL = b"<html>Please log in first.</html>"


@pytest.mark.parametrize("columns", [(), ("id", "target")])
def test_a_page_of_a_captive_portal_does_not_poison_later_calls(server, tmp_path, columns):
    table = b"id,target\n7,son\n"
    entry = entry_of(table, "a.csv", "a.csv", columns)
    server.body = PORTAL
    with pytest.raises(BadFile):
        fetch.get(entry, tmp_path, server.host, wait=0)
    assert names(tmp_path) == []
    server.body = table
    assert fetch.get(entry, tmp_path, server.host, wait=0) == {"a.csv": "fetched"}
    assert (tmp_path / "f" / "a.csv").read_bytes() == table


@pytest.mark.parametrize("columns", [(), ("id", "target")])
@pytest.mark.parametrize("before", [b"", PORTAL])
def test_the_page_of_a_portal_that_an_earlier_version_left(server, tmp_path, columns, before):
    table = b"id,target\n7,son\n"
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / ".a.csv.part").write_bytes(before)
    server.body = table
    fetch.get(entry_of(table, "a.csv", "a.csv", columns), tmp_path, server.host, wait=0)
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("announced", ["nothing", str(1 << 40), ""])
def test_no_more_is_read_than_the_file_may_have(server, tmp_path, announced):
    server.repeats, server.announced = 400, announced or str(400 * len(BODY))
    with pytest.raises(BadFile, match="the server sends"):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert names(tmp_path) == []
    assert server.sent < 50 * len(BODY)


@pytest.mark.parametrize("announced", ["abc", "-5x", "9" * 5000, "²"])
def test_a_length_that_is_none(server, tmp_path, announced):
    server.announced = announced
    with pytest.raises(BadFile, match="the server announces"):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)


@pytest.mark.parametrize("place", ["http://[::bad", "http://a:b/", "file:///etc/passwd"])
def test_a_server_that_leads_elsewhere(server, tmp_path, place):
    server.leads_to = place
    with pytest.raises(BadFile):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert names(tmp_path) == []


def test_a_link_in_the_place_of_what_has_arrived_is_not_followed(server, tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / ".a b,c.bin.part").symlink_to(tmp_path / "mine")
    with pytest.raises(BadArgument, match="cannot write"):
        fetch.get(entry_of(), tmp_path, server.host, wait=0)
    assert (tmp_path / "mine").read_text() == "precious"


def test_what_the_source_does_not_have(server, tmp_path):
    entry = entry_of(source=None)
    assert fetch.get(entry, tmp_path, server.host) == {"a b,c.bin": "by hand"}
    assert server.asked == []
    text = fetch.by_hand(entry, entry.files["a b,c.bin"])
    assert (
        text
        == "f/a b,c.bin has to be made by hand. Ask them. See " + entry.page + " and lay it below the data folder."
    )


@pytest.mark.skipif(os.name != "posix", reason="a device file stands for a folder that cannot be made")
def test_a_folder_that_cannot_be_written(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadArgument, match="cannot write"):
        fetch.get(entry_of(), tmp_path / "file", server.host)
    with pytest.raises(BadArgument, match="cannot write"):
        fetch.get(entry_of(), Path("/dev/null/x"), server.host)
    with pytest.raises(BadArgument, match="is no server"):
        fetch.get(entry_of(), tmp_path, "file:///etc")
