"""What stops a command from outside: Ctrl-C, and memory that is not to be had."""

import signal
import subprocess
import sys
from pathlib import Path

from epignn.locks import only_one

TRAIN = ["train", "rcc8", "--set", "data.per_label=40"]


def command(*arguments: object) -> list[str]:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import epignn.cli as c; c.main()"
    )
    return [sys.executable, "-c", code, *map(str, arguments)]


def test_ctrl_c_keeps_the_run(tmp_path):
    """And the same command goes on from there."""
    where = ("--out", tmp_path / "run")
    many = ("--set", "training.epochs=100000")
    with subprocess.Popen(command(*TRAIN, *many, *where), stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "run" / "state.safetensors").exists():
            assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"stopped; {tmp_path / 'run'} keeps what is done, and the same command goes on" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in Path(tmp_path / "run").iterdir() if path.suffix == ".part") == []


def test_a_model_beyond_all_memory_is_refused(tmp_path):
    wide = ("--model", "lstm", "--set", "model.width=4000000", "--out", tmp_path / "run")
    done = subprocess.run(command(*TRAIN, *wide), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "error: a model of such settings has" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_trainers_in_one_folder(tmp_path):
    """The second is told of the first, whatever its seed, and the first is not disturbed."""
    where = ("--out", tmp_path / "run")
    many = ("--set", "training.epochs=100000")
    with subprocess.Popen(command(*TRAIN, *many, *where), stderr=subprocess.PIPE, text=True) as first:
        while not (tmp_path / "run" / "state.safetensors").exists():
            assert first.poll() is None, first.stderr.read()
        second = subprocess.run(command(*TRAIN, *where, "--seed", 1), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert f"{tmp_path / 'run'} is in use: process {first.pid} (train), since " in second.stderr
        first.kill()
        first.wait()
    assert '"seed": 0' in (tmp_path / "run" / "config.json").read_text()


def test_two_generators_in_one_folder(epignn, tmp_path):
    with only_one(tmp_path, "generate"):
        for arguments in (("rcc8", "--k", 2, "--b", 1), ("families", "--k", 2), ("world",)):
            ran = epignn("generate", *arguments, "--out", tmp_path)
            assert (ran.code, "is in use: process" in ran.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
