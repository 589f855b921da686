"""Text from outside is shown as text: no markup, no escape sequences, and no other way to print."""

import ast
import json
from pathlib import Path

import pytest

import epignn as package
from epignn.cli import output
from epignn.cli.output import shown
from epignn.files import ACTS
from epignn.learn.fit import Epoch

CLI = Path(package.__file__).parent / "cli"
PRINTS = {"echo", "secho", "print", "rprint", "Console", "style"}
STREAMS = {"stdout", "stderr"}
HOSTILE = [
    "[/]",
    "[red]x",
    "[link=https://example.org]x[/link]",
    "\x1b[31mx",
    "x\x9b31m",
    "a\u202eb",
    "\udcff",
    ":smile:",
]


def prints(source: str) -> list[int]:
    """The lines of a module that print by themselves: by typer, rich or Python, or to a stream."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            holder = getattr(node.func, "value", None)
            to_stream = isinstance(holder, ast.Attribute) and holder.attr in STREAMS and name.startswith("write")
            if name in PRINTS or to_stream:
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("module", sorted(path.name for path in CLI.glob("*.py")))
def test_no_other_way_to_print_exists(module):
    lines = prints((CLI / module).read_text(encoding="utf-8"))
    assert bool(lines) == (module == "output.py"), f"{module} prints in lines {lines}; use epignn.cli.output"


@pytest.mark.parametrize(
    "source", ["typer.echo(x)", "print(x)", "sys.stderr.write(x)", "Console().print(x)", "rich.print(x)"]
)
def test_the_check_can_fail(source):
    assert prints(source) == [1] or prints(source) == [1, 1]


def test_what_acts_is_shown():
    assert shown("\x1b]0;title\x07\r\n\t\x7f\x85") == r"\x1b]0;title\x07\r\n\t\x7f\x85"
    assert shown("\u202e\u2066\u200f\ufeff\udc80") == r"\u202e\u2066\u200f\ufeff\udc80"
    assert shown("Zürich [bold] 東京 – ≤ ∘") == "Zürich [bold] 東京 – ≤ ∘"


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_entities_are_shown_as_they_are(epignn, tmp_path, name):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"facts": [[name if name != "\udcff" else "y", "EC", "b"]]}))
    ran = epignn("close", path)
    assert ran.code == 0, ran.err
    assert name == "\udcff" or shown(name) in ran.out
    assert not ACTS.search(ran.out.replace("\n", ""))


@pytest.mark.parametrize("name", HOSTILE)
def test_file_names_are_shown_as_they_are(epignn, tmp_path, name):
    folder = tmp_path / name.replace("/", "_")
    folder.mkdir()
    ran = epignn("close", folder / "none.txt")
    assert ran.code == 2
    assert shown(folder) in ran.err
    assert not ACTS.search(ran.err.replace("\n", ""))


def test_json_holds_no_control_characters_and_reads_back(epignn, tmp_path):
    path, name = tmp_path / "facts.json", "a\x9b31m\u202e\x7f"
    path.write_text(json.dumps({"facts": [[name, "EC", "b"]]}))
    ran = epignn("close", path, "--json")
    assert not ACTS.search(ran.out.replace("\n", ""))
    assert json.loads(ran.out)["closed"] == [[name, ["EC"], "b"]]


@pytest.mark.parametrize("what", ["[/x]", "\x1b[31m"])
def test_titles_columns_and_bars_take_no_markup(what, capsys, monkeypatch):
    output.table([what, "b"], [[what, 1]], title=what)
    assert capsys.readouterr().out.count(shown(what)) == 3
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with output.working(what), output.progress(what) as move:
        move(1, 2)
    assert "\x1b[31m" not in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_a_long_epoch_tells_how_far_it_is(terminal, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(output, "EVERY", 5.0)
    now = 100.0
    monkeypatch.setattr(output.time, "monotonic", lambda: now)
    with output.epochs("mine", "mrr", "heads") as training:
        for now in (101.0, 106.0, 107.0):
            training.doing("epoch 1, step", int(now), 2000)
        training.epoch(Epoch(1, 2, 0.5, 0.25, 8.0, 10.0, 0.1, 8.0))
    told = " ".join(capsys.readouterr().err.split())
    assert "loss 0.5000 validation mrr 0.2500 10 heads/s" in told
    if not terminal:  # at most every five seconds
        assert "mine epoch 1, step 106 of 2,000" in told
        assert "101 of" not in told and "107 of" not in told


@pytest.mark.parametrize("columns", [40, 60, 100])
@pytest.mark.parametrize("command", [("calculus", "show", "allen"), ("calculus", "list"), ("data", "list")])
def test_tables_find_room(epignn, monkeypatch, columns, command):
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = epignn(*command)
    boxes = [line for line in ran.out.splitlines() if line[:1] in "┏┃┡│└"]
    assert boxes
    assert max(map(len, boxes)) <= columns


def test_numbers_are_never_cut_and_columns_that_find_no_room_go_below(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    names = ["name", *(f"number {c}" for c in range(8))]
    output.table(names, [["x" * 60, *(1234567 + c for c in range(8))]])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 40
    assert all(str(1234567 + c) in out for c in range(8))
    assert "x…" in out


def test_a_matrix_without_room_is_a_list(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    output.matrix(["", *"abcdefgh"], [["row", *(["one two"] * 8)]], "title", " to ")
    assert "  row to a: one two\n" in capsys.readouterr().out


def test_figures_are_never_broken(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    names = ("a model with a name of many words", "another one")
    rows = [(name, "0.472 ± 0.233", "11 of 11", "0.38", "", "1,824") for name in names]
    output.table(("model", "average", "files", "average, paper", "k=9 b=3", "parameters of the model"), rows)
    written = capsys.readouterr().out
    assert max(map(len, written.splitlines())) <= 60
    assert "…" not in written
    for figure in ("0.472 ± 0.233", "11 of 11", "0.38", "1,824"):
        assert written.count(figure) == len(names)
