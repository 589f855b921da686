"""Run the command line in this process, as `epignn` would."""

import sys
from dataclasses import dataclass

import pytest

from epignn.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def epignn(capsys, monkeypatch):
    """`epignn("close", file)` gives exit code, standard output and standard error."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["epignn", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        code = stopped.value.code
        return Ran(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run


@pytest.fixture
def facts(tmp_path):
    """Write facts to a file."""

    def write(text: str, name: str = "facts.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
