"""Charts over walks: what rules derive of every stretch of a walk, from all its bracketings. Sets are bit masks."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from epignn.calculus.algebra import members
from epignn.distil.walks import Walk

Stretch = tuple[int, int]
Chart = dict[Stretch, int]


@dataclass(frozen=True)
class Heads:
    """Rules without weights: `of[a][b]` is the set of heads of the body a, b."""

    of: tuple[tuple[int, ...], ...]
    _known: dict[tuple[int, int], int] = field(default_factory=dict, repr=False, compare=False)

    def compose(self, left: int, right: int) -> int:
        """What follows from one of the left relations and one of the right."""
        known = self._known.get((left, right))
        if known is None:
            known = 0
            for a in members(left):
                for b in members(right):
                    known |= self.of[a][b]
            self._known[left, right] = known
        return known


def derived(walk: Walk, heads: Heads) -> Chart:
    """What follows of every stretch of a walk; 0 where nothing does."""
    chart = {(i, i + 1): 1 << relation for i, relation in enumerate(walk)}
    for length in range(2, len(walk) + 1):
        for i in range(len(walk) - length + 1):
            j, found = i + length, 0
            for m in range(i + 1, j):
                left, right = chart[i, m], chart[m, j]
                if left and right:
                    found |= heads.compose(left, right)
            chart[i, j] = found
    return chart


def bodies(chart: Chart, stretch: Stretch) -> Iterator[tuple[int, int]]:
    """The pairs of relations into which a stretch may be parted."""
    i, j = stretch
    for m in range(i + 1, j):
        for a in members(chart[i, m]):
            for b in members(chart[m, j]):
                yield a, b
