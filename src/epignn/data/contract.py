"""Contractions: what parts of walks come to, of any number of edges, learnt from walks and their labels alone.

A walk a, b, c with the label d says that a, b, c comes to d; so a, b, c may be contracted to d wherever it is
part of a walk. A walk that is contracted as far as it can be, but for its whole, says the same of what is left of
it: if a, b comes to e, the walk above also says that e, c comes to d. Nothing needs a name on the way: where a, b
comes to no relation, a, b, c still comes to one.

Labels may be wrong, and of several walks from head to tail one alone may tell. So every contraction has a weight,
and of all ways to contract a walk the one counts whose weights have the largest product. Such a weight is first
the share of the label among the walks that show it, counting two more walks against it. Then what it does on walks
that are held out is weighed with that: every walk of three edges or more is contracted without what it says itself,
and each contraction that is used has been right or wrong once more. In the end it falls by a tenth for every edge
that the walks have more than what is contracted, since what such walks say depends on other contractions. Pairs of
which nothing is known can be guessed from longer bodies that have them as a part.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Walk = tuple[int, ...]
Votes = dict[Walk, Counter[int]]
"""How often each walk was seen with each label."""
Weights = dict[Walk, dict[int, float]]
"""What each walk comes to, with weights above 0 and up to 1."""

FORMS = 10
"""So many shortest forms of a walk are taken at most."""
AGAIN = 3
"""A walk that was seen more often than this says no more of what it uses: other walks do."""
BEFORE = 3.0
"""The share of a label counts as so many walks that were held out, and as those that are the body itself."""
NEAR = 0.5
"""Answers whose products differ by at most this, in logarithms, are as good as each other."""
FEW = 6
"""Relations of the longest bodies by which pairs are guessed."""
TRUST = 0.9
"""What is left of a weight with every edge more of the walks that show it."""
LEAST = 0.001
"""No weight is less."""


class Made(NamedTuple):
    """How a part of a walk comes to a relation.

    Attributes:
        cost: minus the logarithm of the product of all weights.
        body: what its own parts come to; empty for an edge.
        parts: these parts: first edge, edge behind the last, relation.
    """

    cost: float
    body: Walk
    parts: tuple[tuple[int, int, int], ...]


Chart = dict[tuple[int, int], dict[int, Made]]
"""By first edge and edge behind the last: what this part of a walk comes to."""


class Contractions:
    """Contractions that are tried on walks, all bodies in one tree."""

    def __init__(self, weights: Mapping[Walk, Mapping[int, float]]) -> None:
        self._next: list[dict[int, int]] = [{}]
        self._heads: list[dict[int, float]] = [{}]
        for body, heads in weights.items():
            node = 0
            for relation in body:
                if relation not in self._next[node]:
                    self._next[node][relation] = len(self._next)
                    self._next.append({})
                    self._heads.append({})
                node = self._next[node][relation]
            self._heads[node] = {head: -math.log(weight) for head, weight in heads.items()}

    def chart(self, walk: Walk, itself: bool = True) -> Chart:
        """What every part of a walk comes to.

        Args:
            walk: the relations along it.
            itself: whether what is known of the whole walk, as it is, may be used.
        """
        chart: Chart = {(i, i + 1): {relation: Made(0.0, (), ())} for i, relation in enumerate(walk)}
        for length in range(2, len(walk) + 1):
            for first in range(len(walk) - length + 1):
                whole = length == len(walk) and not itself
                chart[first, first + length] = self._part(chart, first, first + length, whole)
        return chart

    def _part(self, chart: Chart, first: int, last: int, other: bool) -> dict[int, Made]:
        """What one part comes to, given all shorter ones; `other` than by the body of its own edges, if asked."""
        reached: list[dict[int, Made]] = [{} for _ in range(last - first + 1)]  # by place, by node of the tree
        reached[0][0] = Made(0.0, (), ())
        for at in range(first, last):
            for node, (cost, body, parts) in reached[at - first].items():
                for end in range(at + 1, last + (at > first)):
                    for relation, made in chart[at, end].items():
                        after = self._next[node].get(relation)
                        if after is not None:
                            so_far, total = reached[end - first], cost + made.cost
                            if after not in so_far or total < so_far[after].cost:
                                so_far[after] = Made(total, (*body, relation), (*parts, (at, end, relation)))
        found: dict[int, Made] = {}
        for node, (cost, body, parts) in reached[-1].items():
            if other and len(body) == last - first:
                continue
            for head, more in self._heads[node].items():
                if head not in found or cost + more < found[head].cost:
                    found[head] = Made(cost + more, body, parts)
        return found


def used(chart: Chart, first: int, last: int, relation: int) -> Iterator[tuple[Walk, int]]:
    """The contractions by which a part of a walk comes to a relation."""
    _, body, parts = chart[first, last][relation]
    if body:
        yield body, relation
        for part in parts:
            yield from used(chart, *part)


def forms(chart: Chart, steps: int, most: int = FORMS) -> list[Walk]:
    """The shortest walks that a walk of so many steps contracts to, but for its whole; at most so many."""
    least = [0] * (steps + 1)
    for at in range(steps - 1, -1, -1):
        ends = (end for end in range(at + 1, steps + 1) if chart[at, end] and end - at < steps)
        least[at] = 1 + min(least[end] for end in ends)
    found: dict[Walk, None] = {}
    waiting: list[tuple[int, Walk]] = [(0, ())]
    while waiting and len(found) < most:
        at, form = waiting.pop()
        if at == steps:
            found[form] = None
            continue
        for end in range(at + 1, steps + 1):
            if end - at < steps and chart[at, end] and least[end] + 1 == least[at]:
                waiting += [(end, (*form, relation)) for relation in chart[at, end]]
    return list(found)


class Said(NamedTuple):
    """What walks say.

    Attributes:
        votes: how often each body was seen with each label.
        weights: of what it comes to.
        more: edges that the shortest walk that shows it has more than the body.
    """

    votes: Votes
    weights: Weights
    more: dict[Walk, int]


def said(votes: Votes, word: Weights | None = None) -> Said:
    """What walks say, and what their shortest forms say that are no walks themselves.

    Args:
        votes: the walks.
        word: what another says that bodies come to, with probabilities; it counts as one walk.
    """

    def share(body: Walk, seen: Counter[int]) -> dict[int, float]:
        more = (word or {}).get(body, {})
        return {label: (times + more.get(label, 0.0)) / (seen.total() + 2) for label, times in seen.items()}

    weights = {walk: share(walk, seen) for walk, seen in votes.items()}
    known, shown, more = Contractions(weights), dict(votes), dict.fromkeys(votes, 0)
    for walk, seen in sorted(votes.items(), key=lambda item: len(item[0])):
        if len(walk) > 2:
            for form in forms(known.chart(walk), len(walk)):
                if form not in votes:
                    more.setdefault(form, len(walk) - len(form))
                    shown.setdefault(form, Counter()).update(seen)
    return Said(shown, {body: share(body, seen) for body, seen in shown.items()}, more)


def judged(weights: Weights, votes: Votes) -> Weights:
    """Weights after all walks of three edges or more were held out, one at a time."""
    known = Contractions(weights)
    right: Counter[tuple[Walk, int]] = Counter()
    asked: Counter[tuple[Walk, int]] = Counter()
    for walk, seen in votes.items():
        if len(walk) < 3:
            continue
        chart = known.chart(walk, itself=False)
        near, label, times = _near(chart[0, len(walk)]), seen.most_common(1)[0][0], min(seen.total(), AGAIN)
        for answer in [label] if label in near else near:
            for contraction in set(used(chart, 0, len(walk), answer)):
                asked[contraction] += times
                right[contraction] += times * (answer == label)
    found: Weights = {}
    for body, heads in weights.items():
        before = BEFORE + votes.get(body, Counter()).total()
        found[body] = {
            head: max(LEAST, (right[body, head] + before * weight) / (asked[body, head] + before))
            for head, weight in heads.items()
        }
    return found


def counted(problems: Iterable[tuple[tuple[Walk, ...], int]]) -> Votes:
    """The walk that tells of each problem, which is several walks from the same head to the same tail, and a label.

    Where there is one walk it is that; where there are several, the one that the others contract to the label most
    surely, or the first.
    """
    votes, several = Votes(), Counter[tuple[tuple[Walk, ...], int]]()
    for walks, label in problems:
        if len(walks) == 1:
            votes.setdefault(walks[0], Counter())[label] += 1
        elif walks:
            several[walks, label] += 1
    known = Contractions(said(votes).weights)
    telling: list[tuple[Walk, int, int]] = []
    for (walks, label), times in several.items():
        cost = {walk: made[label].cost for walk in walks if label in (made := known.chart(walk)[0, len(walk)])}
        telling.append((min(cost, key=cost.__getitem__) if cost else walks[0], label, times))
    for walk, label, times in telling:
        votes.setdefault(walk, Counter())[label] += times
    return votes


def needed(weights: Weights) -> Weights:
    """Without bodies of three relations or more that shorter ones bring to the same, or to that among others."""
    known = Contractions(weights)
    kept: Weights = {}
    for body, heads in weights.items():
        near = _near(known.chart(body, itself=False)[0, len(body)]) if len(body) > 2 else []
        if max(heads, key=heads.__getitem__) not in near:
            kept[body] = heads
    return kept


def _near(answers: Mapping[int, Made]) -> list[int]:
    """The best answers: those that can hardly be told apart."""
    best = min((made.cost for made in answers.values()), default=0.0)
    return [answer for answer, made in answers.items() if made.cost <= best + NEAR]


def guessed(weights: Weights) -> Weights:
    """What pairs of relations that come to nothing may be, going by longer bodies that have them as a part.

    If a, b, c comes to d, and so does e, c, then a, b may be e. The weight is half of the share of such bodies that
    say so, counting one more against it: a guess answers where nothing else does.
    """
    known = Contractions(weights)
    relations = sorted({relation for body in weights for relation in body})
    votes, asked = Votes(), Counter[Walk]()
    for body, heads in needed(weights).items():
        head = max(heads, key=heads.__getitem__)
        for at in range(len(body) - 1 if 2 < len(body) <= FEW else 0):
            pair = body[at : at + 2]
            if pair not in weights:
                asked[pair] += 1
                for relation in relations:
                    form = (*body[:at], relation, *body[at + 2 :])
                    if head in known.chart(form)[0, len(form)]:
                        votes.setdefault(pair, Counter())[relation] += 1
    return {
        pair: {relation: times / (2 * asked[pair] + 2) for relation, times in seen.items()}
        for pair, seen in votes.items()
    }


def contractions(problems: Iterable[tuple[tuple[Walk, ...], int]], word: Weights | None = None) -> Said:
    """What walks come to, by all problems; see `counted` and `said`."""
    votes = counted(problems)
    found = said(votes, word)
    weights = judged(found.weights, votes)
    trusted = {
        body: {head: TRUST ** found.more[body] * weight for head, weight in heads.items()}
        for body, heads in weights.items()
    }
    return found._replace(weights=trusted)
