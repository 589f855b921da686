"""Vocabularies: which relation set each predicate of RDF means.

GeoSPARQL's topological predicates are sets of RCC-8 relations between regions (OGC 11-052r4, tables 4 to 6),
OWL-Time's are sets of Allen's between intervals. A vocabulary of one's own is a small TOML file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.calculus import load
from epignn.errors import BadFile, EpignnError, unknown
from epignn.files import parse_toml, read_text

GEO = "http://www.opengis.net/ont/geosparql#"
TIME = "http://www.w3.org/2006/time#"
SHAPE = (
    'a vocabulary has calculus = "kinship", prefix = "http://…#" and a table relations, as in hasAunt = "aunt"; '
    'extends = "geosparql", or another file, takes over what that says.'
)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What predicates mean.

    Attributes:
        calculus: its name.
        meanings: a relation set of it for each IRI; the first IRI of a set writes it.
        family: what the IRIs of its relations look like, so that one that is not known is seen to be misspelt.
    """

    calculus: str
    meanings: Mapping[str, str]
    family: str = ""

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """A vocabulary of one's own, from a TOML file with `calculus`, `prefix` and a table `relations`.

        Its `extends` may name a vocabulary that is known or another file, whose relations are taken over.

        Raises:
            BadFile: a key is missing, a set is not of the calculus, one IRI is given two meanings, or files extend
                each other in a circle.
        """
        return cls._read(path, ())

    @classmethod
    def _read(cls, path: Path, above: tuple[Path, ...]) -> "Vocabulary":
        if path.resolve() in above:
            circle = " extends ".join(one.name for one in (*above[above.index(path.resolve()) :], path))
            raise BadFile(f"{circle}: a circle. Take one of the `extends` out.", str(path))
        table = parse_toml(read_text(path), str(path))
        base = cls._base(table, path, above)
        if "relations" not in table or (base is None and "calculus" not in table):
            missing = "calculus" if "relations" in table else "relations"
            raise BadFile(f"{missing!r} is missing; {SHAPE}", str(path))
        if not isinstance(table["relations"], dict):
            raise BadFile(f"relations is no table; {SHAPE}", str(path))
        calculus = load(str(table.get("calculus", base and base.calculus)))
        if base is not None and base.calculus != calculus.name:
            raise BadFile(f"what it extends is of {base.calculus}, not of {calculus.name}.", str(path))
        meanings: dict[str, str] = {}
        said: dict[str, str] = {}
        for name, meaning in table["relations"].items():
            iri = name if re.match(r"[A-Za-z][\w+.-]*:", name) else f"{table.get('prefix', '')}{name}"
            try:
                mask = calculus.parse(str(meaning))
            except EpignnError as error:
                raise BadFile(f"relations.{name}: {error}", str(path)) from error
            if iri in meanings and calculus.parse(meanings[iri]) != mask:
                raise BadFile(
                    f"relations.{name} and relations.{said[iri]} are two names for one IRI, {iri}, with two "
                    "meanings; keep one.",
                    str(path),
                )
            meanings.setdefault(iri, str(meaning))
            said.setdefault(iri, name)
        taken = {iri: meaning for iri, meaning in (base.meanings if base else {}).items() if iri not in meanings}
        return cls(calculus.name, meanings | taken, base.family if base else "")

    @classmethod
    def _base(cls, table: Mapping[str, Any], path: Path, above: tuple[Path, ...]) -> "Vocabulary | None":
        """What a vocabulary extends."""
        name = str(table.get("extends", ""))
        if not name or name in VOCABULARIES:
            return VOCABULARIES.get(name)
        if not name.endswith(".toml"):
            raise BadFile(f"extends: {unknown('vocabulary', name, VOCABULARIES)} Or name a .toml file.", str(path))
        return cls._read(path.parent / name, (*above, path.resolve()))

    def misspelt(self, iri: str) -> bool:
        """Whether an IRI looks like a relation of this vocabulary, but is none."""
        return bool(self.family) and iri not in self.meanings and re.match(self.family, iri) is not None


_GEOSPARQL = {
    **{f"rcc8{name.casefold()}": name for name in ("EQ", "DC", "EC", "PO", "TPP", "TPPI", "NTPP", "NTPPI")},
    "ehEquals": "EQ",
    "ehDisjoint": "DC",
    "ehMeet": "EC",
    "ehOverlap": "PO",
    "ehCovers": "TPPI",
    "ehCoveredBy": "TPP",
    "ehInside": "NTPP",
    "ehContains": "NTPPI",
    "sfEquals": "EQ",
    "sfDisjoint": "DC",
    "sfIntersects": "EC|PO|TPP|NTPP|TPPI|NTPPI|EQ",
    "sfTouches": "EC",
    "sfWithin": "TPP|NTPP|EQ",
    "sfContains": "TPPI|NTPPI|EQ",
    "sfOverlaps": "PO",
}
_OWL_TIME = {
    "intervalBefore": "<",
    "intervalAfter": ">",
    "intervalMeets": "m",
    "intervalMetBy": "mi",
    "intervalOverlaps": "o",
    "intervalOverlappedBy": "oi",
    "intervalStarts": "s",
    "intervalStartedBy": "si",
    "intervalDuring": "d",
    "intervalContains": "di",
    "intervalFinishes": "f",
    "intervalFinishedBy": "fi",
    "intervalEquals": "=",
    "intervalDisjoint": "<|>",
    "intervalIn": "d|s|f",
    "notDisjoint": "=|d|di|o|oi|m|mi|s|si|f|fi",
}
VOCABULARIES = MappingProxyType(
    {
        "geosparql": Vocabulary(
            "rcc8", {GEO + name: meaning for name, meaning in _GEOSPARQL.items()}, f"{GEO}(rcc8|sf(?!Crosses$)|eh)"
        ),
        "owl-time": Vocabulary(
            "allen", {TIME + name: meaning for name, meaning in _OWL_TIME.items()}, f"{TIME}interval"
        ),
    }
)
