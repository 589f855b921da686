"""Draw the pictures of every table that has records, beside these.

    python benchmarks/figures.py [TABLE ...]

Heat maps of relation vectors need the models, in `runs/`; where one is not there, that is said.
"""

import sys
from pathlib import Path

from epignn.report import links
from epignn.report.draw import draw, draw_vectors
from epignn.report.record import read_records
from epignn.report.shown import recorded_suites

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    results, wanted = ROOT / "results", sys.argv[1:]
    for name, (suite, _) in recorded_suites(results).items():
        if wanted and name not in wanted:
            continue
        records, folder = read_records(results / name), results / name
        if suite.links:
            paths, missing = [links.draw(records, folder)], []
        else:
            vectors, missing = draw_vectors(suite, records, ROOT / "runs", folder)
            paths = [*draw(suite, records, folder), *vectors]
        for path in paths:
            print(path.relative_to(ROOT))
        for text in missing:
            print(f"  {text}")


if __name__ == "__main__":
    main()
