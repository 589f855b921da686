"""What `epignn reproduce` runs: experiments, seeds and test cells, as data, beside the paper's figures."""

from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

TEST_SEED = 2025
"""Test problems come from this seed of the generator; training sets use others."""
MAIN = tuple(product(range(2, 10), (1, 2, 3)))
EXPANDED = tuple((k, b) for k in (9, 12, 15) for b in (4, 6, 8))


@dataclass(frozen=True)
class Variant:
    """An experiment with settings of its own."""

    name: str
    experiment: str
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """One table of the paper.

    Attributes:
        title: what the table is called.
        variants: its rows.
        cells: (k, b) of the test sets.
        per_label: test problems of each label in each cell.
        paper: the paper's figures by row name: mean over all cells, and single cells.
    """

    title: str
    variants: tuple[Variant, ...]
    cells: tuple[tuple[int, int], ...]
    per_label: int
    paper: MappingProxyType[str, float]


def _same(*names: str) -> tuple[Variant, ...]:
    return tuple(Variant(name, name) for name in names)


def _ablations() -> tuple[Variant, ...]:
    """All sixteen combinations of the paper's four ablations."""
    found = []
    for facet, probability, composition, backward in product((False, True), repeat=4):
        settings = [
            *(["model.facets=1"] if facet else []),
            *(["model.constrained=false"] if probability else []),
            *(['model.composition="mlp"'] if composition else []),
            *(["model.forward_only=true"] if backward else []),
        ]
        flags = zip(
            ("facets=1", "unconstrained", "mlp", "forward only"),
            (facet, probability, composition, backward),
            strict=True,
        )
        name = ", ".join(flag for flag, used in flags if used)
        found.append(Variant(name or "full model", "rcc8-paper", tuple(settings)))
    return tuple(found)


SUITES: MappingProxyType[str, Suite] = MappingProxyType(
    {
        "rcc8": Suite(
            "RCC-8, k = 2..9, b = 1..3", _same("rcc8-paper", "rcc8"), MAIN, 100,
            MappingProxyType({"average": 0.96, "k=9 b=3": 0.80}),
        ),
        "ia": Suite(
            "Interval algebra, k = 2..9, b = 1..3", _same("ia-paper", "ia"), MAIN, 60,
            MappingProxyType({}),
        ),
        "expanded": Suite(
            "Expanded sets, k up to 15, b up to 8", _same("rcc8-paper", "rcc8", "ia-paper", "ia"), EXPANDED, 40,
            MappingProxyType({"rcc8 k=15 b=8": 0.74, "ia k=15 b=8": 0.77}),
        ),
        "rounds": Suite(
            "RCC-8 by message-passing rounds, b = 3",
            tuple(Variant(f"{n} rounds", "rcc8-paper", (f"model.rounds={n}",)) for n in (5, 7, 9, 11, 13, 15)),
            tuple((k, 3) for k in (5, 7, 9, 11, 13, 15)), 40, MappingProxyType({}),
        ),
        "ablations": Suite(
            "Ablations on RCC-8", _ablations(), ((4, 2), (5, 1), (7, 2), (9, 3)), 60,
            MappingProxyType({"full model k=9 b=3": 0.80, "facets=1 k=9 b=3": 0.68, "forward only k=9 b=3": 0.51}),
        ),
    }
)  # fmt: skip
