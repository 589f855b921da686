"""Training runs of a server: each is a process of `epignn train`, which keeps all it has in its run folder.

A run that is stopped, by a client or with the server, goes on where it was by the same command.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument, lookup
from epignn.files import load_json, make_folder, read_text, write_text
from epignn.reason.folders import shipped_models
from epignn.web import uploads
from epignn.web.errors import Busy, Conflict, NotThere, Refused
from epignn.web.experiments import OFFERS, checked, command, read_request
from epignn.web.folders import (
    DATA,
    ERROR,
    HISTORY,
    LOCK,
    LOG,
    REQUEST,
    TRIPLES,
    brought,
    known_run,
    lock,
    run_folder,
    run_names,
    trains,
)
from epignn.web.limits import Context
from epignn.web.workers import Pool

NICE = 10
LOOK = 0.25
"""Seconds from one look at a run folder to the next."""
QUIET = 15.0
"""Seconds after which a stream without news says that it is there."""
END = 5.0
"""Seconds that a process has to end before it is killed."""
PROCESS = re.compile("[2-9]|[1-9][0-9]{1,8}")
"""The number of a process, and not that of a group, of the first process, or of all."""
STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
"""Exit codes of a run that a signal has stopped in good order; one that was killed has a negative code."""


class Runs:
    """The runs of a server.

    Args:
        context: where they are kept.
        pool: workers that read their folders.
        readers: workers that read what is uploaded, which may take a while.
    """

    def __init__(self, context: Context, pool: Pool, readers: Pool) -> None:
        self.context, self.pool, self.readers = context, pool, readers
        self._watched: dict[str, asyncio.Task[None]] = {}
        self._places: dict[str, list[list[float]]] = {}
        self._one = asyncio.Lock()

    # -- to begin and to end --

    async def begin(self, asked: dict[str, Any]) -> str:
        """Begin a run, or go on with the same one; its name.

        Raises:
            Conflict: another run has this name.
            Busy: enough runs train already.
        """
        offer = lookup("experiment", asked["experiment"], OFFERS)
        upload = asked["upload"]
        if (upload is None) == (not offer.what):
            need = "needs files to train on" if not offer.what else "has its own data; leave the upload out"
            raise BadArgument(f"{asked['experiment']} {need}.")
        if asked["calculus"] is not None and asked["experiment"] != "graphs":
            raise BadArgument("only graphs of your own have a calculus to be chosen.")
        digest = None if upload is None else uploads.digest(upload)
        request = {**asked, "settings": [checked(setting) for setting in asked["settings"]], "upload": digest}
        async with self._one:
            name = request.pop("name") or self._free_name(asked["experiment"])
            folder = run_folder(self.context.root, name)
            if name in shipped_models():
                raise Conflict(f"{name} is the name of a shipped model; choose another name.")
            if self._holds_another(folder, request):
                raise Conflict(f"{name} holds another run; choose another name.")
            self._check_room(folder)
            if self._request(folder) is None:
                shutil.rmtree(folder, ignore_errors=True)  # what a server that was killed had begun to make
                make_folder(folder)
                if upload is not None:
                    request["calculus"] = await self._kept(upload, folder, request)
                write_text(folder / REQUEST, json.dumps(request) + "\n")
            await self._start(name, folder, self._request(folder) or request)
        return name

    async def resume(self, name: str) -> None:
        """Go on with a run that was stopped, or has failed.

        Raises:
            Conflict: it trains, or was not begun here.
        """
        async with self._one:
            folder = known_run(self.context.root, name)
            request = self._request(folder)
            if request is None:
                raise Conflict(f"{name} was not begun here; its command at a terminal resumes it.")
            self._check_room(folder)
            await self._start(name, folder, request)

    async def stop(self, name: str) -> None:
        """Stop a run; what it has is kept.

        Raises:
            Conflict: it does not train, or goes on although it was killed.
        """
        folder = known_run(self.context.root, name)
        if not trains(folder):
            raise Conflict(f"{name} does not train.")
        told = (folder / LOCK).read_text(encoding="ascii", errors="replace").strip()
        if not PROCESS.fullmatch(told):
            raise Conflict(f"{name} is only just beginning; try again.")
        pid = int(told)
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, how)  # the process that holds the lock, so that the number is still its own
            if await _ended(folder):
                break
        else:
            raise Conflict(f"{name} was killed, and has not ended yet; try again.")
        if name in self._watched:
            await self._watched[name]

    async def end(self) -> None:
        """Stop the runs that this server has begun."""
        for name in list(self._watched):
            if trains(self.context.root / name):
                await self.stop(name)

    def _free_name(self, experiment: str) -> str:
        names = (f"{experiment}-{number}" for number in range(1, 10_000))
        found = next((name for name in names if not (self.context.root / name).exists()), None)
        if found is None:
            raise Conflict(f"there are too many runs of {experiment}; name this one.")
        return found

    def _holds_another(self, folder: Path, request: dict[str, Any]) -> bool:
        """Whether a folder has a run of other settings; one whose making was cut short has none yet."""
        if not folder.exists():
            return False
        begun = self._request(folder)
        if begun is None:
            return any(
                not path.name.startswith(".") and path.name not in (DATA, TRIPLES) for path in folder.iterdir()
            )
        return not _same(begun, request)

    def _request(self, folder: Path) -> dict[str, Any] | None:
        """How a run was begun; None where it was not begun from the page.

        Raises:
            BadFile: its file says what the page would not have sent.
        """
        path = folder / REQUEST
        if not path.is_file():
            return None
        return read_request(load_json(read_text(path), path.name), path.name)

    def _check_room(self, folder: Path) -> None:
        root, most = self.context.root, self.context.limits.training
        if trains(folder):
            raise Conflict(f"{folder.name} trains already.")
        if sum(trains(root / name) for name in run_names(root)) >= most:
            raise Busy(f"{most} runs train already; stop one, or wait until it has ended.")

    async def _kept(self, upload: list[dict[str, str]], folder: Path, request: dict[str, Any]) -> str | None:
        """Keep the files of an upload, unless training would refuse them later; the calculus that they speak of."""
        try:
            await asyncio.to_thread(uploads.keep, upload, folder)
            asked = {"run": folder.name, "links": request["experiment"] == "links", "calculus": request["calculus"]}
            status, body = await self.readers.run("upload", asked)
            found: dict[str, Any] = json.loads(body)
            if status != 200:
                raise BadArgument(found["error"].replace(f"{brought(folder)}/", ""))
            calculus: str | None = found["calculus"]
            return calculus
        except BaseException:
            shutil.rmtree(folder)
            raise

    async def _start(self, name: str, folder: Path, request: dict[str, Any]) -> None:
        held = lock(folder)
        if held is None:
            raise Conflict(f"{name} trains already.")
        try:
            (folder / ERROR).unlink(missing_ok=True)
            words = (sys.executable, "-m", "epignn", *command(request, folder))
            with (folder / LOG).open("ab") as log:
                # The process keeps the lock as long as it lives, also when this server does not.
                process = await asyncio.create_subprocess_exec(
                    *words, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(held,)
                )
            with suppress(OSError):  # it has ended already, which whoever watches it will tell
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
            os.ftruncate(held, 0)
            os.write(held, b"%d\n" % process.pid)
        finally:
            os.close(held)
        self._watched[name] = asyncio.create_task(self._watch(name, folder, process))

    async def _watch(self, name: str, folder: Path, process: asyncio.subprocess.Process) -> None:
        """Wait for the end of a run, and keep the reason if it failed."""
        code = await process.wait()
        self._watched.pop(name, None)
        if code > 0 and code not in STOPPED and folder.is_dir():
            said = (folder / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
            write_text(folder / ERROR, (said[-1] if said else f"exit code {code}").removeprefix("error: "))

    # -- to watch --

    async def told(self, name: str) -> dict[str, Any]:
        """All that is known of a run."""
        known_run(self.context.root, name)
        status, body = await self.pool.run("run", {"name": name, "previous": self._places.get(name)})
        found: dict[str, Any] = json.loads(body)
        if status != 200:
            raise NotThere(found["error"]) if status == 404 else Refused(found["error"])
        if found["vectors"] is not None:
            self._places[name] = found["vectors"]
        request = self._request(self.context.root / name)
        if request is not None:
            found["command"] = shlex.join(["epignn", *command(request, self.context.root / name)])
        return found

    async def events(self, name: str) -> AsyncIterator[str]:
        """What happens to a run, as server-sent events: epochs, those there are first, and at last its state."""
        folder, sent, quiet = known_run(self.context.root, name), 0, 0.0
        looked: float | None = None
        while True:
            over = not trains(folder)  # asked first: what a run writes before its end is then there to be read
            changed = (folder / HISTORY).stat().st_mtime if (folder / HISTORY).is_file() else 0.0
            if changed != looked or over:
                looked, found = changed, await self.told(name)
                for entry in found["history"][sent:]:
                    last = entry is found["history"][-1]
                    more = {"vectors": found["vectors"] if last else None, "seconds_left": _left(found, entry)}
                    yield _event("epoch", {**entry, "epochs": found["epochs"], **more})
                sent, quiet = len(found["history"]), 0.0
                if over:
                    yield _event("state", {"state": found["state"], "error": found["error"]})
                    return
            if quiet >= QUIET:
                quiet = 0.0
                yield ": still training\n\n"
            await asyncio.sleep(LOOK)
            quiet += LOOK


async def _ended(folder: Path) -> bool:
    """Whether a run ends within `END` seconds."""
    for _ in range(int(END / LOOK)):
        if not trains(folder):
            return True
        await asyncio.sleep(LOOK)
    return not trains(folder)


def _same(before: dict[str, Any] | None, now: dict[str, Any]) -> bool:
    """Whether a run was begun in the same way; the calculus of its files may have been recognised since."""
    recognised = {} if now["calculus"] or before is None else {"calculus": before.get("calculus")}
    return before == {**now, **recognised}


def _left(found: dict[str, Any], entry: dict[str, Any]) -> float:
    """About how many seconds a run goes on after an epoch."""
    spent: list[float] = [one["seconds"] for one in found["history"] if one["epoch"] <= entry["epoch"]]
    epochs: int = max(found["epochs"] - entry["epoch"], 0)
    return round(sum(spent) / len(spent) * epochs, 1)


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
