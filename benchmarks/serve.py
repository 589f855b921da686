"""How many requests a second `epignn serve` answers, and how long they take, while a search goes on beside them.

Fifty clients close and explain networks of 30 regions, over connections that stay open; a search that ends by its
time limit keeps one worker busy. Once they ask as fast as answers come, which tells how many are answered a second;
once each asks a few times a second, as many people do, which tells how long they wait.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import numpy as np

from epignn.formats.networks import write_network

from networks import random_boxes
from record import options, save

CLIENTS, REGIONS, DEGREE, NETWORKS = 50, 30, 4, 20
START_SECONDS = 60
PACES = {"50 clients, as fast as answers come": 0.0, "50 clients, 220 requests a second in all": CLIENTS / 220}
"""Seconds from one request of a client to its next, if the answer is there."""
SEARCH = (300, 12)
"""Regions, and facts of each, of a network whose minimal labels take longer than any limit."""


@dataclass
class Asked:
    """One kind of request: its bodies, and the seconds that answers took."""

    path: str
    bodies: list[dict]
    seconds: list[float] = field(default_factory=list)


def kinds() -> list[Asked]:
    nets = [random_boxes(REGIONS, DEGREE, seed) for seed in range(NETWORKS)]
    texts = [{"facts": write_network(net, "facts")} for net in nets]  # as the page sends them
    rng = np.random.default_rng(0)
    pairs = [rng.choice(REGIONS, 2, replace=False).tolist() for _ in nets]
    explain = [text | {"head": str(a), "tail": str(b)} for text, (a, b) in zip(texts, pairs, strict=True)]
    return [Asked("/api/close", texts), Asked("/api/explain", explain)]


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: dict) -> int:
    """Ask over a connection that stays open; the status of the answer."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    )
    writer.write(f"{head}\r\n\r\n".encode() + data)
    await writer.drain()
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().casefold().split("\r\n")
    length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
    await reader.readexactly(length)
    return int(lines[0].split()[1])


async def client(port: int, number: int, asked: list[Asked], until: float, pace: float = 0.0) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn, due = number, time.perf_counter() + pace * number / CLIENTS
    while time.perf_counter() < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        due += pace
        kind = asked[turn % len(asked)]
        body = kind.bodies[turn // len(asked) % len(kind.bodies)]
        began = time.perf_counter()
        status = await post(reader, writer, kind.path, body)
        kind.seconds.append(time.perf_counter() - began)
        assert status == 200, status
        turn += 1
    writer.close()


async def measure(port: int, seconds: float, pace: float) -> tuple[list[Asked], float]:
    """All clients at once, with a search beside them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    hard = {"facts": write_network(random_boxes(*SEARCH), "json"), "format": "json", "algorithm": "minimal"}
    search = asyncio.create_task(post(reader, writer, "/api/close", hard))
    await asyncio.gather(*(client(port, n, kinds(), time.perf_counter() + 1) for n in range(2)))  # all is loaded
    asked, began = kinds(), time.perf_counter()
    await asyncio.gather(*(client(port, n, asked, began + seconds, pace) for n in range(CLIENTS)))
    spent = time.perf_counter() - began
    assert not search.done(), "the search has ended before the clients"
    search.cancel()
    return asked, spent


def main() -> None:
    chosen = options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "epignn", "serve", "--port", "0", "--root", f"{folder}/runs"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as server:
            try:
                assert server.stdout is not None
                port = int(server.stdout.readline().partition("127.0.0.1:")[2].partition("/")[0])
                seconds = 2 if chosen.quick else 20
                figures = {
                    name: shown(
                        name, *asyncio.run(asyncio.wait_for(measure(port, seconds, pace), START_SECONDS + 60))
                    )
                    for name, pace in PACES.items()
                }
            finally:
                server.terminate()
    save("serve", figures, chosen)


def shown(name: str, asked: list[Asked], spent: float) -> dict[str, float]:
    """Print what was measured, and give it as figures."""
    every = sorted(second for kind in asked for second in kind.seconds)
    p50, p99 = (float(np.quantile(every, q)) for q in (0.5, 0.99))
    rate = len(every) / spent
    print(f"  {name}: {rate:.0f} requests/s, p50 {p50:.3f} s, p99 {p99:.3f} s")
    for kind in asked:
        print(f"  {kind.path:<14} {len(kind.seconds):6} answers, median {np.median(kind.seconds):.3f} s")
    return {"requests_per_second": rate, "p50_seconds": p50, "p99_seconds": p99}


if __name__ == "__main__":
    main()
