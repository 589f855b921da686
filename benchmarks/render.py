"""Fill the figures of README.md from the records under results/.

    python benchmarks/render.py [--check]

Each block between `begin NAME` and `end NAME` comments is replaced; `--check` only tells whether it is up to date.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from epignn.bench.record import read_records
from epignn.bench.report import markdown, rows
from epignn.bench.suites import SUITES

ROOT = Path(__file__).resolve().parent.parent


def closure_sentence(records: dict[str, Any]) -> str:
    figures = records["closure"]["figures"]
    large, huge = figures["boxes_2000"], figures["map_100000"]
    return (
        f"Closing {large['regions']:,} regions with {large['facts']:,} facts takes {large['seconds']:.2g} s on one "
        f"core, {large['gqr_seconds'] / large['seconds']:.0f} times less than GQR, a solver in C++; a map of "
        f"{huge['regions']:,} regions {huge['seconds']:.2g} s."
    )


def closure_table(records: dict[str, Any]) -> str:
    record = records["closure"]
    lines = [
        "| network (RCC-8, single relations) | facts | algorithm | seconds | GQR 1501 |",
        "| --- | ---: | --- | ---: | ---: |",
    ]
    for name, row in record["figures"].items():
        boxes = name.startswith("boxes")
        what = f"{row['regions']:,} random boxes" if boxes else f"map of {row['regions']:,} regions"
        gqr = f"{row['gqr_seconds']:.2f}" if boxes else ""
        lines.append(
            f"| {what} | {row['facts']:,} | {'closure' if boxes else 'partial'} | {row['seconds']:.3f} | {gqr} |"
        )
    return "\n".join([*lines, "", _machine(record) + " GQR's figures are from another machine of that kind."])


def generator_table(records: dict[str, Any]) -> str:
    record = records["generator"]
    lines = ["| generated cell | instances a second, proved and written |", "| --- | ---: |"]
    lines += [f"| {row['cell']} | {row['per_second']:,.0f} |" for row in record["figures"].values()]
    return "\n".join([*lines, "", _machine(record)])


def rcc8_table(records: dict[str, Any]) -> str:
    runs = read_records(ROOT / "results" / "rcc8")
    commits = ", ".join(sorted({run["commit"] for run in runs}))
    return markdown(*rows(SUITES["rcc8"], runs)) + f"\n\n{_machine({**runs[0], 'commit': commits})} One core."


def ia_table(records: dict[str, Any]) -> str:
    return markdown(*rows(SUITES["ia"], read_records(ROOT / "results" / "ia")))


def expanded_table(records: dict[str, Any]) -> str:
    return markdown(*rows(SUITES["expanded"], read_records(ROOT / "results" / "expanded")))


def model_sentence(records: dict[str, Any]) -> str:
    figures = records["model"]["figures"]
    native, plain, published = (
        figures[f"step_{kind}"]["milliseconds"] for kind in ("native", "numpy", "published")
    )
    return (
        f"A training step of 128 graphs takes {native:.2f} ms by the compiled kernels, {plain:.0f} ms by plain "
        f"torch; the published code took {published:.0f} ms. Inference at k = 9, b = 3: "
        f"{figures['inference_k9_b3']['graphs_per_second']:,.0f} graphs a second. {_machine(records['model'])}"
    )


def _machine(record: dict[str, Any]) -> str:
    return f"{record['cpu']}, {record['cores']} cores, Python {record['python']}, commit {record['commit']}."


BLOCKS = {
    "closure-sentence": closure_sentence,
    "closure-table": closure_table,
    "generator-table": generator_table,
    "rcc8-table": rcc8_table,
    "ia-table": ia_table,
    "expanded-table": expanded_table,
    "model-sentence": model_sentence,
}


def render(text: str, results: Path) -> str:
    """The text with every block filled from the records of a folder."""
    records = {
        path.stem.removeprefix("bench_"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(results.glob("bench_*.json"))
    }
    for name, block in BLOCKS.items():
        pattern = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
        filled = block(records)
        text, found = re.subn(pattern, lambda m, filled=filled: f"{m[1]}{filled}\n{m[2]}", text, flags=re.S)
        if found != 1:
            sys.exit(f"README.md must hold one block {name!r}")
    return text


def main() -> None:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    rendered = render(text, ROOT / "results")
    if "--check" in sys.argv:
        sys.exit(text != rendered and "README.md is out of date: python benchmarks/render.py")
    path.write_text(rendered, encoding="utf-8")


if __name__ == "__main__":
    main()
