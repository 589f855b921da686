"""What a bridge gives: a network, and what had to be passed over or repaired on the way."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Network
from epignn.errors import BadFile, unknown
from epignn.formats.raw import RawNetwork
from epignn.formats.wording import Source, spoken


@dataclass(frozen=True, eq=False)
class Regions:
    """Named geometries.

    Attributes:
        names: one for each.
        geometries: of shapely.
        file: where they were read, for messages.
        notes: what was repaired while reading.
    """

    names: tuple[str, ...]
    geometries: NDArray[np.object_]
    file: str = "the regions"
    notes: tuple[str, ...] = ()

    def only(self, wanted: Sequence[str]) -> "Regions":
        """Those of some names.

        Raises:
            BadFile: one is not there; with the near miss.
        """
        place = {name: number for number, name in enumerate(self.names)}
        for name in wanted:
            if name not in place:
                raise BadFile(str(unknown("region", name, place)), self.file)
        return replace(self, names=tuple(wanted), geometries=self.geometries[[place[name] for name in wanted]])


@dataclass(frozen=True, eq=False)
class Events:
    """Named stretches of time.

    Attributes:
        names: one for each.
        starts, ends: numbers, or nanoseconds since 1970 for dates; `nan` where one is not known.
        dated: whether they are dates.
        backwards: whether times were ages, which count back from now; they are negative here.
    """

    names: tuple[str, ...]
    starts: NDArray[np.float64]
    ends: NDArray[np.float64]
    dated: bool
    backwards: bool


@dataclass(frozen=True, eq=False)
class World:
    """Things as they are: what holds between every two of them.

    Attributes:
        network: the facts. Of a pair that has none, `otherwise` holds.
        otherwise: the relation set of pairs that are left out.
        notes: what was repaired or passed over, in words.
        source: the regions or events themselves, to be drawn; of RDF there are none.
    """

    network: Network
    otherwise: int
    notes: tuple[str, ...] = field(default=())
    source: Regions | Events | None = None

    def complete(self) -> Network:
        """The network with a fact for every pair, so that closure knows of the pairs that are left out."""
        from epignn.calculus.result import upper_triangle

        matrix = self.network.matrix()
        matrix[matrix == self.network.calculus.anything] = self.otherwise
        network = self.network
        return Network(network.calculus, network.names, *upper_triangle(matrix), title=network.title)


@dataclass(frozen=True)
class Refuted:
    """A claim that is not so.

    Attributes:
        line: where it was made; 0 where the file has no lines.
        claim: what was said, as it is written.
        truth: what is so, in the same words.
        head, tail: of whom.
    """

    line: int
    claim: str
    truth: str
    head: str
    tail: str

    def __str__(self) -> str:
        return f"{self.claim} is not so: {self.truth}"


def refuted(world: World, claims: Network, raw: RawNetwork, file: str) -> list[Refuted]:
    """The claims that a world refutes, in their order; `raw` has their places.

    Raises:
        BadFile: a claim is of something that the world does not have; tells the line and the near miss.
    """
    network = world.network
    for f, ends in enumerate(zip(claims.heads.tolist(), claims.tails.tolist(), strict=True)):
        for name in (claims.names[end] for end in ends):
            if name not in network._positions:
                raise BadFile(str(unknown("entity", name, network.names)), file, raw.place(f).line)
    calculus, found, source = network.calculus, [], Source(raw, file)
    words = spoken(calculus, source.names())
    truths = {
        (i, j): mask
        for i, j, mask in zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True)
    }
    for f in range(len(claims)):
        fact = claims.fact(f)
        i, j = network.position(fact.head), network.position(fact.tail)
        if i == j:
            truth = calculus.identity_mask
        elif (i, j) in truths:
            truth = truths[i, j]
        else:
            truth = calculus.converse(truths.get((j, i), calculus.converse(world.otherwise)))
        if not truth & int(claims.masks[f]):
            told = f"{words.format(truth)}({fact.head}, {fact.tail})"
            found.append(Refuted(raw.place(f).line, source.written(fact), told, fact.head, fact.tail))
    return found
