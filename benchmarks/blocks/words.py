"""What does not come from runs: the words of calculi, settings, and what is shipped."""

import json
from collections.abc import Callable

from blocks.results import ROOT, Results
from epignn.calculus import load
from epignn.calculus.vocabulary import unions, vocabulary
from epignn.learn.settings import Setting, all_settings
from epignn.report.tables import markdown


def words_table(name: str) -> Callable[[Results], str]:
    """The words of a calculus, with what they mean."""

    def block(results: Results) -> str:
        calculus = load(name)
        columns, lines = vocabulary(calculus)
        several = [
            f"`{word}` stands for {' or '.join(meant.split('|'))}" for word, meant in unions(calculus).items()
        ]
        code = [column in ("relation", "picture") for column in columns]
        cells = [[f"`{cell}`" if as_is else cell for as_is, cell in zip(code, line, strict=True)] for line in lines]
        table = markdown(columns, cells).replace("---:", "---")
        return f"{table}\n\n{'; '.join(several)}." if several else table

    return block


def settings_tables(results: Results) -> str:
    """Every setting, a table for each class that holds some; what one shares with an earlier one is told once."""
    parts: list[str] = []
    told: dict[str, list[Setting]] = {}
    for what, entries in all_settings().items():
        title, part = what.replace(" ", ": ", 1), what.split()[0]
        alike = {other: set(entries) & set(told[other]) for other in told if other.startswith(f"{part}:")}
        base = max(alike, key=lambda other: len(alike[other]), default="")
        told[title] = entries
        shared = alike.get(base, set()) if len(alike.get(base, ())) > 1 else set()
        own = [s for s in entries if s not in shared]
        lines = [[f"`{s.key}`", f"`{s.default}`" if s.default else "", s.meaning.replace("|", "or")] for s in own]
        table = markdown(["setting", "default", "meaning"], lines).replace("---:", "---") if own else ""
        named = ", ".join(f"`{s.key.partition('.')[2]}`" for s in entries if s in shared)
        also = f"As in *{base}*: {named}." if shared else ""
        parts.append("\n\n".join(filter(None, [f"## {title}", also, table])))
    return "\n\n".join(parts)


def calibration_sentence(results: Results) -> str:
    """What calibration did to the shipped models."""
    shown = []
    for name in ("rcc8", "allen"):
        found = json.loads((ROOT / "src" / "epignn" / "weights" / name / "calibration.json").read_text())
        before, after = (found[when]["calibration_error"] for when in ("before", "after"))
        graphs = found.get("questions", found.get("graphs"))  # as earlier versions called them
        shown.append(f"{before:.4f} → {after:.4f} ({name}, {graphs:,} validation graphs)")
    return f"Of the shipped models, its expected error before and after: {', '.join(shown)}."
