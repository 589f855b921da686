"""Downloads from a server that cuts, ignores ranges, lies or refuses: whole files or none."""

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

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.cuts, self.codes, self.asked = [], [], []

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
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.ranges else 0
        if start and start >= len(self.server.body):
            self.send_error(416)
            return
        rest = self.server.body[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.server.cuts:
            rest = rest[: self.server.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(rest)

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
        fetch.get(entry_of(b"another"), tmp_path, server.host)
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
