"""Tables of models: every model of the list on the same ground, by its authors' recipe and by one searched for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from epignn.entries import is_file
from epignn.errors import lookup
from epignn.files import parse_toml, read_text
from epignn.models import LINKS, LINKS_ALONE, MODELS, REFINED
from epignn.report.published import CLUTRR, CLUTRR_23, CLUTRR_23_SPREADS, CLUTRR_SPREADS, GRAPHLOG, REASONS, Figures
from epignn.report.suites import SUITES, Suite, Variant, by_hops

ALL = "all"
TUNED = Path(__file__).parent.parent / "experiments" / "tuned"
"""Settings that `epignn tune` has found: a folder a search, a file a model."""


@dataclass(frozen=True)
class Ground:
    """What all rows of a table of models share.

    Attributes:
        bases: the experiments whose data models are trained on, by what stands before the names of rows.
        papers: EpiGNN's experiments by the paper's recipe, by the same.
        settings: of the data, for all rows alike.
        epochs: at most so many for every row.
        per_label: test problems of each label in each cell.
        search: the folder of settings that were searched for, by the same as bases.
        published: accuracies that others report, by model.
        spreads: two standard deviations of these, the mean over hops.
        first: hops of the first of them; 0 where there is one test set.
    """

    bases: Mapping[str, str]
    papers: Mapping[str, str]
    search: Mapping[str, str]
    settings: tuple[str, ...] = ()
    epochs: int = 10
    per_label: int = 0
    published: Figures = field(default_factory=lambda: MappingProxyType({}))
    spreads: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    first: int = 0


def _alone(name: str) -> Mapping[str, str]:
    return MappingProxyType({"": name})


_CALCULI = MappingProxyType({"RCC-8 ": "rcc8", "intervals ": "ia"})
GROUNDS: Mapping[str, Ground] = MappingProxyType(
    {
        "rcc8": Ground(
            _alone("rcc8"), _alone("rcc8-paper"), _alone("rcc8"), ("data.per_label=200",), per_label=25
        ),
        "ia": Ground(_alone("ia"), _alone("ia-paper"), _alone("rcc8"), ("data.per_label=120",), per_label=15),
        "expanded": Ground(
            _CALCULI, MappingProxyType({"RCC-8 ": "rcc8-paper", "intervals ": "ia-paper"}),
            MappingProxyType({"RCC-8 ": "rcc8", "intervals ": "rcc8"}), per_label=5,
        ),
        "clutrr": Ground(
            _alone("clutrr"), _alone("clutrr-paper"), _alone("clutrr"), ("data.augment=0",), published=CLUTRR,
            spreads=CLUTRR_SPREADS, first=5,
        ),
        "clutrr-23": Ground(
            _alone("clutrr"), _alone("clutrr-paper"), _alone("clutrr"),
            ('data.task="clutrr:089907f8"', "data.augment=0"), published=CLUTRR_23,
            spreads=CLUTRR_23_SPREADS, first=4,
        ),
        "graphlog": Ground(
            _alone("graphlog"), _alone("graphlog-paper"), _alone("graphlog"), ("data.augment=0",), epochs=20,
            published=GRAPHLOG,
        ),
        "worlds": Ground(
            MappingProxyType({f"world {n}, ": f"graphlog world:{n}" for n in (6, 7, 8, 11)}),
            MappingProxyType({}),
            MappingProxyType({f"world {n}, ": "graphlog" for n in (6, 7, 8, 11)}), ("data.augment=0",), epochs=20,
        ),
    }
)  # fmt: skip


def kinds_of(words: str, links: bool = False) -> list[str]:
    """The models that a user means: `all` that classify graphs, or predict links; or names with commas between.

    Raises:
        UnknownName: one of the names is none of a model that predicts links, where such are meant.
    """
    names = [word.strip() for word in words.split(",") if word.strip()]
    if names == [ALL]:
        return ["epignn", *LINKS] if links else [n for n in MODELS.names() if n not in LINKS_ALONE | REFINED]
    known = {name: name for name in ("epignn", "epignn-rules", *LINKS)}
    for name in names:
        if links and not is_file(name):
            lookup("model that predicts links", name, known)
    return names


def suite_of_models(table: str, kinds: Sequence[str]) -> Suite:
    """The table of some models: a row each by its authors' recipe, and one more where settings were searched for.

    Raises:
        UnknownName: the table has no such form, or there is no such model.
    """
    ground, suite = lookup("table of models", table, GROUNDS), SUITES[table]
    for kind in kinds:
        if not is_file(kind):
            lookup("model", kind, {name: name for name in MODELS.names()})
    rows = [row for kind in kinds for before in ground.bases for row in _rows(ground, before, kind)]
    if ground.first:
        paper = by_hops({f"{kind} (published)": told for kind, told in ground.published.items()}, ground.first)
    else:
        paper = MappingProxyType({f"{kind} (published) test": told[0] for kind, told in ground.published.items()})
    return replace(
        suite,
        title=f"{suite.title}: every model on the same graphs",
        variants=tuple(rows),
        per_label=ground.per_label,
        paper=paper,
        seeds=1,
        remarks=(_reduced(ground),),
        spreads=ground.spreads,
        reasons=REASONS,
        others=True,
    )


def _rows(ground: Ground, before: str, kind: str) -> list[Variant]:
    """The rows of a model on one base."""
    base, _, task = ground.bases[before].partition(" ")
    data = (*((f'data.task="{task}"',) if task else ()), *(ground.settings or _same_runs(base)))
    name = kind.rpartition(":")[2] if is_file(kind) else kind
    stem = f"{base} {data[0].partition('=')[2]} {name}".replace('"', "")

    def row(label: str, experiment: str, settings: Sequence[str]) -> Variant:
        return Variant(
            f"{before}{label}", experiment, (*data, *settings), epochs=ground.epochs,
            folder=f"{stem}{label.removeprefix(name)}",
        )  # fmt: skip

    own = kind == "epignn"
    chosen = () if own else (f"model.kind={json.dumps(kind)}",)
    found = [row("epignn, paper's", ground.papers[before], ())] if own and before in ground.papers else []
    found.append(row(name, base, chosen))
    searched = TUNED / ground.search[before] / f"{name}.toml"
    if searched.exists():
        found.append(row(f"{name}, tuned", base, (*chosen, *settings_of(searched))))
    return found


def _same_runs(base: str) -> tuple[str, ...]:
    """The settings of the table whose runs are tested again."""
    return GROUNDS[base].settings


def settings_of(path: Path) -> tuple[str, ...]:
    """The entries of an experiment file as given to `--set`."""
    values = parse_toml(read_text(path), str(path))
    return tuple(
        f"{section}.{key}={json.dumps(value)}"
        for section, entries in values.items()
        if isinstance(entries, dict)
        for key, value in entries.items()
    )


def _reduced(ground: Ground) -> str:
    """What is less than in the authors' experiments, for all rows."""
    settings = ground.settings or dict.fromkeys(text for base in ground.bases.values() for text in _same_runs(base))
    less = " and ".join(text.replace("data.", "") for text in settings if "per_label" in text)
    graphs = f"training sets are smaller ({less}) and " if less else ""
    return (
        f"So that all models can be run on one core, {graphs}no row is trained for more than {ground.epochs} "
        "epochs; that holds for EpiGNN, too. Otherwise rows follow their authors' recipes; "
        "`tuned` rows a search of equal size for each model."
    )
