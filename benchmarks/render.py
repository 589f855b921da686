"""Fill the figures of README.md and of docs/ from the records under results/.

    python benchmarks/render.py [--check]

Each block between `begin NAME` and `end NAME` comments is replaced; `--check` only tells whether it is up to date.
A block that a page has is filled or is an error; one that none has is left out. The blocks are in `blocks/`.
"""

import re
import sys
from pathlib import Path

from blocks import BLOCKS, ROOT, CannotRender, Results

MARK = re.compile(r"<!-- (begin|end) ([\w-]+) -->")


def render(text: str, folder: Path) -> str:
    """The text with every block it has filled from the records of a folder.

    Raises:
        CannotRender: a block has no records or is unknown, or marks do not come in pairs.
    """
    results = Results(folder)
    marks = list(MARK.finditer(text))
    if len(marks) % 2 or len({mark[2] for mark in marks}) * 2 != len(marks):
        raise CannotRender("every block has one begin mark and one end mark")
    parts, at = [], 0
    for begin, end in zip(marks[::2], marks[1::2], strict=True):
        name = begin[2]
        if (begin[1], end[1], end[2]) != ("begin", "end", name):
            raise CannotRender(f"after {begin[0]} comes {end[0]}")
        if name not in BLOCKS:
            raise CannotRender(f"unknown block {name!r}; known: {', '.join(BLOCKS)}")
        parts += [text[at : begin.end()], "\n", BLOCKS[name](results), "\n"]
        at = end.start()
    return "".join([*parts, text[at:]])


def main() -> None:
    stale = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        try:
            rendered = render(text, ROOT / "results")
        except CannotRender as error:
            sys.exit(f"{path.name}: {error}")
        if text != rendered:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(rendered, encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; python benchmarks/render.py" if stale else 0)


if __name__ == "__main__":
    main()
