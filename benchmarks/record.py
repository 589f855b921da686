"""What every benchmark writes: a JSON record of figures, versions and commit, and the ratios to the last one."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from epignn.version import __version__

RESULTS = Path(__file__).resolve().parent.parent / "results"


def save(name: str, figures: dict[str, dict[str, Any]]) -> None:
    """Write `results/bench_<name>.json`, after printing how the figures compare with the record before."""
    path = RESULTS / f"bench_{name}.json"
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))["figures"]
        for name_of, row in figures.items():
            for key, value in row.items():
                last = before.get(name_of, {}).get(key)
                if isinstance(value, float) and isinstance(last, float) and last and key != "gqr_seconds":
                    print(f"  {name_of} {key}: {value / last:.2f} times the last record")
    record = {
        "name": name,
        "figures": figures,
        "epignn": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpu": _cpu(),
        "cores": os.cpu_count(),
    }
    RESULTS.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(f"  written: {path.relative_to(RESULTS.parent)}")


def _commit() -> str:
    """The commit of the source tree; `+` where it has changes."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=12"],
        cwd=RESULTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip() or "unknown"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
