"""What `epignn reproduce` runs: experiments, seeds and test cells, as data, beside the paper's figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType

from epignn.errors import unknown
from epignn.report.published import CLUTRR, CLUTRR_23, Figures
from epignn.tasks import CARRIED, SPLITS

MAIN = tuple(product(range(2, 10), (1, 2, 3)))
EXPANDED = tuple((k, b) for k in (9, 12, 15) for b in (4, 6, 8))
OWN = frozenset({"epignn", "epignn-rules"})
"""The models of which the suite of links has rows anyway."""
ALONE = (("trust", 0.0), ("frequency", 0.0))
"""Settings by which an EpiGNN for links is tested without the rules and frequencies beside it."""


def file_stem(row: str) -> str:
    """The name of a row as part of a file name.

    >>> file_stem("paper's, min")
    'papers_min'
    """
    return row.replace(" ", "_").replace(",", "").replace("'", "").replace(":", "-")


@dataclass(frozen=True)
class Variant:
    """An experiment with settings of its own.

    Attributes:
        name: of its row.
        experiment: which one.
        settings: what differs from it.
        tested: settings of the model that differ when it is tested.
        refined: how the model was refined, if it was, by the calculus distilled from it: `exact` or `taught`; where
            there is no calculus, with its rules beside it, `exact`, or by longer walks, `taught`.
        baselines: not a model of its own, but scorers of links that learn nothing.
        epochs: at most so many are trained, where a table asks all rows for fewer; no limit if 0.
        folder: what its run folder begins with, where several tables test the same runs.
    """

    name: str
    experiment: str
    settings: tuple[str, ...] = ()
    tested: tuple[tuple[str, int | float], ...] = ()
    refined: str = ""
    baselines: bool = False
    epochs: int = 0
    folder: str = ""

    @property
    def run(self) -> str:
        """What its run folder begins with: rows without settings of their own share the experiment's."""
        if self.folder:
            return self.folder
        if any(text.startswith("model.kind=") for text in self.settings):
            return f"{self.experiment} {self.name}"
        return self.name if self.settings else self.experiment


@dataclass(frozen=True)
class Suite:
    """One table of the paper.

    Attributes:
        title: what the table is called.
        variants: its rows.
        cells: (k, b) of the test sets.
        per_label: test problems of each label in each cell.
        paper: the paper's figures by row name: mean over all cells, and single cells.
        seeds: runs of each row, unless asked otherwise.
        distil: whether what each model is distilled into is tested too.
        links: whether links are ranked; the table is then one row a split.
        remarks: what a reader has to know of the table.
        spreads: two standard deviations of published rows, by row.
        reasons: why rows differ from published ones, by row.
        others: whether records of other rows, of models from elsewhere, stand in the table, too.
    """

    title: str
    variants: tuple[Variant, ...]
    cells: tuple[tuple[int, int], ...]
    per_label: int
    paper: MappingProxyType[str, float]
    seeds: int = 3
    distil: bool = False
    links: bool = False
    remarks: tuple[str, ...] = ()
    spreads: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    others: bool = False

    def with_models(self, kinds: Sequence[str]) -> "Suite":
        """A suite of links: a row for each split and each of some kinds of models; of EpiGNN, all that it has."""
        bases = [variant for variant in self.variants if variant.name.endswith(" best")]
        own = self.variants if set(kinds) & OWN else tuple(one for one in self.variants if one.baselines)
        rows = [
            Variant(
                f"{base.name.partition(' ')[0]} {kind.rpartition(':')[2]}",
                base.experiment,
                (*base.settings, f"model.kind={json.dumps(kind)}"),
            )
            for kind in kinds
            if kind not in OWN
            for base in bases
        ]
        return replace(self, variants=(*own, *rows))

    def only(self, words: str) -> "Suite":
        """The row of this name, or those whose names have all of these words; baselines stay with their split.

        Published figures of other rows are left out.
        """
        chosen = [v for v in self.variants if v.name == words] or [
            v for v in self.variants if set(words.split()) <= set(v.name.split())
        ]
        if not chosen:
            raise unknown("row", words, [v.name for v in self.variants])
        kept = {v.name.partition(" ")[0] for v in chosen} if self.links else set()
        variants = [v for v in self.variants if v in chosen or (v.baselines and v.name.partition(" ")[0] in kept)]
        others = tuple(f"{v.name} " for v in self.variants if v not in variants)
        paper = {name: figure for name, figure in self.paper.items() if not name.startswith(others)}
        return replace(self, variants=tuple(variants), paper=MappingProxyType(paper))


def _same(*names: str) -> tuple[Variant, ...]:
    return tuple(Variant(name, name) for name in names)


def _refined(*names: str) -> tuple[Variant, ...]:
    """Models refined by what they have learnt: taught by it, and set to it."""
    found = [
        (Variant(f"{n}, refined", n, refined="taught"), Variant(f"{n}, exact", n, refined="exact")) for n in names
    ]
    return tuple(variant for both in found for variant in both)


def _ruled(*variants: Variant) -> Iterator[Variant]:
    """Models of rules, alone and beside their rules."""
    for variant in variants:
        yield variant
        yield replace(variant, name=f"{variant.name}, with its rules", refined="exact", folder=variant.run)


# The margin is for the sum over facets, of one each.
ABLATIONS = (
    ("facets=1", ("model.facets=1", "objective.margin=1.0")),
    ("unconstrained", ("model.constrained=false",)),
    ("mlp", ('model.composition="mlp"',)),
    ("forward only", ("model.forward_only=true",)),
)
ABLATION_EPOCHS = 4
"""Fewer than in the main table, and the same for all rows: most ablations run without the compiled kernels."""
PAPER_EPOCHS = 40
# By row: the paper's average over k = 2..9, b = 1..3, and k = 9, b = 3. Rows in binary order of the four above.
ABLATION_FIGURES = (
    (0.96, 0.80), (0.84, 0.51), (0.12, 0.12), (0.12, 0.12), (0.38, 0.21), (0.60, 0.27), (0.12, 0.12), (0.22, 0.18),
    (0.92, 0.68), (0.81, 0.49), (0.12, 0.12), (0.12, 0.12), (0.25, 0.14), (0.25, 0.17), (0.12, 0.12), (0.12, 0.12),
)  # fmt: skip


def _ablations() -> tuple[tuple[Variant, ...], dict[str, float]]:
    """All sixteen combinations of the paper's four ablations, and its figures for them."""
    variants: list[Variant] = []
    paper: dict[str, float] = {}
    for used, figures in zip(product((False, True), repeat=4), ABLATION_FIGURES, strict=True):
        chosen = [ablation for ablation, on in zip(ABLATIONS, used, strict=True) if on]
        name = ", ".join(name for name, _ in chosen) or "full model"
        settings = (*(one for _, changed in chosen for one in changed), f"training.epochs={ABLATION_EPOCHS}")
        variants.append(Variant(name, "rcc8-paper", settings))
        paper |= {f"{name} average": figures[0], f"{name} k=9 b=3": figures[1]}
    return tuple(variants), paper


def _unconstrained() -> tuple[tuple[Variant, ...], dict[str, float]]:
    """The rows of the ablations that differ most from the paper's, as here and as in the published code."""
    figures = {"unconstrained": (0.38, 0.21), "unconstrained, forward only": (0.60, 0.27)}
    ablations, variants = dict(ABLATIONS), []
    paper: dict[str, float] = {}
    for way, settings in (("", ()), (", as in the published code", ('model.unconstrained="absolute"',))):
        for row, (average, hardest) in figures.items():
            changed = [one for name in row.split(", ") for one in ablations[name]]
            for epochs in (ABLATION_EPOCHS, PAPER_EPOCHS) if way else (PAPER_EPOCHS,):
                name = f"{row}{way}, {epochs} epochs"
                variants.append(Variant(name, "rcc8-paper", (*changed, *settings, f"training.epochs={epochs}")))
                paper |= {f"{name} average": average, f"{name} k=9 b=3": hardest}
    return tuple(variants), paper


def by_hops(rows: Mapping[str, tuple[float, ...]], first: int) -> MappingProxyType[str, float]:
    """Published figures by row, for as many hops as they go from the first."""
    return MappingProxyType(
        {f"{name} {first + at} hops": figure for name, figures in rows.items() for at, figure in enumerate(figures)}
    )


def _named(figures: Figures, rows: Mapping[str, str]) -> dict[str, tuple[float, ...]]:
    """Some published rows by what a table calls them."""
    return {label: figures[name] for name, label in rows.items()}


def _beyond_counting() -> tuple[Variant, ...]:
    """Training sets that leave counting little to count, each by counting, by EM and by EpiGNN."""
    within = "TPP NTPP", "NTPP TPP", "NTPPI TPPI", "TPPI NTPPI", "TPP TPP", "TPPI TPPI", "EC TPP", "TPPI EC"
    sets = {
        "k=2..4": (),
        "k=3,4": ("data.k=[3, 4]",),
        "k=4": ("data.k=[4]",),
        "k=5,6": ("data.k=[5, 6]",),
        "noise": ("data.noise=6",),
        "wrong labels": ("data.wrong=0.2",),
        "wrong labels, k=3,4": ("data.wrong=0.2", "data.k=[3, 4]"),
        "never adjacent": (f"data.apart={json.dumps(within)}",),
        "few labels": ('data.labels=["DC", "EC", "PO", "TPP", "NTPP"]',),
    }
    kinds = ("counted", "counted-em", "epignn")
    return tuple(
        Variant(f"{name}, {kind}", "rcc8", (*settings, f'model.kind="{kind}"') if kind != "epignn" else settings)
        for name, settings in sets.items()
        for kind in kinds
    )


def _links() -> tuple[Variant, ...]:
    """Every split by both presets, by the EpiGNN of the best alone, and by scorers that learn nothing."""
    rows = []
    for split in SPLITS:
        name = split.replace(":", "-")
        rows += [Variant(f"{split} paper", f"{name}-paper"), Variant(f"{split} best", name)]
        rows.append(Variant(f"{split} epignn", name, tested=ALONE))
        rows.append(Variant(f"{split} baselines", name, baselines=True))
    return tuple(rows)


def _known_entities() -> tuple[Variant, ...]:
    """Every small graph by the preset for triples of one's own, by its EpiGNN alone, and by what learns nothing."""
    rows = []
    for graph in CARRIED:
        best = Variant(f"{graph} best", "links", (f'data.task="{graph}"',), folder=graph)
        rows += [best, replace(best, name=f"{graph} epignn", tested=ALONE)]
        rows.append(replace(best, name=f"{graph} baselines", baselines=True))
    return tuple(rows)


# Published rows that stand below ours, and what the table calls them.
CLUTRR_ROWS = {
    "epignn mul": "EpiGNN-mul (paper)",
    "epignn min": "EpiGNN-min (paper)",
    "edge-transformer": "Edge Transformer (paper)",
}
CLUTRR_23_ROWS = {
    "r5": "R5 (its paper)",
    "ctp-a": "CTP-A (its paper)",
    "epignn mul": "EpiGNN-mul (paper, on version 9b2173cf)",
}
SHORT = ('data.task="clutrr:089907f8"',)
FAMILIES = ('data.task="families"', "data.per_label=4000")
_ABLATION_ROWS, _ABLATION_PAPER = _ablations()
_UNCONSTRAINED_ROWS, _UNCONSTRAINED_PAPER = _unconstrained()

SUITES: MappingProxyType[str, Suite] = MappingProxyType(
    {
        "rcc8": Suite(
            "RCC-8, k = 2..9, b = 1..3", (*_same("rcc8-paper", "rcc8-code", "rcc8"), *_refined("rcc8")), MAIN, 100,
            MappingProxyType({"average": 0.96, "k=9 b=3": 0.80}), distil=True,
        ),
        "ia": Suite(
            "Interval algebra, k = 2..9, b = 1..3", (*_same("ia-paper", "ia"), *_refined("ia")), MAIN, 60,
            MappingProxyType({}), distil=True,
        ),
        "expanded": Suite(
            "Expanded sets, k up to 15, b up to 8",
            (*_same("rcc8-paper", "rcc8-code", "rcc8", "ia-paper", "ia"), *_refined("rcc8", "ia")), EXPANDED, 40,
            MappingProxyType({"rcc8 k=15 b=8": 0.74, "ia k=15 b=8": 0.77}), distil=True,
        ),
        "long": Suite(
            "Long paths, k up to 100", (*_same("rcc8", "ia"), *_refined("rcc8", "ia")),
            tuple((k, b) for k in (20, 50, 100) for b in (1, 3)), 10, MappingProxyType({}), distil=True,
        ),
        "rounds": Suite(
            "RCC-8 by message-passing rounds, b = 3",
            tuple(Variant(f"{n} rounds", "rcc8-paper", tested=(("rounds", n),)) for n in (5, 7, 9, 11, 13, 15)),
            tuple((k, 3) for k in (5, 7, 9, 11, 13, 15)), 40, MappingProxyType({}),
        ),
        "paths": Suite(
            "RCC-8, which shortest path is read in training",
            (
                Variant("first found", "rcc8-paper"),
                Variant("random shortest path", "rcc8-paper", ("objective.random_path=true",)),
            ),
            MAIN, 40, MappingProxyType({}),
        ),
        "differences": Suite(
            "RCC-8, where the paper and the published code differ",
            (
                Variant("rcc8-paper", "rcc8-paper"),
                Variant("rcc8-code", "rcc8-code"),
                Variant("margin 1 for the sum over facets", "rcc8-paper", ("objective.margin=1.0",)),
                Variant("random shortest path", "rcc8-paper", ("objective.random_path=true",)),
                Variant("no weight decay", "rcc8-paper", ("training.decay=0.0",)),
                Variant("neutral on the left only", "rcc8-paper", ("model.right_identity=false",)),
                Variant("free a_ij", "rcc8-paper", ('model.a_ij="free"',)),
                Variant("self message", "rcc8-paper", ("model.self_message=true",)),
            ),
            ((9, 3), (12, 6), (15, 8)), 40, MappingProxyType({}),
        ),
        "ablations": Suite(
            f"Ablations on RCC-8, {ABLATION_EPOCHS} epochs", _ABLATION_ROWS, MAIN, 20,
            MappingProxyType(_ABLATION_PAPER),
        ),
        "unconstrained": Suite(
            "Embeddings that are no distributions, as here and as in the published code", _UNCONSTRAINED_ROWS,
            MAIN, 20, MappingProxyType(_UNCONSTRAINED_PAPER),
        ),
        "clutrr": Suite(
            "CLUTRR, trained on 2 to 4 hops",
            (
                Variant("paper's, mul", "clutrr-paper"),
                Variant("paper's, min", "clutrr-paper", ('model.pooling="min"',)),
                *_ruled(Variant("clutrr", "clutrr")),
            ),
            tuple((k, 0) for k in range(5, 11)), 0, by_hops(_named(CLUTRR, CLUTRR_ROWS), 5), seeds=10, distil=True,
        ),
        "clutrr-23": Suite(
            "CLUTRR, trained on 2 and 3 hops",
            (
                Variant("paper's, mul, 2-3", "clutrr-paper", SHORT),
                Variant("paper's, min, 2-3", "clutrr-paper", (*SHORT, 'model.pooling="min"')),
                Variant("clutrr, 2-3", "clutrr", SHORT),
                *_ruled(Variant("clutrr-23", "clutrr-23")),
            ),
            tuple((k, 0) for k in range(4, 11)), 0, by_hops(_named(CLUTRR_23, CLUTRR_23_ROWS), 4),
            seeds=10, distil=True,
        ),
        "graphlog": Suite(
            "Graphlog, world 32",
            (Variant("graphlog-paper", "graphlog-paper"), *_ruled(Variant("graphlog", "graphlog"))),
            ((0, 0),), 0, MappingProxyType({"EpiGNN-mul (paper) test": 0.914}), distil=True,
        ),
        "worlds": Suite(
            "Generated worlds shaped like Graphlog's, and re_0",
            (
                *_ruled(
                    *(
                        Variant(f"shaped like world {n}", "graphlog", (f'data.task="world:{n}"',))
                        for n in (6, 7, 8, 11, 32)
                    ),
                    Variant("re_0", "graphlog", ('data.task="graphlog:re_0"',)),
                ),
            ),
            ((0, 0),), 0, MappingProxyType({}), distil=True,
        ),
        "families": Suite(
            "Generated families, trained on 2 to 4 hops",
            (
                *_ruled(Variant("families", "clutrr", FAMILIES)),
                Variant("families, refined", "clutrr", FAMILIES, refined="taught", folder="families"),
            ),
            tuple((k, 0) for k in (5, 10, 20, 50, 100)), 200, MappingProxyType({}), distil=True,
        ),
        "beyond-counting": Suite(
            "RCC-8, training sets with little to count", _beyond_counting(),
            ((2, 1), (4, 2), (9, 1), (9, 3), (15, 8)), 40, MappingProxyType({}), distil=True,
        ),
        "kgc": Suite(
            "Inductive link prediction, mean reciprocal rank (%) in full filtered ranking", _links(), ((0, 0),), 0,
            MappingProxyType({}), links=True,
        ),
        "kgc-known": Suite(
            "Links among the entities of training, mean reciprocal rank (%) in full filtered ranking",
            _known_entities(), ((0, 0),), 0, MappingProxyType({}), links=True,
        ),
    }
)  # fmt: skip
