"""The pages in docs/: their Python gives what they show, their commands run, in small, their files are there."""

import doctest
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

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
SMALLER = {
    "--per-label 100": "--per-label 1",
    "epignn train": "epignn train --set data.validation=0.5 --set training.epochs=1",
    "epignn profile": "epignn profile --longest 3 --widest 2 --problems 16",
}
"""What makes the commands quick."""
FETCH = ("npm", "tar")
"""What fetches data that is published elsewhere; where it cannot, the rest of the block is left out."""
LONG = ("epignn reproduce", "epignn serve")
"""Commands that are not run here: tests of the command line, and of the page, have them."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)


def commands_of(block: str) -> list[str]:
    return [line.partition("   #")[0].strip() for line in block.splitlines() if line.strip()]


def commands(page: Path) -> list[str]:
    return [command for block in blocks(page, "bash") for command in commands_of(block)]


def smaller(command: str) -> str:
    """A command that takes less time."""
    for words, fewer in SMALLER.items():
        command = command.replace(words, fewer)
    if command.startswith("epignn train"):
        command += " --set data.walks=100" if "task.py" in command else " --set data.per_label=20"
    assert command.startswith(("epignn ", "python ", *FETCH)), command
    return command


def test_there_are_pages_with_commands():
    assert {page.name for page in PAGES} >= {"extending.md", "own-loop.md", "own-world.md"}
    assert all(commands(page) for page in PAGES)


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run(page, tmp_path, monkeypatch, capsys):
    """One after the other, in a folder that has the examples and the files that the page shows."""
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    Path("examples").symlink_to(ROOT / "examples")
    for block in blocks(page, "python"):
        if named := re.match(r"# (\w+\.py)\n", block):
            Path(named[1]).write_text(block, encoding="utf-8")
    for block in blocks(page, "bash"):
        for command in commands_of(block):
            code = run(smaller(command), monkeypatch) if not command.startswith(LONG) else 0
            if code and command.startswith(FETCH):
                break
            assert code == 0, (command, capsys.readouterr().err)


def test_the_loop_of_ones_own_gives_what_is_shown():
    pytest.importorskip("torch_geometric")
    found = doctest.testfile(str(ROOT / "docs" / "own-loop.md"), module_relative=False)
    assert found.attempted >= 20
    assert found.failed == 0


def test_the_worlds_of_ones_own_give_what_is_shown():
    pytest.importorskip("pandas")
    pytest.importorskip("networkx")
    found = doctest.testfile(str(ROOT / "docs" / "own-world.md"), module_relative=False)
    assert found.attempted >= 20
    assert found.failed == 0


def test_the_claims_that_are_refuted_are_those_shown(tmp_path, monkeypatch, capsys):
    """The page of one's own world shows three refusals, and where each is refuted."""
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    run("python examples/world/periods.py", monkeypatch)
    shown = [block for block in blocks(ROOT / "docs" / "own-world.md", "console") if " check " in block]
    assert len(shown) == 3
    for block in shown:
        command, _, expected = block.removeprefix("$ ").partition("\n")
        capsys.readouterr()
        assert run(command, monkeypatch) == 1
        assert capsys.readouterr().out == expected
    assert Path("guide.svg").exists()


def test_every_picture_of_a_page_is_there():
    for page in PAGES:
        for name in re.findall(r"!\[[^]]+\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).is_file(), name


def test_the_model_is_shown_as_it_is():
    """Every piece of code of the page is in the example, but for docstrings."""
    example = (ROOT / "examples" / "model.py").read_text(encoding="utf-8")
    lines = {line for line in example.splitlines() if line.strip()}
    pieces = [block for block in blocks(ROOT / "docs" / "extending.md", "python") if not block.startswith("# ")]
    assert len(pieces) >= 5
    for piece in pieces:
        for line in filter(str.strip, piece.splitlines()):
            assert line in lines, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_it_names_is_there(page):
    named = re.findall(r"((?:src|docs|tests|examples)/[\w/]+\.(?:py|md|toml))", page.read_text(encoding="utf-8"))
    assert named
    for name in named:
        assert (ROOT / name).exists(), name
