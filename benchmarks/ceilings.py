"""What the labels of worlds and families determine: how far any model can come.

    python benchmarks/ceilings.py [--quick] [--out DIR]

Graphs with the same walks from head to tail, but different labels, bound what any function of these walks can
reach: the most frequent label of such graphs is the best answer. Test labels are used for these bounds alone. Long
walks through families hardly ever repeat; of these, the rules that made the labels tell what answers each has, and
walks of the same answers, but different labels, clash.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from epignn.data.dataset import Dataset
from epignn.data.kin_rules import derivable_labels
from epignn.data.ways import problems
from epignn.errors import EpignnError
from epignn.learn.config import load_experiment
from epignn.report.suites import SUITES
from epignn.tasks import families as simulated
from epignn.tasks.api import GraphTask

from record import Figures, options, save

SEED = 77
"""Of the walks through families; neither training nor tests use it."""
OFTEN = 5
"""Training graphs of the same shortest walk that tell how far its label can be relied on."""


def agreement(groups: Iterable[Counter[int]]) -> float:
    """The share of labels that are the most frequent of their group."""
    counted = list(groups)
    return sum(max(group.values()) for group in counted) / max(1, sum(group.total() for group in counted))


def by_walks(data: Dataset) -> dict[object, Counter[int]]:
    """Labels by the set of all walks from head to tail."""
    groups: dict[object, Counter[int]] = defaultdict(Counter)
    for g, (walks, label) in enumerate(problems(data)):
        groups[frozenset(walks) or g][label] += 1
    return groups


def by_shortest(data: Dataset) -> dict[object, Counter[int]]:
    """Labels by the first of the shortest walks, where that is shared by several graphs."""
    groups: dict[object, Counter[int]] = defaultdict(Counter)
    for walks, label in problems(data):
        if walks:
            groups[walks[0]][label] += 1
    return {walk: group for walk, group in groups.items() if group.total() >= OFTEN}


def families(hops: Sequence[int], count: int) -> Figures:
    """Rows of one answer, and how often the most frequent label of all that have the same answers is the label.

    Walks are of a seed of their own, so that no test label is used.
    """
    found: Figures = {}
    for k in hops:
        data = simulated.walks(k, count, SEED)
        groups: dict[int, Counter[int]] = defaultdict(Counter)
        for derived, label in zip(derivable_labels(data).tolist(), data.label.tolist(), strict=True):
            groups[derived][label] += 1
        one = sum(group.total() for derived, group in groups.items() if derived.bit_count() == 1)
        found[f"families, {k} hops"] = {
            "n": len(data),
            "one_answer": one / len(data),
            "clashes": agreement(groups.values()),
        }
    return found


def worlds(tasks: dict[str, GraphTask]) -> Figures:
    """Bounds by clashes, over all graphs of a world, and the labels of training walks that are seen often."""
    found: Figures = {}
    for name, task in tasks.items():
        try:
            train, valid = task.examples()
        except EpignnError as error:
            print(f"  {name}: left out, {error}")
            continue
        test = task.cell(0, 0, 0, train.relations)
        whole = Dataset.concat([train, *([valid] if valid else []), test])
        often = by_shortest(train)
        found[name] = {
            "n": len(test),
            "clashes": agreement(by_walks(whole).values()),
            "often": agreement(often.values()),
            "often_n": sum(group.total() for group in often.values()),
        }
    return found


if __name__ == "__main__":
    chosen = options(__doc__)
    tasks: dict[str, GraphTask] = {}
    for variant in (*SUITES["worlds"].variants, SUITES["graphlog"].variants[-1]):
        task = load_experiment(variant.experiment, variant.settings).data
        assert isinstance(task, GraphTask)
        tasks[variant.name] = task
    if chosen.quick:
        tasks = dict(list(tasks.items())[:1])
    cells = [k for k, _ in SUITES["families"].cells][: 2 if chosen.quick else None]
    save("ceilings", families(cells, 40 if chosen.quick else 600) | worlds(tasks), chosen)
