"""The README: its commands print what it shows, its figures are those of the records."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def shown() -> list[tuple[str, str]]:
    """Commands of the console blocks with the output shown below them."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.parametrize(("command", "output"), shown())
def test_commands_print_what_is_shown(command, output):
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}
    run = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert run.stdout == output
    assert run.stderr == ""


def test_python_examples_give_what_is_shown():
    found = doctest.testfile(str(README), module_relative=False)
    assert found.attempted >= 10
    assert found.failed == 0


def test_there_are_commands():
    assert len(shown()) >= 2


def test_figures_are_those_of_the_records():
    spec = importlib.util.spec_from_file_location("render", ROOT / "benchmarks" / "render.py")
    render = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(render)
    text = README.read_text(encoding="utf-8")
    assert render.render(text, ROOT / "results") == text
    changed = text.replace("end closure-table", "end closure-table", 1).replace(
        "| 2,000 random boxes |", "| 2,001 random boxes |"
    )
    assert changed != text
    assert render.render(changed, ROOT / "results") == text


def test_every_file_it_names_is_there():
    text = README.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|native|examples|benchmarks|docs)/[^`]+)`", text):
        assert (ROOT / name).exists(), name
