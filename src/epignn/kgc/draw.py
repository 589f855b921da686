"""The picture of the link prediction table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from epignn.kgc.splits import SPLITS
from epignn.kgc.suite import PRESETS, PUBLISHED, published
from epignn.report.pictures import accuracy_by_row, save

METRIC = "grail_hits@10"


def draw(records: Sequence[dict[str, Any]], folder: Path) -> Path:
    """Hits of our presets on every recorded split, the mean over seeds, beside published ones and PageRank."""
    splits = sorted({record["split"] for record in records}, key=SPLITS.index)
    own: dict[str, dict[str, float]] = {split: {} for split in splits}
    for split in splits:
        for preset in PRESETS:
            runs = [r["test"][METRIC] for r in records if (r["split"], r["model"]) == (split, preset)]
            if runs:
                own[split][f"ours, {preset}"] = float(np.mean(runs))
    for record in records:
        if record["model"] == "baselines":
            own[record["split"]]["pagerank"] = record["figures"]["pagerank"][METRIC]
    others = {split: {model: published(model, split) / 100 for model in PUBLISHED} for split in splits}
    places = (*(f"ours, {preset}" for preset in PRESETS), "pagerank", *PUBLISHED)
    figure = accuracy_by_row(own, others, places, "Inductive link prediction")
    (axes,) = figure.axes
    axes.set_xlabel("Hits@10 among 50 negatives")
    axes.set_xlim(
        min(value for found in (own, others) for row in found.values() for value in row.values()) - 0.02, 1
    )
    return save(figure, folder / "hits.png", (".svg",))
