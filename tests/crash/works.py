"""A process that does the work of commands in forks of itself, each disturbed at one operation: see `operations.c`.

It is started with that library before the C library. Every line that it reads is a work in JSON, every line that it
writes how the work ended. What the works need is loaded once, before the forks.
"""

import asyncio
import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

FELL = 70
FEW = ("data.per_label=2", "data.k=[2]", "data.b=[1]", "training.epochs=2")


def _command(*words: str) -> None:
    """Run the command line; it ends the process with its exit code."""
    from epignn.cli import main

    sys.argv = ["epignn", *words]
    main()


def train(folder: Path, host: str) -> None:
    """`epignn train`, of a few graphs."""
    settings = [word for setting in FEW for word in ("--set", setting)]
    _command("train", "rcc8", *settings, "--out", f"{folder}/run")


def generate(folder: Path, host: str) -> None:
    """`epignn generate`, of two files."""
    sizes = ("--k", "2", "--b", "1", "2", "--per-label", "1")
    _command("generate", "calculus", "point", *sizes, "--out", f"{folder}/made", "--overwrite")


def distil(folder: Path, host: str) -> None:
    """`epignn distil`, which writes a calculus and its certificate."""
    _command("distil", "rcc8", "--weights-only", "--out", f"{folder}/learnt.toml")


def reproduce(folder: Path, host: str) -> None:
    """`epignn reproduce`, of a model that only counts."""
    where = ("--results", f"{folder}/results", "--runs", f"{folder}/runs")
    _command("reproduce", "rcc8", "--models", "majority", "--seed", "0", "--quick", *where)


def get(folder: Path, host: str) -> None:
    """`epignn data get`, from a server at this machine."""
    from epignn.tasks import fetch
    from tests.tasks.test_fetch import entry_of

    fetch.get(entry_of(), folder, host, wait=0)


def serve(folder: Path, host: str) -> None:
    """A run that is begun at the page of `epignn serve`, up to its end."""
    from epignn.web.folders import trains
    from epignn.web.limits import Context
    from epignn.web.runs import Runs
    from epignn.web.workers import Pool

    async def begin() -> None:
        while trains(folder / "a"):  # the process that trains goes on when its server is killed
            await asyncio.sleep(0.1)
        settings = ["data.per_label=1", "training.epochs=1"]
        nobody = Pool.__new__(Pool)  # who would read uploads; there are none
        runs = Runs(Context(root=folder), nobody, nobody)
        await runs.begin(
            {"experiment": "rcc8", "name": "a", "settings": settings, "seed": 0, "upload": None, "calculus": None}
        )
        await asyncio.gather(*runs._watched.values())

    asyncio.run(begin())


def migrate(folder: Path, host: str) -> None:
    """Records of an earlier version, taken into one file."""
    from epignn.report.migrate import migrate as taken

    taken(folder)


def refine(folder: Path, host: str) -> None:
    """A model that its own calculus teaches, for two short epochs."""
    from dataclasses import replace

    from epignn.distil import refine as module
    from epignn.learn.checkpoint import load_model
    from epignn.learn.objectives.sets import SetsConfig

    trained = load_model("rcc8")
    experiment = replace(trained.experiment, data=replace(trained.experiment.data, per_label=20))
    module.refine(
        replace(trained, config=replace(trained.config, experiment=experiment)),
        folder / "sharp",
        settings=SetsConfig(larger=2, expressions=1280),
        training=replace(module.TRAINING, epochs=2),
    )


def records(folder: Path) -> None:
    """What there is to migrate: two at first, and one that comes anew each time."""
    names = ["new"] if (folder / "a").exists() else ["one", "two", "new"]
    (folder / "a").mkdir(exist_ok=True)
    for name in names:
        told = {"commit": "x", "python": "3", "figure": name}
        (folder / "a" / f"{name}.json").write_text(json.dumps(told), encoding="utf-8")


BEFORE: Mapping[str, Callable[[Path], None]] = {"migrate": records}
"""What is made of a folder before a work, and not disturbed."""
WORKS: Mapping[str, Callable[[Path, str], None]] = {
    "train": train,
    "generate": generate,
    "distil": distil,
    "reproduce": reproduce,
    "get": get,
    "serve": serve,
    "migrate": migrate,
    "refine": refine,
}


def disturbed(name: str, folder: str, at: int, fault: int, host: str) -> tuple[int, str]:
    """Do a work in a child that ends at its operation number `at`, or whose operation then fails.

    Returns its exit code, below 0 if a signal ended it, and what it said or else the number of its operations.
    """
    from epignn.errors import EpignnError

    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read().decode(errors="replace")
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
    code, operations = FELL, ctypes.CDLL(None)
    try:
        signal.alarm(120)
        os.close(read)
        os.dup2(write, 1)
        os.dup2(write, 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        BEFORE.get(name, lambda folder: None)(Path(folder))
        operations.operations_begin(folder.encode(), ctypes.c_long(at), fault)
        WORKS[name](Path(folder), host)
        code = 0
    except EpignnError as error:
        os.write(write, str(error).encode())
        code = 2
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        os.write(write, traceback.format_exc().encode())
    finally:
        sys.stdout.flush()
        os.write(write, f"\noperations {operations.operations_seen()}".encode())
        os._exit(code)


def main() -> None:
    """Answer until there are no more questions."""
    import torch

    import epignn.learn.run
    import epignn.report.reproduce
    import epignn.web.runs  # noqa: F401
    from tests.tasks import test_fetch  # noqa: F401

    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(disturbed(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
