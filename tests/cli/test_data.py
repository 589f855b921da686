"""`epignn data`: lists, checks and gets, with exit codes."""

import json
import shutil
import subprocess
import sys

from epignn.tasks.registry import find


def test_list_and_info(epignn, monkeypatch, tmp_path):
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path))
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "cache"))
    listed = json.loads(epignn("data", "list", "--json").out)
    assert {"clutrr-db9b8f04", "graphlog-world_32", "WN18RR_v1", "nora"} <= {d["name"] for d in listed["datasets"]}
    assert {d["at_hand"] for d in listed["datasets"]} == {0}
    assert "clutrr-db9b8f04" in epignn("data", "list").out
    shown = epignn("data", "info", "nora")
    assert "by hand" in shown.out
    assert "CC-BY-NC" in shown.out
    files = json.loads(epignn("data", "info", "star-rcc8", "--json").out)["files"]
    assert files[0]["url"].startswith("https://raw.githubusercontent.com/erg0dic/gnn-sg/")
    assert "Did you mean" in epignn("data", "info", "norra").err


def test_verify(epignn, registered, monkeypatch, tmp_path):
    ran = epignn("data", "verify", "--json")
    assert ran.code == 0
    assert {state for states in json.loads(ran.out)["datasets"].values() for state in states.values()} == {"ok"}
    entry = find("qcn-qualreas")
    shutil.copytree(registered / entry.folder, tmp_path / "copy" / entry.folder)
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path / "copy"))
    assert epignn("data", "verify", entry.name).code == 0
    assert epignn("data", "verify").code == 0
    (tmp_path / "copy" / entry.folder / "BookExample.json").write_text("{}")
    ran = epignn("data", "verify")
    assert ran.code == 1
    assert "BookExample.json differs" in ran.out
    (tmp_path / "copy" / entry.folder / "BookExample.json").unlink()
    assert epignn("data", "verify").code == 0
    assert epignn("data", "verify", entry.name).code == 1


def test_get_explains_what_it_cannot_have(epignn, tmp_path):
    ran = epignn("data", "get", "nora", "--out", tmp_path)
    assert ran.code == 1
    assert ran.out.count("has to be made by hand") == 2
    assert json.loads(epignn("data", "get", "nora", "--out", tmp_path, "--json").out)["by_hand"]
    assert epignn("data", "get", "qcn-qualreas", "--out", tmp_path, "--mirror", "ftp://x").code == 2


def test_get_from_a_mirror(epignn, registered, tmp_path):
    """A plain file server with the layout of the public one is enough."""
    entry = find("qcn-qualreas")
    mirror = tmp_path / "mirror" / entry.repository / entry.commit / entry.path
    shutil.copytree(registered / entry.folder, mirror)
    code = (
        "import functools, http.server as h\n"
        f"handler = functools.partial(h.SimpleHTTPRequestHandler, directory={str(tmp_path / 'mirror')!r})\n"
        "server = h.ThreadingHTTPServer(('127.0.0.1', 0), handler)\n"
        "print(server.server_port, flush=True)\n"
        "server.serve_forever()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        try:
            address = f"http://127.0.0.1:{int(server.stdout.readline())}"
            ran = epignn("data", "get", entry.name, "--out", tmp_path / "got", "--mirror", address, "--json")
        finally:
            server.kill()
    assert ran.code == 0
    assert set(json.loads(ran.out)["files"].values()) == {"fetched"}
    for file in entry.files:
        assert (tmp_path / "got" / entry.folder / file).read_bytes() == (
            registered / entry.folder / file
        ).read_bytes()


def test_no_torch():
    code = "import sys; sys.argv = ['epignn', 'data', 'list', '--json']\nfrom epignn.cli import main\ntry: main()\n"
    code += "finally: sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
