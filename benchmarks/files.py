"""From a file to an answer: what `epignn close` takes, beside closing alone, and how fast files are read.

Seconds are of processor time, the shortest of some runs, start-up included. The variable GQR_BIN may name a command
that closes a .csp file, which is put after it, such as `gqr c -C rcc8`: it is then measured in the same run.
"""

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from epignn.calculus.solve.closure import close
from epignn.formats.csp import write_csp
from epignn.formats.networks import read_networks
from epignn.formats.triples import read_triples

from networks import random_boxes
from record import options, save

BOXES = ((300, 40), (600, 60), (1000, 100), (2000, 150))
WAYS = {"summary": (), "query": ("--query", "0", "5"), "json": ("--json",)}


def processor_seconds(call: list[str], runs: int) -> float:
    """The shortest processor time of a command."""
    seconds = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def closing(folder: Path, quick: bool) -> dict[str, dict[str, float]]:
    command = str(Path(sys.executable).with_name("epignn"))
    gqr = shlex.split(os.environ.get("GQR_BIN", ""))
    start = processor_seconds([command, "close", "ec(0,5)", "--query", "0", "5"], 3)
    print(f"  start-up {start:.3f} s")
    print(f"  {'boxes':>6} {'closure':>8} " + " ".join(f"{way:>8}" for way in WAYS) + ("      GQR" if gqr else ""))
    figures = {"start": {"seconds": start}}
    for regions, degree in BOXES[:1] if quick else BOXES:
        network = random_boxes(regions, degree)
        path = folder / f"{regions}.csp"
        path.write_text(write_csp(network))
        row = {"closure": min(float(close(network).statistics["seconds"]) for _ in range(3))}
        row |= {way: processor_seconds([command, "close", str(path), *more], 3) for way, more in WAYS.items()}
        if gqr:
            row["gqr_seconds"] = processor_seconds([*gqr, str(path)], 1)
        print(f"  {regions:6} " + " ".join(f"{value:8.3f}" for value in row.values()))
        figures[f"close_{regions}"] = row
    return figures


def reading(folder: Path, rows: int) -> dict[str, dict[str, float]]:
    """Facts and triples over a tenth as many entities."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, rows // 10, size=(rows, 2)).tolist()
    names = [("DC", "EC", "PO", "TPP")[r] for r in rng.integers(0, 4, rows)]
    facts, triples = folder / "facts.txt", folder / "triples.tsv"
    with facts.open("w") as file:
        file.writelines(f"{name}(e{a}, e{b})\n" for name, (a, b) in zip(names, ends, strict=True))
    with triples.open("w") as file:
        file.writelines(f"e{a}\t{name}\te{b}\n" for name, (a, b) in zip(names, ends, strict=True))
    figures = {}
    for what, read, path in (("facts", read_networks, facts), ("triples", read_triples, triples)):
        start = time.process_time()
        read(path)
        seconds = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {rows:,} {what}: {seconds:.1f} s, peak {peak:,.0f} MB")
        figures[f"read_{what}"] = {"rows": rows, "seconds": seconds}
    return figures


def main() -> None:
    chosen = options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        figures = closing(Path(folder), chosen.quick)
        figures |= reading(Path(folder), 100_000 if chosen.quick else 10_000_000)
    save("files", figures, chosen)


if __name__ == "__main__":
    main()
