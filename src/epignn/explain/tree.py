"""Pictures of families: a row for each generation, husband and wife side by side, children below their parents."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean as mean

from epignn.calculus.realise.people import People, Person
from epignn.explain.layout import NAME_WIDTH, Box
from epignn.explain.svg import CLASH, INK, LEFT, PALE, STRONG, Sketch, at, cut, entity, label, straight

HIGH, BELOW, APART, BESIDE, NAMELESS = 34.0, 62.0, 34.0, 24.0, 34.0
"""Pixels: the height of a person, the room between generations, between couples, and between husband and wife; the
width of somebody without a name."""
MAN, WOMAN = "#e6f0f8", "#fdeeda"
SWEEPS = 80
SOLID = "stroke-width='1.4' stroke-linecap='square'"
Unit = tuple[int, ...]
"""Husband and wife, or somebody who is not married."""


def sketch_family(world: People, marked: set[str]) -> Sketch:
    """Men have square corners, women round ones; whom no fact names is dashed."""
    people = world.people
    layout = _Layout(people)
    boxes = layout.boxes()
    parts = list(_lines(layout, boxes))
    for person, box in zip(people, boxes, strict=True):
        parts.append(_person(person, box, person.name in marked))
    width = max((box.x + box.width for box in boxes), default=300.0) + LEFT
    return Sketch(width, max((box.y + box.height for box in boxes), default=0.0) + 20, parts)


def _person(person: Person, box: Box, red: bool) -> str:
    fill, ink, style = "white", PALE, f"stroke='{PALE}' stroke-dasharray='3 3'"
    if person.name is not None:
        fill, ink = WOMAN if person.female else MAN, CLASH if red else INK
        style = f"stroke='{CLASH if red else STRONG}' stroke-width='1.6'"
    corner = box.height / 2 if person.female else 3
    shape = f"<rect {at(box)} rx='{corner:.0f}' fill='{fill}' {style}/>"
    said = label(box.x + box.width / 2, box.y + box.height / 2, person.name or "?", ink)
    return shape + said if person.name is None else entity(person.name, shape, said)


def _lines(layout: "_Layout", boxes: list[Box]) -> Iterator[str]:
    """Marriages, and from the middle of each couple down to its children."""
    for row in layout.rows:
        ends: list[float] = []  # where the bars of each height end: two that overlap have two heights
        for unit in row:
            if len(unit) < 2:
                continue
            left, right = (boxes[n] for n in layout.order(unit))
            middle, y = (left.x + left.width + right.x) / 2, left.y + HIGH / 2
            for up in (-2, 2):
                yield straight(left.x + left.width, y + up, right.x, y + up, INK, "stroke-width='1.1'")
            below = [boxes[child] for child in layout.children[unit]]
            tops = [box.x + box.width / 2 for box in below]
            low, high = min([middle, *tops]), max([middle, *tops])
            if not below:
                continue
            level = next((n for n, end in enumerate(ends) if end + 6 < low), len(ends))
            ends[level : level + 1] = [high]
            bar = left.y + HIGH + 16 + 10 * min(level, 3)
            yield straight(middle, y + 2, middle, bar, INK, SOLID)
            yield straight(low, bar, high, bar, INK, SOLID)
            yield from (straight(x, bar, x, box.y, INK, SOLID) for x, box in zip(tops, below, strict=True))


class _Layout:
    """Where people go: `rows` has the couples of each generation from left to right."""

    def __init__(self, people: Sequence[Person]) -> None:
        self.people = people
        self.unit: dict[int, Unit] = {}
        for n, person in enumerate(people):
            both = (n,) if person.spouse is None else (n, person.spouse)
            self.unit[n] = tuple(sorted(both, key=lambda each: people[each].female))
        self.children: dict[Unit, list[int]] = defaultdict(list)
        for n, person in enumerate(people):
            if person.father is not None:
                self.children[self.unit[person.father]].append(n)
        self.rows = self._rows()
        self.middle: dict[Unit, float] = {}
        self.turned: set[Unit] = set()
        self._arrange()

    def _levels(self) -> dict[Unit, int]:
        """The generation of each couple: one below the parents of both.

        Where somebody married into another generation there is no such order, and all are only somewhere below.
        """
        level: dict[Unit, int] = {}
        for start in self.unit.values():
            if start in level:
                continue
            kin, reached = {start: 0}, [start]
            for unit in reached:
                near = [(up, -1) for up in self._parents(unit)]
                near += [(self.unit[child], 1) for child in self.children[unit]]
                for other, step in near:
                    if other not in kin:
                        kin[other] = kin[unit] + step
                        reached.append(other)
            level |= {unit: at - min(kin.values()) for unit, at in kin.items()}
        for _ in level:
            for unit in level:
                level[unit] = max([level[unit], *(level[up] + 1 for up in self._parents(unit))])
        return level

    def _parents(self, unit: Unit) -> list[Unit]:
        fathers = (self.people[n].father for n in unit)
        return [self.unit[father] for father in fathers if father is not None]

    def _rows(self) -> list[list[Unit]]:
        """The couples of each generation, in the order in which a walk down from the eldest meets them."""
        level = self._levels()
        rows: list[list[Unit]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        seen: set[Unit] = set()
        stack = sorted(level, key=lambda unit: (bool(self.children[unit]), -level[unit], unit))
        while stack:
            unit = stack.pop()
            if unit not in seen:
                seen.add(unit)
                alone = not self.children[unit] and not self._parents(unit)
                (min(rows, key=len) if alone else rows[level[unit]]).append(unit)
                stack += [self.unit[child] for child in reversed(self.children[unit])]
        return rows

    def _width(self, person: int) -> float:
        name = self.people[person].name
        return NAMELESS if name is None else max(len(cut(name)) * NAME_WIDTH + 22, 48)

    def _wide(self, unit: Unit) -> float:
        return sum(map(self._width, unit)) + BESIDE * (len(unit) - 1)

    def order(self, unit: Unit) -> Unit:
        """Husband and wife from left to right: each on the side of their own parents."""
        return unit[::-1] if unit in self.turned else unit

    def _at(self, person: int) -> float:
        """The middle of a person."""
        unit = self.unit[person]
        first, left = self.order(unit)[0], self.middle[unit] - self._wide(unit) / 2
        return left + self._width(person) / 2 + (0 if person == first else self._width(first) + BESIDE)

    def _joint(self, unit: Unit) -> float:
        """Where the line from a couple down to its children starts: between the two."""
        left = self.middle[unit] - self._wide(unit) / 2
        return left + self._width(self.order(unit)[0]) + BESIDE / 2 if len(unit) == 2 else self.middle[unit]

    def _arrange(self) -> None:
        """Draw couples towards their parents and their children; the order may change in the first half of it."""
        for row in self.rows:
            self._place(row, [0.0] * len(row))
        for sweep in range(SWEEPS):
            down, late = sweep % 2 == 0, sweep >= SWEEPS / 2
            for row in self.rows[:: 1 if down else -1]:
                wanted = {unit: self._wanted(unit, down or late, not down or late) for unit in row}
                if not late:
                    row.sort(key=wanted.__getitem__)
                    self.turned ^= {unit for unit in row if self._crossed(unit)}
                self._place(row, [wanted[unit] for unit in row])
        for row in self.rows[::-1]:  # couples right above their children, so that most lines are straight
            self._place(row, [self._wanted(unit, not self.children[unit], True) for unit in row])
        for row in self.rows:
            if not any(self.children[unit] for unit in row):
                self._place(row, [self._wanted(unit, True, False) for unit in row])

    def _wanted(self, unit: Unit, parents: bool, children: bool) -> float:
        """Where the middle of a couple should be: below the parents of both, above the children."""
        pulls = []
        if parents:
            for n in unit:
                if (father := self.people[n].father) is not None:
                    pulls.append(self._joint(self.unit[father]) - self._at(n) + self.middle[unit])
        if children and self.children[unit]:
            places = [self._at(child) for child in self.children[unit]]
            pulls.append((min(places) + max(places)) / 2 - self._joint(unit) + self.middle[unit])
        return sum(pulls) / len(pulls) if pulls else self.middle[unit]

    def _crossed(self, unit: Unit) -> bool:
        """Whether the lines from husband and wife to their parents cross."""
        fathers = [self.people[n].father for n in self.order(unit)]
        places = [self.middle[self.unit[father]] for father in fathers if father is not None]
        return len(places) == 2 and places[0] > places[1]

    def _place(self, row: list[Unit], wanted: Sequence[float]) -> None:
        """Put couples as near to where they should be as leaves them apart (pool adjacent violators)."""
        offset, offsets = 0.0, []
        for before, unit in pairwise((row[0], *row)):
            offset += 0.0 if before is unit else (self._wide(before) + self._wide(unit)) / 2 + APART
            offsets.append(offset)
        pools: list[list[float]] = []
        for place, shift in zip(wanted, offsets, strict=True):
            pools.append([place - shift])
            while len(pools) > 1 and mean(pools[-2]) >= mean(pools[-1]):
                pools[-2:] = [pools[-2] + pools[-1]]
        starts = [mean(pool) for pool in pools for _ in pool]
        self.middle |= {unit: start + shift for unit, start, shift in zip(row, starts, offsets, strict=True)}

    def boxes(self) -> list[Box]:
        """The box of each person."""
        left = min((self._at(n) - self._width(n) / 2 for n in self.unit), default=0.0) - LEFT
        rank = {unit: number for number, row in enumerate(self.rows) for unit in row}
        return [
            Box(
                self._at(n) - self._width(n) / 2 - left,
                10 + rank[self.unit[n]] * (HIGH + BELOW),
                self._width(n),
                HIGH,
            )
            for n in range(len(self.people))
        ]
