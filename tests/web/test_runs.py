"""Training runs by the server: they are watched, stopped and resumed, and go on without it by the same command."""

import asyncio
import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from epignn.calculus import load
from epignn.web.errors import Conflict, NotThere
from epignn.web.folders import lock, run_folder, trains
from epignn.web.limits import Context
from epignn.web.runs import Runs
from tests.web.browser import serving
from tests.web.conftest import HARBOUR

SMALL = ["data.per_label=4", "training.epochs=6", "training.batch_size=32"]
LONG = ["data.per_label=100", "training.epochs=500", "training.batch_size=8"]
TRIPLES = "".join(f"p{n}\tparent\tq{n}\nq{n}\tchild\tp{n}\n" for n in range(12))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def _two_steps() -> Iterator[str]:
    """Every two relations of RCC-8 that leave one, as rows of the benchmark's files."""
    rcc8 = load("rcc8")
    for first, second in itertools.product(rcc8.relations, repeat=2):
        both = rcc8.names(rcc8.compose(rcc8.parse(first), rcc8.parse(second)))
        if len(both) == 1:
            yield f'"[(0, 1), (1, 2)]","[\'{first}\', \'{second}\']","(0, 2)",{both[0]}'


ROWS = [f"{number},{row}" for number, row in enumerate(_two_steps())]
GRAPHS = {"name": "mine_k_2_b_1.csv", "text": "\n".join([",edges,edge_labels,query_edge,query_label", *ROWS, ""])}


def events(api: httpx.Client, name: str, most: int = 1000) -> list[tuple[str, dict]]:
    """What the stream of a run says, up to so many events."""
    found: list[tuple[str, dict]] = []
    with api.stream("GET", f"/api/runs/{name}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        kind = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((kind, json.loads(line.removeprefix("data: "))))
                if len(found) == most:
                    break
    return found


def begun(post, name: str, settings: list[str] = SMALL, **more) -> str:
    return post("runs", experiment="rcc8", name=name, settings=settings, **more)["name"]


def train(command: str, cwd: Path) -> None:
    program, *words = shlex.split(command)
    assert program == "epignn"
    subprocess.run([sys.executable, "-m", "epignn", *words], cwd=cwd, check=True, capture_output=True)


def test_a_run_is_told_epoch_by_epoch_and_then_answers(api, post):
    name = begun(post, "told")
    told = events(api, name)
    assert [kind for kind, _ in told] == ["epoch"] * 6 + ["state"]
    epochs = [data for kind, data in told if kind == "epoch"]
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3, 4, 5, 6]
    assert epochs[-1]["seconds_left"] == 0
    assert {epoch["epochs"] for epoch in epochs} == {6}
    assert len(epochs[-1]["vectors"]) == 8
    assert told[-1][1] == {"state": "ended", "error": None}
    run = api.get(f"/api/runs/{name}").json()
    assert [epoch["loss"] for epoch in run["history"]] == [epoch["loss"] for epoch in epochs]
    assert (run["state"], run["epoch"], run["epochs"], run["metric"]) == ("ended", 6, 6, "accuracy")
    assert events(api, name)[-1] == told[-1]
    assert name in [one["name"] for one in api.get("/api/runs").json()["runs"]]
    assert name in [one["name"] for one in api.get("/api/models").json()["models"]]
    found = post("ask", facts=HARBOUR, head="harbour", tail="city", model=name)
    assert found["exact"]["relations"] == ["PO"]
    assert 0 < found["neural"]["probability"] <= 1
    assert found["model"] == name


def test_what_was_learnt_is_read_off_and_answers(api, post):
    name = begun(post, "read-off")
    events(api, name)
    found = post(f"runs/{name}/distil")
    assert (found["kind"], found["cells"]) == ("calculus", 64)
    cells = [cell for row in found["table"].values() for cell in row.values()]
    assert found["agree"] == sum(sorted(cell["learnt"]) == sorted(cell["true"]) for cell in cells)
    assert found["certificate"]["facts"] > 0
    assert (
        post("explain", facts=HARBOUR, head="harbour", tail="city", model=name, by="learnt")["kind"] == "calculus"
    )
    (model,) = [one for one in api.get("/api/models").json()["models"] if one["name"] == name]
    assert model["distilled"]


def test_a_stopped_run_goes_on_to_the_same_weights(api, post, server, tmp_path):
    name = begun(post, "stopped", [*SMALL[:1], "training.epochs=250", "training.batch_size=8"])
    events(api, name, most=2)
    assert post(f"runs/{name}/stop") == {"state": "stopped"}
    run = api.get(f"/api/runs/{name}").json()
    assert run["state"] == "stopped"
    assert 0 < run["epoch"] < 250
    assert "does not train" in post(f"runs/{name}/stop", status=409)["error"]
    assert post(f"runs/{name}/resume") == {"state": "training"}
    assert events(api, name)[-1] == ("state", {"state": "ended", "error": None})
    command = run["command"].split()
    folder = Path(command[command.index("--out") + 1])
    undisturbed = tmp_path / "undisturbed"
    train(run["command"].replace(str(folder), str(undisturbed)), tmp_path)
    assert (undisturbed / "weights.safetensors").read_bytes() == (folder / "weights.safetensors").read_bytes()
    epochs = [
        api.get(f"/api/runs/{name}").json()["history"],
        json.loads((undisturbed / "history.json").read_text()),
    ]
    assert [one["loss"] for one in epochs[0]] == [one["loss"] for one in epochs[1]]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_outlives_its_server(how, tmp_path):
    """When the server ends its runs end with it; when it is killed they go on, and the next server knows it."""
    root = tmp_path / "runs"
    command = [sys.executable, "-m", "epignn", "serve", "--port", "0", "--root", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        address = process.stdout.readline().split()[4].rstrip("/")
        with httpx.Client(base_url=address, timeout=60) as api:
            body = {"experiment": "rcc8", "name": "left", "settings": LONG}
            assert api.post("/api/runs", json=body).status_code == 200
            events(api, "left", most=1)
        process.send_signal(how)
        process.wait(30)
    with serving(root) as address, httpx.Client(base_url=address, timeout=60) as api:
        state = api.get("/api/runs/left").json()["state"]
        assert state == ("stopped" if how is signal.SIGTERM else "training")
        if state == "training":
            assert api.post("/api/runs/left/resume").status_code == 409
            assert api.post("/api/runs/left/stop").status_code == 200
        reached = api.get("/api/runs/left").json()["epoch"]
        assert api.post("/api/runs/left/resume").status_code == 200
        entries = (data["epoch"] for kind, data in events(api, "left", most=reached + 2) if kind == "epoch")
        assert list(itertools.islice(entries, reached + 2)) == list(range(1, reached + 3))


def test_so_many_runs_train_at_once(post):
    for name in ("first", "second"):
        begun(post, name, LONG)
    try:
        assert "2 runs train already" in post("runs", status=503, experiment="rcc8", settings=LONG)["error"]
        assert "trains already" in post("runs", status=409, experiment="rcc8", name="first", settings=LONG)["error"]
        assert "first trains; stop it" in post("runs/first/distil", status=409)["error"]
    finally:
        for name in ("first", "second"):
            post(f"runs/{name}/stop")


def test_a_name_belongs_to_one_run(api, post):
    name = begun(post, "taken")
    events(api, name)
    assert begun(post, name) == name
    events(api, name)
    assert (
        "holds another run"
        in post("runs", status=409, experiment="rcc8", name=name, seed=1, settings=SMALL)["error"]
    )
    assert "shipped model" in post("runs", status=409, experiment="rcc8", name="kinship")["error"]


def test_a_run_that_fails_says_why(api, post):
    name = post("runs", experiment="rcc8", name="failing", settings=["model.dim=31", "model.facets=2"])["name"]
    kind, data = events(api, name)[-1]
    assert (kind, data["state"]) == ("state", "failed")
    assert "31" in data["error"]
    assert api.get(f"/api/runs/{name}").json()["error"] == data["error"]


def test_links_are_trained_from_an_upload(api, post):
    upload = [{"name": "mine.tsv", "text": TRIPLES}]
    name = post("runs", experiment="links", settings=["training.epochs=3"], upload=upload)["name"]
    assert events(api, name)[-1][1]["state"] == "ended"
    found = post("links", model=name, triples=TRIPLES, head="p0", relation="parent", top=3, include_known=True)
    assert (found["entities"], found["facts"], found["relations"]) == (24, 24, ["child", "parent"])
    assert [answer["rank"] for answer in found["answers"]] == [1, 2, 3]
    for answer in found["answers"]:
        assert " ".join([answer["path"]]) == answer["path"]
        ends = [(step[0], step[2]) for step in answer["support"]]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(ends))
    (model,) = [one for one in api.get("/api/models").json()["models"] if one["name"] == name]
    assert model["links"]
    assert (
        "ask it by /api/links" in post("ask", status=400, facts="ec(a, b)", head="a", tail="b", model=name)["error"]
    )
    assert (
        "classifies graphs"
        in post("links", status=400, model="rcc8", triples="a r b", head="a", relation="r")["error"]
    )
    assert post("links/graph", triples=TRIPLES, model=name)["facts"] == 24


def test_links_are_trained_from_a_folder(api, post):
    lines = TRIPLES.splitlines(keepends=True)
    parts = {"train": lines[:16], "valid": lines[16:20], "test": lines[20:]}
    upload = [{"name": f"{part}.txt", "text": "".join(text)} for part, text in parts.items()]
    name = post("runs", experiment="links", settings=["training.epochs=1"], upload=upload)["name"]
    assert events(api, name)[-1][1] == {"state": "ended", "error": None}
    assert api.get(f"/api/runs/{name}").json()["relations"] == ["child", "parent"]


@pytest.mark.parametrize(
    ("words", "calculus", "kind"), [((), "rcc8", "calculus"), (("EC", "meets"), "none", "rules")]
)
def test_graphs_are_trained_from_a_folder(api, post, words, calculus, kind):
    """The calculus is recognised by the words; those that no calculus has are learnt as they are."""
    upload = [{**GRAPHS, "text": GRAPHS["text"].replace(*words)} if words else GRAPHS]
    asked = {"experiment": "graphs", "settings": ["training.epochs=2"], "upload": upload}
    name = post("runs", **asked)["name"]
    assert events(api, name)[-1][1] == {"state": "ended", "error": None}
    assert f"--calculus {calculus}" in api.get(f"/api/runs/{name}").json()["command"]
    assert post("runs", **asked, name=name)["name"] == name
    events(api, name)
    assert post(f"runs/{name}/distil")["kind"] == kind


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"experiment": "nothing"}, "Unknown experiment"),
        ({"experiment": "links"}, "needs files"),
        ({"experiment": "demo", "upload": [{"name": "mine.tsv", "text": TRIPLES}]}, "leave the upload out"),
        ({"experiment": "demo", "calculus": "rcc8"}, "only graphs of your own"),
        ({"experiment": "links", "upload": [{"name": "mine.tsv", "text": "a b\n"}]}, "three columns"),
        ({"experiment": "links", "upload": [{"name": "a.csv", "text": TRIPLES}]}, "train.txt"),
        ({"experiment": "graphs", "upload": [{"name": "train.txt", "text": TRIPLES}]}, "a folder of .csv"),
        ({"experiment": "graphs", "upload": [{"name": "a.csv", "text": "x\n"}]}, "a.csv"),
        ({"experiment": "graphs", "upload": [{"name": n, "text": "x\n"} for n in ("a.csv", "A.csv")]}, "two files"),
        ({"experiment": "graphs", "calculus": "/etc/x.toml", "upload": [GRAPHS]}, "Unknown calculus"),
        ({"experiment": "demo", "settings": ["model.kind=mine.py:Mine"]}, "model.kind takes epignn"),
        ({"experiment": "demo", "settings": ["data.task=/etc"]}, "Unknown setting"),
    ],
)
def test_what_may_not_be_trained(api, post, body, words):
    assert words in post("runs", status=400, name="refused", **body)["error"]
    assert "refused" not in [run["name"] for run in api.get("/api/runs").json()["runs"]]


def test_a_file_of_an_upload_is_never_a_path(post):
    for name in ("../x.csv", "a/b.csv", ".hidden", ""):
        post("runs", status=422, experiment="graphs", upload=[{"name": name, "text": GRAPHS["text"]}])


@pytest.mark.parametrize("name", ["..", "../x", "a/b", ".hidden", "x" * 65, "a b", "ä", "-x", "a\n"])
def test_a_name_is_never_a_path(post, api, name, tmp_path):
    post("runs", status=422, experiment="demo", name=name)
    with pytest.raises(NotThere):
        run_folder(tmp_path, name)


@pytest.mark.parametrize("path", ["..%2f..%2fetc", "%2e%2e", "nothing", "a%00b"])
def test_a_run_that_is_not_there(api, path):
    for method, rest in (
        ("GET", ""),
        ("GET", "/events"),
        ("POST", "/stop"),
        ("POST", "/resume"),
        ("POST", "/distil"),
    ):
        answer = api.request(method, f"/api/runs/{path}{rest}")
        assert answer.status_code in (404, 405), (method, rest, answer.text)


def test_a_link_out_of_the_folder_is_no_run(tmp_path):
    root, outside = tmp_path / "runs", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "inside").mkdir()
    (root / "out").symlink_to(outside)
    assert run_folder(root, "inside") == root / "inside"
    with pytest.raises(NotThere):
        run_folder(root, "out")


def test_a_folder_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    from epignn.web.folders import models, runs
    from epignn.web.limits import Context

    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    found = runs({}, Context(tmp_path))["runs"]
    assert [(one["name"], one["state"]) for one in found] == [("broken", "failed")]
    assert "cannot be read" in found[0]["error"]
    assert {one["name"] for one in models({}, Context(tmp_path))["models"]} == {"allen", "kinship", "rcc8"}


@pytest.mark.parametrize("told", ["0", "1", "00", "\u0661\u0662", "9" * 5000, "-1", ""])
def test_a_lock_that_names_no_process_stops_none(tmp_path, monkeypatch, told):
    """0 would be the group of the server itself."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "request.json").write_text("{}")
    held = lock(tmp_path / "a")
    assert held is not None
    (tmp_path / "a" / "training.lock").write_text(told)
    stopped = []
    monkeypatch.setattr(os, "kill", lambda *which: stopped.append(which))
    with pytest.raises(Conflict, match="only just beginning"):
        asyncio.run(Runs(Context(root=tmp_path), None, None).stop("a"))
    os.close(held)
    assert not stopped


def test_a_run_that_has_to_be_killed_has_ended_when_it_is_said_to_be_stopped(tmp_path, monkeypatch):
    """It does not hear that it should end, and takes a while to be gone."""
    folder = tmp_path / "deaf"
    folder.mkdir()
    (folder / "request.json").write_text("{}")
    code = (
        "import os, pathlib, signal, sys, time\nfrom epignn.web.folders import lock\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nheld = lock(pathlib.Path(sys.argv[1]))\n"
        "os.write(held, str(os.getpid()).encode())\nprint('locked', flush=True)\ntime.sleep(120)"
    )
    monkeypatch.setattr("epignn.web.runs.END", 1.0)
    kill = os.kill

    def slowly(pid: int, how: int) -> None:
        threading.Timer(0.6 if how == signal.SIGKILL else 0, kill, (pid, how)).start()

    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "locked\n"
            monkeypatch.setattr(os, "kill", slowly)
            asyncio.run(Runs(Context(root=tmp_path), None, None).stop("deaf"))
            assert not trains(folder)
        finally:
            monkeypatch.undo()
            process.kill()
