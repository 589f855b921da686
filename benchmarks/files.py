"""From a file to an answer: what `epignn close` takes, beside closing alone, and how fast files are read.

Seconds are of processor time, the shortest of some runs, start-up included. The variable GQR_BIN may name a command
that closes a .csp file, which is put after it, such as `gqr c -C rcc8`: it is then measured in the same run.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from epignn.calculus.solve.closure import close
from epignn.formats.csp import write_csp
from epignn.report.record import peak_mb

from networks import random_boxes
from record import options, processor_seconds, save

COMMAND = str(Path(sys.executable).with_name("epignn"))
BOXES = ((300, 40), (600, 60), (1000, 100), (2000, 150))
FORMS = {
    "facts": ("{}(e{}, e{})\n", "txt", "networks.read_networks"),
    "table": ("e{1},{0},e{2}\n", "csv", "networks.read_networks"),
    "triples": ("e{1}\t{0}\te{2}\n", "tsv", "triples.read_triples"),
}
"""What a line looks like, the suffix, and what reads it."""
WAYS = {"summary": (), "query": ("--query", "0", "5"), "json": ("--json",)}


def own_seconds(work: Callable[[], object]) -> tuple[float, float]:
    """The processor time that some work takes here, and the most memory of this process so far, in MB."""
    start = time.process_time()
    work()
    return time.process_time() - start, float(peak_mb() or 0)


def closing(folder: Path, quick: bool) -> dict[str, dict[str, float]]:
    gqr = shlex.split(os.environ.get("GQR_BIN", ""))
    start = processor_seconds([COMMAND, "close", "ec(0,5)", "--query", "0", "5"], 3)
    print(f"  start-up {start:.3f} s")
    print(f"  {'boxes':>6} {'closure':>8} " + " ".join(f"{way:>8}" for way in WAYS) + ("      GQR" if gqr else ""))
    figures = {"start": {"seconds": start}}
    for regions, degree in BOXES[:1] if quick else BOXES:
        network = random_boxes(regions, degree)
        path = folder / f"{regions}.csp"
        path.write_text(write_csp(network))
        row = {"closure": min(own_seconds(lambda network=network: close(network))[0] for _ in range(3))}
        row |= {way: processor_seconds([COMMAND, "close", str(path), *more], 3) for way, more in WAYS.items()}
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
    figures = {}
    for what, (line, suffix, read) in FORMS.items():
        path = folder / f"{what}.{suffix}"
        with path.open("w") as file:
            file.writelines(line.format(name, a, b) for name, (a, b) in zip(names, ends, strict=True))
        figures[f"read_{what}"] = {"rows": rows} | alone(read, path)
        path.unlink()
    return figures


def alone(read: str, path: Path) -> dict[str, float]:
    """Processor seconds and peak memory of reading a file, in a process of its own."""
    module, _, name = read.partition(".")
    code = (
        f"from pathlib import Path; from files import own_seconds; from epignn.formats.{module} import {name};"
        f"print(*own_seconds(lambda: {name}(Path({str(path)!r}))))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, check=True)
    seconds, peak = map(float, run.stdout.split())
    print(f"  {path.name}: {seconds:.1f} s, {peak:,.0f} MB")
    return {"seconds": seconds, "peak_mb": peak}


def relating(folder: Path, regions: int) -> dict[str, dict[str, float]]:
    """Polygons of 24 corners, scattered around the places of a grid so that neighbours overlap, as GeoJSON."""
    rng, side = np.random.default_rng(1), int(regions**0.5) + 1
    angle = np.linspace(0, 2 * np.pi, 25)[:-1]
    far = rng.uniform(0.45, 0.75, (regions, 24))
    place = np.stack(np.divmod(np.arange(regions), side), axis=-1)
    corners = place[:, None] + np.stack([far * np.cos(angle), far * np.sin(angle)], axis=-1)
    rings = np.concatenate([corners, corners[:, :1]], axis=1).round(6).tolist()
    path = folder / "regions.geojson"
    with path.open("w") as file:
        features = [{"geometry": {"type": "Polygon", "coordinates": [ring]}} for ring in rings]
        json.dump({"type": "FeatureCollection", "features": features}, file)
    seconds = processor_seconds([COMMAND, "relate", str(path), "--json"], 1)
    print(f"  relate {regions:,} polygons: {seconds:.1f} s")
    return {"relate": {"regions": regions, "seconds": seconds}}


def main() -> None:
    chosen = options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        figures = closing(Path(folder), chosen.quick)
        figures |= reading(Path(folder), 100_000 if chosen.quick else 10_000_000)
        figures |= relating(Path(folder), 1_000 if chosen.quick else 100_000)
    save("files", figures, chosen)


if __name__ == "__main__":
    main()
