"""The README and the pages in docs/: commands print what is shown or run, in small; files and figures are there."""

import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from epignn.cli import main
from tests.scripts import script

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
SMALLER = {
    "--per-label 100": "--per-label 1",
    "epignn train": "epignn train --set data.validation=0.5 --set training.epochs=1",
    "epignn profile": "epignn profile --longest 3 --widest 2 --problems 16",
}
"""What makes the commands quick."""
FETCH = ("npm", "tar")
"""What fetches data that is published elsewhere; where it cannot, the rest of the block is left out."""
LONG = (
    "epignn reproduce",
    "epignn serve",
    "epignn distil",
    "epignn close examples/harbour.txt --calculus",
    "epignn calculus validate learnt",
    "make",
    "source",
)
"""Commands that are not run here: tests of the command line, and of the page, have them."""
TUTORIAL = "tutorial-"
"""Pages whose commands `test_users` runs, and what they tell."""
LIBRARIES = {"own-loop.md": ("torch_geometric",), "own-world.md": ("pandas", "networkx")}
"""What the Python of a page needs."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)


def commands(page: Path) -> list[str]:
    """The commands of a page."""
    return [command for block in blocks(page, "bash") for command in commands_of(block)]


def commands_of(block: str) -> list[str]:
    """The commands of a block, but for those that leave a word in capitals for the reader to fill in."""
    found = [re.split(r"\s{2,}#", line)[0].strip() for line in block.splitlines() if line.strip()]
    return [command for command in found if not re.search(r"\b[A-Z]{4,}\b", command)]


def smaller(command: str) -> str:
    """A command that takes less time."""
    if command.startswith("epignn train examples/kgc"):
        return command + " --set training.epochs=3"
    for words, fewer in SMALLER.items():
        command = command.replace(words, fewer)
    if command.startswith("epignn train"):
        command += " --set data.walks=100" if "task.py" in command else " --set data.per_label=20"
    return command


def shown() -> list[tuple[str, str]]:
    """Commands of the console blocks of all pages with the output shown below them."""
    found = []
    for block in [block for page in PAGES for block in blocks(page, "console")]:
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def names(page: Path) -> str:
    return page.name


def test_there_are_pages_with_commands():
    assert {page.name for page in PAGES} >= {"extending.md", "own-loop.md", "own-world.md", "ask.md", "README.md"}
    assert sum(map(len, map(commands, PAGES))) >= 20
    assert len(shown()) >= 5


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 160


@pytest.mark.parametrize(("command", "output"), shown())
def test_commands_print_what_is_shown(command, output):
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"], "COLUMNS": "100"}
    run = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout == output
    assert run.stderr == ""


def write_python(page: Path) -> None:
    """Write the files that a page shows, here."""
    for block in blocks(page, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            Path(named[1]).write_text(block, encoding="utf-8")


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command in this process, which saves loading torch once more; returns its exit code."""
    program, *words = shlex.split(command)
    if program in FETCH:
        return subprocess.run([program, *words], check=False).returncode if shutil.which(program) else 1
    arguments = [
        name for word in words for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    if program == "python":
        runpy.run_path(arguments[0], run_name="__main__")
        return 0
    monkeypatch.setattr(sys, "argv", [program, *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code or 0


@pytest.mark.parametrize("page", [page for page in PAGES if not page.name.startswith(TUTORIAL)], ids=names)
def test_commands_run(page, tmp_path, monkeypatch, capsys):
    """One after the other, in a folder that has the examples and the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    Path("examples").symlink_to(ROOT / "examples")
    write_python(page)
    for block in blocks(page, "bash"):
        for command in commands_of(block):
            if command.startswith(LONG):
                continue
            assert command.startswith(("epignn ", "python ", *FETCH)), command
            code = run(smaller(command), monkeypatch)
            if code and command.startswith(FETCH):
                break
            assert code == 0, (command, capsys.readouterr().err)


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text("utf-8")], ids=names)
def test_python_gives_what_is_shown(page):
    for library in LIBRARIES.get(page.name, ()):
        pytest.importorskip(library)
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 5
    assert found.failed == 0


def test_figures_are_those_of_the_records():
    render = script("render")
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert render.render(text, ROOT / "results") == text, page.name
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    changed = text.replace("| 2,000 random boxes |", "| 2,001 random boxes |")
    assert changed != text
    assert render.render(changed, ROOT / "results") == text


def test_the_pictures_that_are_committed_are_those_that_pages_show():
    listed = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=False)
    committed = {line for line in listed.stdout.splitlines() if line.endswith((".png", ".svg"))}
    if not listed.stdout:
        pytest.skip("not in a git tree")
    named = r"results/[\w-]+/[\w-]+\.(?:png|svg)"
    assert committed == {name for page in PAGES for name in re.findall(named, page.read_text(encoding="utf-8"))}


def test_a_textbook_is_held_against_the_time_scale(tmp_path, monkeypatch, capsys):
    """As the page on one's own world shows it; the periods come from a package that nobody here wrote."""
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    run("python examples/world/periods.py", monkeypatch)
    [block] = [text for text in blocks(ROOT / "docs" / "own-world.md", "text") if "textbook" in text]
    command, _, expected = block.removeprefix("$ ").partition("\n")
    capsys.readouterr()
    assert run(command, monkeypatch) == 1
    assert capsys.readouterr().out == expected


def test_the_model_is_shown_as_it_is():
    """Every piece of code of the page is in the example, but for docstrings."""
    example = (ROOT / "examples" / "model.py").read_text(encoding="utf-8")
    lines = {line for line in example.splitlines() if line.strip()}
    pieces = [block for block in blocks(ROOT / "docs" / "extending.md", "python") if not block.startswith("# ")]
    assert len(pieces) >= 5
    for piece in pieces:
        for line in filter(str.strip, piece.splitlines()):
            assert line in lines, line


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_file_it_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"((?:src|native|docs|tests|examples|benchmarks)/[\w/-]+\.(?:py|md|toml|txt|tsv|cpp))", text)
    for name in named:
        assert (ROOT / name).exists(), name
    for name in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (page.parent / name).exists(), name
