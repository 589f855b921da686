"""How much faster two workers are than one, for each kind of work that is shared out."""

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.data.prove import prove
from epignn.reason.networks import Several, run_several
from epignn.report.trial import Trial, run_trial
from epignn.tasks.check import Asked, check_file
from epignn.tasks.generate import generate
from epignn.workers import Workers, run, workers_of

from record import options, save

SHARDS = 8


def works(folder: Path, quick: bool) -> dict[str, Callable[[Workers, str], object]]:
    """What is measured, by name; each is called with workers and a word that is new each time."""
    rcc8, rng = load("rcc8"), np.random.default_rng(0)
    scale = 1 if quick else 8
    facts = [
        [(str(i), str(rcc8.relations[rng.integers(8)]), str(i + 1)) for i in range(60)] for _ in range(60 * scale)
    ]
    networks = [Network.of(rcc8, some) for some in facts]
    checked = folder / "checked"
    generate(rcc8, [6], [3], 100 * scale, 1, checked, shards=SHARDS)
    settings = ("data.per_label=20", "training.epochs=1", "training.starts=1")

    def made(workers: Workers, name: str) -> object:
        proved = partial(prove, calculus=rcc8)
        return generate(rcc8, [9], [3], 80 * scale, 0, folder / name, proved, shards=SHARDS, workers=workers)

    def check(workers: Workers, name: str) -> object:
        return run(workers, check_file, [Asked(f, rcc8, "closure") for f in checked.glob("*.csv.gz")]).all()

    def close(workers: Workers, name: str) -> object:
        parts = [networks[first : first + 10] for first in range(0, len(networks), 10)]
        return run(workers, run_several, [Several(p, "closure", None, "", "auto") for p in parts]).all()

    def train(workers: Workers, name: str) -> object:
        return run(workers, run_trial, [Trial("x", "rcc8-paper", settings, seed=s) for s in range(4)]).all()

    return {"generate": made, "check": check, "close": close, "train": train}


def main() -> None:
    chosen = options(__doc__)
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        measured = works(Path(name), chosen.quick)
        for count in (1, 2):
            with workers_of(str(count)) as workers:
                measured["train"](workers, "")  # what processes load first is not measured
                for kind, work in measured.items():
                    start = time.perf_counter()
                    work(workers, f"{kind}{count}")
                    figures.setdefault(kind, {})[f"workers_{count}_seconds"] = time.perf_counter() - start
    for kind, row in figures.items():
        row["faster"] = row["workers_1_seconds"] / row["workers_2_seconds"]
        print(f"  {kind}: {row['faster']:.2f} times as fast with two workers")
    save("workers", figures, chosen)


if __name__ == "__main__":
    main()
