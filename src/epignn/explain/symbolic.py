"""Why a calculus answers as it does: the true one, or a learnt one.

Every proof in an explanation has passed the checker; one that does not is an error, never a warning.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import or_

import numpy as np

from epignn.calculus.algebra import Calculus, Masks, members
from epignn.calculus.network import Network
from epignn.calculus.result import Answer, Result, doubt
from epignn.calculus.solve.closure import close
from epignn.explain.checker import WrongProof, check
from epignn.explain.derive import derive, refute
from epignn.explain.explanation import Exclusion, Explanation, Rounds, Theory
from epignn.explain.paths import path_of
from epignn.explain.proof import Proof, as_text, to_dict
from epignn.explain.smallest import Goal, Support, support

MOST_ENTITIES = 100
"""Of supporting facts, for a table of what is known after each round."""


def theory(calculus: Calculus) -> Theory:
    """A calculus as what answers, by complete closure."""
    return Theory(
        "calculus",
        calculus.words(calculus.universal),
        {"calculus": calculus.name, "source": calculus.source},
        ("leaves", "says"),
        "What may hold",
        f"the table of {calculus.name}",
        "No fact is needed.",
        words=lambda relations: calculus.format(reduce(or_, map(calculus.parse_one, relations), 0)),
        steps=lambda proof: to_dict(proof, calculus),
        tree=lambda proof: as_text(proof, calculus),
    )


def explain(network: Network, head: str, tail: str) -> Explanation:
    """What may hold from head to tail by complete closure, and why.

    >>> from epignn.calculus import load
    >>> facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c"), ("d", "dc", "e")]
    >>> found = explain(Network.of(load("rcc8"), facts), "a", "c")
    >>> print(found)
    PO(a, c)
    >>> found.support
    Support(facts=(0, 1, 2, 3), smallest=True)
    """
    for name in (head, tail):
        network.position(name)
    result = close(network)
    if not result.consistent:
        return _contradiction(network, head, tail, result.conflict_facts)
    calculus, mask = network.calculus, result.mask(head, tail)
    found = support(network, Goal((head, tail), mask)) if head != tail else Support((), True)
    part = _part(network, found, head, tail)
    proof = _checked(part, derive(part, head, tail, mask), mask)
    exclusions = _exclusions(network, head, tail, mask, found) if head != tail else ()
    credit = f"by closure in {calculus.name}"
    return Explanation(
        network,
        head,
        tail,
        calculus.words(mask),
        _said(result, f"({head}, {tail})", mask, found),
        credit if len(calculus.words(mask)) == 1 else f"not determined, {credit}",
        theory(calculus),
        found,
        _rounds(part, head),
        {name: calculus.words(result.mask(head, name)) for name in network.names},
        result.answer,
        (proof,),
        exclusions,
    )


def _said(result: Result, pair: str, mask: int, found: Support) -> tuple[str, ...]:
    """What is left of a pair; and what closure cannot exclude."""
    calculus, left = result.network.calculus, f"{result.network.calculus.format(mask)}{pair}"
    words = calculus.words(mask)
    if len(words) == 1:
        said = f"{left}: the only relation left"
    elif mask == calculus.anything:
        said = f"not determined: nothing follows about {pair}, every relation of {calculus.name} may hold"
    else:
        said = (
            f"not determined: {len(words)} of {len(calculus.words(calculus.universal))} relations may hold, {left}"
        )
    if result.answer is not Answer.CLOSED:
        return (said,)
    return said, f"No contradiction was found; {doubt(calculus)}."


def _contradiction(network: Network, head: str, tail: str, known: Sequence[int]) -> Explanation:
    """Which facts clash, of which some that clash are known."""
    conflict = support(network, Goal(), known)
    part = network.select(list(conflict.facts)).compact()
    return Explanation(
        network,
        head,
        tail,
        (),
        ("contradictory: the facts cannot hold together",),
        f"by closure in {network.calculus.name}",
        theory(network.calculus),
        conflict,
        verdict=Answer.INCONSISTENT,
        proofs=(_checked(part, refute(part), 0),),
    )


def _part(network: Network, found: Support, *ends: str) -> Network:
    """The supporting facts, over their entities and the pair that was asked about."""
    part = network.select(list(found.facts))
    used = {*part.heads.tolist(), *part.tails.tolist(), *map(network.position, ends)}
    names = [network.names[i] for i in sorted(used)]
    triples = zip(part.heads.tolist(), part.masks.tolist(), part.tails.tolist(), strict=True)
    return Network.of(network.calculus, [(part.names[h], m, part.names[t]) for h, m, t in triples], names)


def _checked(network: Network, proof: Proof, mask: int) -> Proof:
    """The proof itself, once the checker has found that it proves this set from these facts."""
    calculus = network.calculus
    _, proved, _ = check(to_dict(proof, calculus), calculus, map(network.triple, range(len(network))))
    if proved != frozenset(calculus.names(mask)):
        raise WrongProof(f"{'|'.join(sorted(proved))} is proved, not {calculus.format(mask)}.")
    return proof


def _exclusions(network: Network, head: str, tail: str, mask: int, whole: Support) -> tuple[Exclusion, ...]:
    """Why each other relation cannot hold; relations that the same facts exclude are told together."""
    calculus = network.calculus
    known: dict[tuple[int, ...], int] = {}  # facts, and what they leave
    supports: dict[tuple[int, ...], Support] = {}
    excluded: dict[tuple[int, ...], int] = {}
    for relation in members(calculus.anything & ~mask):
        starts = [facts for facts, left in known.items() if not left >> relation & 1]
        start = min(starts, key=len, default=whole.facts)
        found = support(network, Goal((head, tail), calculus.universal & ~(1 << relation)), start)
        if found.facts not in known:
            known[found.facts] = close(_part(network, found, head, tail)).mask(head, tail)
            supports[found.facts] = found
        excluded[found.facts] = excluded.get(found.facts, 0) | 1 << relation
    return tuple(
        _exclusion(network, (head, tail), excluded[facts], known[facts], found) for facts, found in supports.items()
    )


def _exclusion(network: Network, pair: tuple[str, str], mask: int, left: int, found: Support) -> Exclusion:
    part, calculus = _part(network, found, *pair), network.calculus
    path = path_of(part, *pair)
    proof = _checked(part, derive(part, *pair, left), left)
    return Exclusion(calculus.words(mask), calculus.words(left), found, path, _along(part, path), proof)


def _along(network: Network, path: tuple[str, ...]) -> tuple[str, ...]:
    """What the facts of a path say from each of its entities to the next, in words."""
    matrix, place = network.matrix(), [network.position(name) for name in path]
    return tuple(network.calculus.format(int(matrix[i, j])) for i, j in pairwise(place))


def _rounds(network: Network, head: str) -> Rounds:
    """Closure round by round: every pair through every third entity at once, until nothing changes.

    Of more than `MOST_ENTITIES` there is none: nobody reads the table, and its time grows as their number cubed.
    """
    if len(network.names) > MOST_ENTITIES:
        return Rounds()
    matrix = network.matrix()
    start = network.position(head)
    rows = [matrix[start]]
    while True:
        refined = matrix & np.stack([_through_all(network.calculus, row, matrix) for row in matrix])
        if np.array_equal(refined, matrix):
            words = network.calculus.words
            return Rounds(network.names, tuple(tuple(map(words, row.tolist())) for row in rows))
        matrix = refined
        rows.append(matrix[start])


def _through_all(calculus: Calculus, row: Masks, matrix: Masks) -> Masks:
    """What a row leaves of each pair through every third entity."""
    result: Masks = np.bitwise_and.reduce(calculus.compose_array(row[:, None], matrix), axis=0)
    return result
