"""What all benchmarks share: their options, and a JSON record of figures, versions and commit beside the last one.

    python benchmarks/NAME.py [--quick] [--out DIR]

Figures are compared with the records in results/ and written there; `--out`, or the variable EPIGNN_BENCH_OUT,
names another folder, so that a run on a busy machine replaces nothing.
"""

import argparse
import json
import os
import resource
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.report.record import circumstances, write_document

RESULTS = Path(__file__).resolve().parent.parent / "results"
Figures = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Options:
    """How a benchmark was called: a quick one is shown but not recorded."""

    quick: bool
    out: Path


def options(description: str | None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller, and nothing is recorded")
    elsewhere = os.environ.get("EPIGNN_BENCH_OUT", RESULTS)
    parser.add_argument("--out", type=Path, default=Path(elsewhere), help="write the record here, not to results/")
    return Options(**vars(parser.parse_args()))


def processor_seconds(call: list[str], runs: int) -> float:
    """The shortest processor time of a command."""
    seconds = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def save(name: str, figures: Figures, chosen: Options) -> None:
    """Print how the figures compare with the record in results/, and write the new one."""
    last = RESULTS / f"bench_{name}.json"
    now = {"name": name, "figures": figures, **circumstances()}
    before = json.loads(last.read_text(encoding="utf-8")) if last.exists() else {"figures": {}, "commit": "none"}
    print_table(figures, before)
    if not chosen.quick:
        path = chosen.out / last.name
        write_document(path, now)
        print(f"  written: {path}")


def print_table(figures: Figures, before: dict[str, Any]) -> None:
    """Every measured figure: now, in the last record, and how many times better it is."""
    print(f"  {'figure':<52} {'now':>9} {'last':>9} {'better':>7}   last: commit {before['commit']}")
    for name, value, last, better in compared(figures, before["figures"]):
        beside = "" if last is None else f"{_short(last):>9} {better:7.2f}"
        print(f"  {name:<52} {_short(value):>9} {beside}".rstrip())
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores:
        print(f"  This machine is busy: load {load:.1f} on {cores} cores. It is slower than it could be.")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def compared(now: Figures, before: Figures) -> Iterator[tuple[str, float, float | None, float]]:
    """Name, value, last value and how many times better, above 1, or worse, below it; 1 where there is no last.

    Rates (`…per_second`) are better when higher, all else when lower. Published figures and counts are left out.
    """
    for row, values in now.items():
        for key, value in values.items():
            if not isinstance(value, float) or "published" in row or key == "gqr_seconds":
                continue
            last = before.get(row, {}).get(key)
            ratio = value / last if last else 1.0
            better = ratio if key.endswith("per_second") else 1 / ratio
            yield f"{row} {key.replace('_', ' ')}", value, last, better
