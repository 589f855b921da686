"""What every benchmark writes: a JSON record of figures, versions and commit, and the ratios to the last one."""

import json
from pathlib import Path
from typing import Any

from epignn.bench.record import circumstances, write_record

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
    write_record(path, {"name": name, "figures": figures, **circumstances()})
    print(f"  written: {path.relative_to(RESULTS.parent)}")
