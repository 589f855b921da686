"""What goes wrong in the command line: one line and an exit code of its own, never a traceback."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epignn.cli import fault
from epignn.version import __version__


def broken(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("epignn.cli.info.instruction_sets", fail)


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("one\n\x1b[31mtwo"), AssertionError(), RecursionError(), KeyError(1)]
)
def test_a_fault_of_our_own_exits_70_and_tells_where_the_details_are(epignn, monkeypatch, tmp_path, error):
    broken(monkeypatch, error)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ran = epignn("info")
    assert (ran.code, ran.out) == (70, "")
    assert re.fullmatch(
        rf"error: a fault of epignn {__version__} itself, not of your input \(.*\)\. The details .*\n", ran.err
    )
    [details] = (tmp_path / "epignn").iterdir()
    assert str(details) in ran.err
    text = details.read_text()
    assert type(error).__name__ in text and "Traceback" in text and "'info'" in text


def test_where_nothing_can_be_written_the_details_are_told(epignn, monkeypatch, tmp_path):
    broken(monkeypatch, ZeroDivisionError())
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(fault, "_folders", lambda: [tmp_path / "file" / "below"])
    ran = epignn("info")
    assert ran.code == 70
    assert "could not be written anywhere" in ran.err and "ZeroDivisionError" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("info",), ("calculus", "show", "rcc8"), ("calculus", "list", "--json"), ("-h",)]
)
def test_a_full_disk_behind_standard_output(arguments):
    command = [sys.executable, "-m", "epignn", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "error: cannot write the answer: No space left on device.\n"


def test_a_reader_that_goes_away():
    """It is no answer, so that the exit code is not 1; it is that of a program that SIGPIPE has ended."""
    command = [sys.executable, "-m", "epignn", "calculus", "show", "allen", "--toml"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_no_file_behind(tmp_path, number, code):
    """The command is stopped while it writes."""
    program = (
        "import signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pathlib import Path\n"
        "from epignn.cli import info, main\n"
        "from epignn.files import writing\n"
        "target = Path(sys.argv.pop())\n"
        "def wait():\n"
        "    with writing(target) as part:\n"
        "        part.write_text('half'); Path(f'{target}.now').touch(); time.sleep(60)\n"
        "info.instruction_sets = wait\n"
        "main()\n"
    )
    target = tmp_path / "a.txt"
    with subprocess.Popen(
        [sys.executable, "-c", program, "info", str(target)], stderr=subprocess.PIPE, text=True
    ) as process:
        while not Path(f"{target}.now").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(number)
        said = process.communicate(timeout=30)[1]
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt.now"]


def test_names_that_no_terminal_can_show():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "epignn", "close", "ec(東京, b)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u6771\u4eac" in done.stdout
