"""The link prediction table: rows and picture from records, beside published figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.figures import interval
from epignn.models import LINKS as MODELS
from epignn.models.baselines import BASELINES
from epignn.report import published as figures
from epignn.report.pictures import accuracy_by_row, save
from epignn.report.record import CHANGED
from epignn.report.tables import seeds_of, uncommitted
from epignn.tasks import CARRIED, SPLITS

Record = dict[str, Any]
PRESETS = ("paper", "best")
METRIC = "mrr"
"""What tables and the picture tell first."""
BY_TRIPLE = "by_triple"
"""Where a record has the reciprocal rank of each test triple, the mean of its two ends."""
NO_METRICS = frozenset({"k", "b", BY_TRIPLE})
"""What else a record tells of a test."""
COSTS = {"parameters": "parameters", "training, CPU s": "training_cpu_seconds"}
"""What a model takes: the heads of columns, and where records have it."""
PUBLISHED: Mapping[str, Mapping[str, tuple[float, ...]]] = MappingProxyType(
    {
        "mrr": {"RED-GNN": figures.LINKS["mrr"]["red-gnn"], "NBFNet": figures.LINKS["mrr"]["nbfnet"]},
        "hits@10": {
            "RED-GNN": figures.LINKS["hits@10"]["red-gnn"],
            "best published": figures.LINKS["hits@10"]["the best"],
        },
        "grail_hits@10": {
            "paper": (92.45, 85.99, 84.18, 85.77, 91.67, 95.54, 93.74, 93.45),
            "NBFNet": figures.LINKS["grail_hits@10"]["nbfnet"],
            "REST": (96.28, 94.56, 79.50, 94.19, 75.12, 91.21, 93.06, 96.06),
        },
    }
)
"""By metric, in percent, in the order of `SPLITS`. Those among 50 negatives were sampled for the paper and
computed from the full rank for NBFNet (the README of its PyG port); REST has 49.
"""


def _split(record: Record) -> str:
    return str(record["variant"]).partition(" ")[0]


def _runs(records: Sequence[Record], split: str, preset: str) -> list[Record]:
    return [record for record in records if record["variant"] == f"{split} {preset}"]


def _splits(records: Sequence[Record]) -> list[str]:
    """The splits that records tell of, in the order of the paper's table; other graphs stand behind them."""
    return sorted({_split(record) for record in records}, key=(*SPLITS, *CARRIED).index)


def _published(told: figures.Figures, splits: Sequence[str]) -> dict[str, list[str]]:
    """What others have published of some splits, by who did; nothing where they are none of the paper's table."""
    if not set(splits) <= set(SPLITS):
        return {}
    return {name: [f"{values[SPLITS.index(split)]:.1f}" for split in splits] for name, values in told.items()}


def rows(records: Sequence[Record], metric: str = METRIC) -> tuple[list[str], list[list[str]]]:
    """The table: a row a split, in percent; our runs as mean and two standard deviations over seeds.

    Where presets have different numbers of seeds, all are told. Beside the first metric stand the parameters and
    the processor seconds of training of the last preset.

    Args:
        records: of the suite of links.
        metric: one of `PUBLISHED`.
    """
    splits, costs = _splits(records), COSTS if metric == METRIC else {}
    told = _published(PUBLISHED[metric], splits)
    ours = [preset for preset in PRESETS if any(_runs(records, split, preset) for split in splits)]
    columns = ["split", *(f"ours, {preset}" for preset in ours), "seeds", *told, *BASELINES, *costs]
    table = []
    for at, split in enumerate(splits):
        by_preset = {preset: _runs(records, split, preset) for preset in ours}
        seeds = dict.fromkeys(seeds_of(runs) for runs in by_preset.values())
        last = by_preset[ours[-1]] if ours else []
        table.append(
            [
                split,
                *(_over_seeds(runs, metric) or "–" for runs in by_preset.values()),
                ", ".join(seeds) or "0",
                *(figures[at] for figures in told.values()),
                *(_baseline(records, split, name, metric) for name in BASELINES),
                *(f"{np.mean([r[key] for r in last]):,.0f}" if last else "–" for key in costs.values()),
            ]
        )
    return columns, table


def protocols(records: Sequence[Record], preset: str = "best") -> tuple[list[str], list[list[str]]]:
    """Every metric under its own name, in percent: a row a split, the mean over the seeds of a preset."""
    runs = [record for split in _splits(records) for record in _runs(records, split, preset)]
    cells = [cell for record in runs for cell in record["cells"]]
    names = [name for name in dict.fromkeys(name for cell in cells for name in cell) if name not in NO_METRICS]
    table = []
    for split in _splits(runs):
        own = [{name: record["cells"][0].get(name) for name in names} for record in _runs(runs, split, preset)]
        table.append([split, *(_mean([cell[name] for cell in own]) for name in names)])
    return ["split", *names], table


OWN = MappingProxyType({"epignn, with rules": "best", "epignn": "epignn", "epignn, paper's": "paper"})
"""What tables of models call our presets."""
TRAINING = "training_cpu_seconds"
TITLES = MappingProxyType(
    {
        "mrr": "Mean reciprocal rank (%), full filtered ranking",
        "hits@10": "Hits@10 (%), full filtered ranking",
        "ultra_mrr": "Mean reciprocal rank (%), validation and test triples of the new graph asked together",
        "ultra_hits@10": "Hits@10 (%), both asked together",
        "grail_hits@10": "Hits@10 (%) among 50 sampled negatives",
        TRAINING: "Processor seconds of training",
    }
)
"""The tables of models: what each is about, and what stands above it."""


def models(records: Sequence[Record], metric: str = "mrr") -> tuple[list[str], list[list[str]]]:
    """Every model that is recorded, a column a split: in percent, and published figures.

    Of several seeds, the mean and two standard deviations.

    Args:
        records: of the suite of links.
        metric: a name of `protocols`, or `TRAINING`: processor seconds of training.
    """
    splits = _splits(records)
    told = _published(figures.LINKS.get(metric, {}), splits)
    table = []
    for name in (*OWN, *MODELS, *_others(records)):
        line = [_over_seeds(_runs(records, split, OWN.get(name, name)), metric) for split in splits]
        if any(line):
            own = [runs for split in splits if (runs := _runs(records, split, OWN.get(name, name)))]
            counts = sorted({len(runs) for runs in own})
            span = " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
            span += f" {CHANGED}" if any(uncommitted(run) for runs in own for run in runs) else ""
            table.append([name, span, *(value or "–" for value in line)])
        if name in told:
            table.append([f"{name} (published)", "", *told[name]])
    table += [[f"{name} (published)", "", *line] for name, line in told.items() if name not in MODELS]
    if metric != TRAINING:
        table.append(["pagerank", "", *(_baseline(records, split, "pagerank", metric) for split in splits)])
    return ["model", "seeds", *splits], table


def differences(records: Sequence[Record], preset: str = "best") -> tuple[list[str], list[list[str]]]:
    """Models against ours on the same test triples: points of mean reciprocal rank, with the 95 % interval.

    Of several seeds, a triple counts by the mean over them. Runs whose triples are not recorded are left out.

    Args:
        records: of the suite of links.
        preset: which of ours.
    """
    table = []
    for split in _splits(records):
        ours = _with_triples(_runs(records, split, preset))
        for name in (*MODELS, *_others(records)):
            runs = _with_triples(_runs(records, split, name))
            if not ours or not runs:
                continue
            ahead = _by_triple(runs) - _by_triple(ours)
            mean, low, high = (f"{100 * value:+z.1f}" for value in interval(ahead, -1.0))
            table.append([split, str(len(ahead)), name, seeds_of(runs), mean, f"{low} to {high}"])
    return ["split", "test triples", "model", "seeds", "MRR, against ours", "95 % interval"], table


def _with_triples(runs: Sequence[Record]) -> list[Record]:
    """Those whose records tell of every test triple."""
    return [run for run in runs if BY_TRIPLE in run["cells"][0]]


def _by_triple(runs: Sequence[Record]) -> NDArray[np.float64]:
    """The mean over runs of the reciprocal rank of each triple."""
    found: NDArray[np.float64] = np.mean([run["cells"][0][BY_TRIPLE] for run in runs], 0)
    return found


def _others(records: Sequence[Record]) -> list[str]:
    """Models of one's own that records tell of, in the order of their records."""
    known = {*OWN.values(), *MODELS, "baselines"}
    names = dict.fromkeys(str(record["variant"]).partition(" ")[2] for record in records)
    return [name for name in names if name not in known]


def _baseline(records: Sequence[Record], split: str, name: str, metric: str) -> str:
    """What a scorer that learns nothing reaches, in percent; a dash where it has not been run."""
    return _mean([run["figures"][name].get(metric) for run in _runs(records, split, "baselines")[-1:]])


def _over_seeds(runs: Sequence[Record], metric: str) -> str:
    """A metric over runs, the mean and two standard deviations; nothing where no run has it."""
    if metric == TRAINING:
        return f"{np.mean([run[TRAINING] for run in runs]):,.0f}" if runs else ""
    values = [100 * run["cells"][0][metric] for run in runs if metric in run["cells"][0]]
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else ""
    return f"{np.mean(values):.1f} ± {2 * np.std(values):.1f}"


def _mean(values: Sequence[float | None]) -> str:
    """The mean in percent, or a dash: graphs of few entities have no metrics among 50."""
    told = [value for value in values if value is not None]
    return f"{100 * np.mean(told):.1f}" if told else "–"


def draw(records: Sequence[Record], folder: Path) -> Path:
    """MRR on every recorded split, the mean over seeds: of our presets, PageRank, and those that are published.

    The latter also as they were run here, as far as they were; where none are, all other models that were run.
    """
    splits = _splits(records)
    told = _published(PUBLISHED[METRIC], splits)
    trained = {f"ours, {preset}": preset for preset in PRESETS} | {model: model.lower() for model in told}
    trained |= {name: name for name in (() if told else (*MODELS, *_others(records)))}
    own: dict[str, dict[str, float]] = {split: {} for split in splits}
    for split in splits:
        for name, variant in trained.items():
            if runs := [record["cells"][0][METRIC] for record in _runs(records, split, variant)]:
                own[split][name] = float(np.mean(runs))
        for record in _runs(records, split, "baselines"):
            own[split]["pagerank"] = record["figures"]["pagerank"][METRIC]
    others = {split: {model: float(told[model][at]) / 100 for model in told} for at, split in enumerate(splits)}
    places = (*(f"ours, {preset}" for preset in PRESETS), "pagerank", *(told or list(trained)[len(PRESETS) :]))
    title = "Inductive link prediction" if told else "Links among the entities of training"
    figure = accuracy_by_row(own, others, places, title)
    (axes,) = figure.axes
    axes.set_xlabel("mean reciprocal rank, full filtered ranking")
    return save(figure, folder / "mrr.png", (".svg",))
