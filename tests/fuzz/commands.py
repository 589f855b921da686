"""The commands that read each kind of file, and what has to hold of them whatever the file holds."""

from pathlib import Path

FACTS = (("close", "FILE"), ("close", "FILE", "--json", "--query", "a", "b"), ("explain", "rcc8", "FILE", "a", "b"),
         ("entails", "FILE", "ec(a, b)"))  # fmt: skip
GRAPHS = (("check", "FILE"), ("evaluate", "rcc8", "FILE"), ("predict", "rcc8", "FILE"), ("score", "FILE", "FILE"))
TRIPLES = (("train", "FILE", "--set", "training.epochs=1", "--out", "OUT"),)
TOML = (("calculus", "validate", "FILE"), ("explain", "FILE", "a(x, y). b(y, z)", "x", "z"),
        ("close", "<(a, b)", "--calculus", "FILE"), ("evaluate", "FILE", "whole.csv"),
        ("train", "FILE", "--set", "training.epochs=1", "--out", "OUT"))  # fmt: skip
RUNS = (("predict", "FILE", "whole.csv"), ("evaluate", "FILE", "whole.csv"), ("close", "FILE"), ("distil", "FILE"))
READ_BY = {
    ".txt": FACTS, ".csp": FACTS, ".json": FACTS, ".csv": FACTS + GRAPHS, ".jsonl": GRAPHS, ".tsv": TRIPLES,
    ".toml": TOML, "": RUNS,
}  # fmt: skip


def commands(path: Path) -> tuple[tuple[str, ...], ...]:
    """The commands for a file, by the end of its name; for a folder, those that take a model."""
    return READ_BY[Path(path.name.removesuffix(".gz")).suffix]


def filled(command: tuple[str, ...], path: Path, out: Path, corpus: Path) -> list[str]:
    """A command with the names of its files."""
    names = {"FILE": str(path), "OUT": str(out), "whole.csv": str(corpus / "whole.csv")}
    return [names.get(word, word) for word in command]
