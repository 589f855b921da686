"""What holds in a world, by other code than the package's: plain definitions, distances, and shapely's DE-9IM."""

from functools import reduce
from math import dist

import shapely

from epignn.calculus.network import Network


def allen(a, b):
    (a0, a1), (b0, b1) = a, b
    if (a0, a1) == (b0, b1):
        return "="
    if a1 <= b0:
        return "<" if a1 < b0 else "m"
    if b1 <= a0:
        return ">" if b1 < a0 else "mi"
    if a0 == b0:
        return "s" if a1 < b1 else "si"
    if a1 == b1:
        return "f" if a0 > b0 else "fi"
    if b0 < a0 and a1 < b1:
        return "d"
    if a0 < b0 and b1 < a1:
        return "di"
    return "o" if a0 < b0 else "oi"


def point(a, b):
    return "<" if a < b else ">" if a > b else "="


def cardinal(a, b):
    north = "N" if a[1] > b[1] else "S" if a[1] < b[1] else ""
    east = "E" if a[0] > b[0] else "W" if a[0] < b[0] else ""
    return north + east or "EQ"


def discs(a, b, exact=1e-8, clear=0.01):
    """RCC-8 by distance; touching has to be nearly exact, and everything else clear by something to be seen."""
    ((*p, r),), ((*q, s),) = a["discs"], b["discs"]
    d, tiny, seen = dist(p, q), exact * (r + s), clear * (r + s)
    found = {
        "DC": d > r + s + seen,
        "EC": abs(d - r - s) < tiny,
        "PO": abs(r - s) + seen < d < r + s - seen,
        "TPP": abs(s - r - d) < tiny and s - r > seen,
        "NTPP": d < s - r - seen,
        "TPPI": abs(r - s - d) < tiny and r - s > seen,
        "NTPPI": d < r - s - seen,
        "EQ": p == q and r == s,
    }
    (name,) = [name for name, holds in found.items() if holds]
    return name


def shape(region):
    rings = [shapely.make_valid(shapely.Polygon(ring)) for ring in region["polygons"]]
    return reduce(shapely.symmetric_difference, rings)


def polygons(a, b):
    """RCC-8 by the nine intersections of interior, rim and outside (Egenhofer 1991)."""
    matrix = shapely.relate(a, b)
    inner, inner_rim, inner_out, rim_inner, rims, _, out_inner, _, _ = (c != "F" for c in matrix)
    if not inner:
        return "EC" if rims or inner_rim or rim_inner else "DC"
    if not (inner_out or out_inner):
        return "EQ"
    if not inner_out:
        return "TPP" if rims else "NTPP"
    if not out_inner:
        return "TPPI" if rims else "NTPPI"
    return "PO"


COARSE = {
    "DC": "DR", "EC": "DR", "PO": "PO", "EQ": "EQ", "TPP": "PP", "NTPP": "PP", "TPPI": "PPI", "NTPPI": "PPI",
}  # fmt: skip


class Tree:
    """A family as sets, and its terms by their plain definitions, the first that fits."""

    def __init__(self, people):
        self.people = people
        self.at = {p["name"]: n for n, p in enumerate(people) if p["name"] is not None}

    def parents(self, n):
        return {self.people[n][key] for key in ("father", "mother")} - {None}

    def children(self, n):
        return {c for c in range(len(self.people)) if n in self.parents(c)}

    def siblings(self, n):
        return {c for c in range(len(self.people)) if c != n and self.parents(c) == self.parents(n) != set()}

    def spouses(self, n):
        return {self.people[n]["spouse"]} - {None}

    def walk(self, n, *steps):
        found = {n}
        for step in steps:
            found = {m for each in found for m in getattr(self, step)(each)}
        return found

    WALKS = (
        (("father", "mother"), [("parents",)]),
        (("son", "daughter"), [("children",)]),
        (("brother", "sister"), [("siblings",)]),
        (("husband", "wife"), [("spouses",)]),
        (("grandfather", "grandmother"), [("parents", "parents")]),
        (("grandson", "granddaughter"), [("children", "children")]),
        (("uncle", "aunt"), [("parents", "siblings")]),
        (("nephew", "niece"), [("siblings", "children")]),
        (("father-in-law", "mother-in-law"), [("spouses", "parents")]),
        (("son-in-law", "daughter-in-law"), [("children", "spouses")]),
        (("brother-in-law", "sister-in-law"), [("spouses", "siblings"), ("siblings", "spouses")]),
        (("uncle-by-marriage", "aunt-by-marriage"), [("parents", "siblings", "spouses")]),
        (("nephew-by-marriage", "niece-by-marriage"), [("spouses", "siblings", "children")]),
    )

    def relation(self, a, b):
        one, other = self.at[a], self.at[b]
        if one == other:
            return "self"
        whose, woman = ("his", "her")[self.people[one]["female"]], self.people[other]["female"]
        for names, walks in self.WALKS:
            if any(other in self.walk(one, *walk) for walk in walks):
                return f"{whose}-{names[woman]}"
        return f"{whose}-{('other-man', 'other-woman')[woman]}"

    def check(self):
        """Nobody descends from themselves, marries twice or marries kin; parents are a married couple."""
        for n, person in enumerate(self.people):
            above = self.ancestors(n)
            assert n not in above
            for key, female in (("father", False), ("mother", True)):
                assert person[key] is None or self.people[person[key]]["female"] is female
            assert len(self.parents(n)) in (0, 2)
            for parent in self.parents(n):
                assert self.spouses(parent) == self.parents(n) - {parent}
            for spouse in self.spouses(n):
                assert self.spouses(spouse) == {n}
                assert self.people[spouse]["female"] != person["female"]
                assert not (above | {n}) & (self.ancestors(spouse) | {spouse})

    def ancestors(self, n):
        found, front = set(), self.parents(n)
        while front - found:
            found |= front
            front = {p for each in front for p in self.parents(each)}
        return found


def relations(document):
    """A function of two names that gives the relation which holds from one to the other in a world."""
    kind = document["kind"]
    if kind == "family":
        tree = Tree(document["people"])
        tree.check()
        return tree.relation
    if kind == "intervals":
        return lambda a, b: allen(document["intervals"][a], document["intervals"][b])
    if kind in ("points", "plane"):
        each = point if kind == "points" else cardinal
        return lambda a, b: each(document["points"][a], document["points"][b])
    regions = document["regions"]
    if all("discs" in region for region in regions.values()):
        fine = lambda a, b: discs(regions[a], regions[b])  # noqa: E731
    else:
        shapes = {name: shape(region) for name, region in regions.items()}
        fine = lambda a, b: polygons(shapes[a], shapes[b])  # noqa: E731
    return (lambda a, b: COARSE[fine(a, b)]) if document["calculus"] == "rcc5" else fine


def holding(document, network: Network):
    """The relation that holds of every fact, and whether the fact allows it."""
    relation = relations(document)
    facts = [network.triple(f) for f in range(len(network))]
    return [(relation(a, b), relation(a, b) in names) for a, names, b in facts]


def all_hold(world, network: Network) -> bool:
    return all(holds for _, holds in holding(world.to_dict(), network))
