"""RDF: statements of GeoSPARQL and OWL-Time, or of one's own vocabulary, as a network; what follows, as RDF again.

A vocabulary says which relation set each predicate means. GeoSPARQL's topological predicates are sets of RCC-8
relations between regions (OGC 11-052r4, tables 4 to 6), OWL-Time's are sets of Allen's between intervals.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.errors import BadFile, EpignnError
from epignn.extras import optional
from epignn.files import foreign, load_json, parse_toml, read_text, write_text

FORMATS = MappingProxyType({".ttl": "turtle", ".nt": "nt", ".jsonld": "json-ld", ".rdf": "xml"})
GEO = "http://www.opengis.net/ont/geosparql#"
TIME = "http://www.w3.org/2006/time#"
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
DERIVED = "http://www.w3.org/ns/prov#wasDerivedFrom"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What predicates mean: a relation set of a calculus for each IRI; the first IRI of a set writes it."""

    calculus: str
    meanings: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """A vocabulary of one's own, from a TOML file with `calculus`, `prefix` and a table `relations`.

        Raises:
            BadFile: a key is missing, or a set is not of the calculus.
        """
        table = parse_toml(read_text(path), str(path))
        missing = [key for key in ("calculus", "relations") if key not in table]
        if missing:
            raise BadFile(
                f'{missing[0]!r} is missing; a vocabulary has calculus = "kinship", prefix = "http://…#" and a '
                'table relations, as in hasAunt = "aunt".',
                str(path),
            )
        if not isinstance(table["relations"], dict):
            raise BadFile('relations must be a table, as in hasAunt = "aunt".', str(path))
        prefix, calculus = str(table.get("prefix", "")), load(str(table["calculus"]))
        for name, meaning in table["relations"].items():
            try:
                calculus.parse(str(meaning))
            except EpignnError as error:
                raise BadFile(f"relations.{name}: {error}", str(path)) from error
        return cls(calculus.name, {prefix + name: str(meaning) for name, meaning in table["relations"].items()})


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
    "before": "<",
    "after": ">",
    "inside": "d",
}
VOCABULARIES = MappingProxyType(
    {
        "geosparql": Vocabulary("rcc8", {GEO + name: meaning for name, meaning in _GEOSPARQL.items()}),
        "owl-time": Vocabulary("allen", {TIME + name: meaning for name, meaning in _OWL_TIME.items()}),
    }
)


@dataclass(frozen=True, eq=False)
class Statements:
    """What an RDF file says in a vocabulary.

    Attributes:
        network: over the IRIs.
        graph: everything the file has, of rdflib.
        vocabulary: what the predicates mean.
        passed: how many other statements there are.
    """

    network: Network
    graph: Any
    vocabulary: Vocabulary
    passed: int


def read_rdf(path: Path, vocabulary: Vocabulary | None = None) -> Statements:
    """The relations that an RDF file states; other statements are kept and counted.

    Args:
        path: Turtle, N-Triples, JSON-LD or RDF/XML, by its suffix.
        vocabulary: what its predicates mean; by default GeoSPARQL or OWL-Time, whichever it uses more.

    `owl:sameAs` says that two IRIs name one thing.

    Raises:
        BadFile: it cannot be read, or states none of the relations.
    """
    rdflib = optional("rdflib", f"reading {path.name}")
    suffix = path.suffix.casefold()
    if suffix not in FORMATS:
        raise BadFile(f"expected RDF, in a file that ends in {', '.join(FORMATS)}.", str(path))
    graph = rdflib.Graph()
    text = read_text(path)
    if suffix == ".jsonld":
        _refuse_remote(load_json(text, str(path)), str(path))
    with foreign(str(path), FORMATS[suffix]):
        graph.parse(data=text, format=FORMATS[suffix])
    used = vocabulary or max(VOCABULARIES.values(), key=lambda one: _uses(graph, one))
    calculus = load(used.calculus)
    masks = {iri: calculus.parse(meaning) for iri, meaning in used.meanings.items()}
    masks[SAME_AS] = calculus.identity_mask
    facts = sorted((str(s), masks[str(p)], str(o)) for s, p, o in graph if str(p) in masks)
    if not facts:
        known = ", ".join(list(used.meanings)[:4])
        raise BadFile(f"it states no relation; a vocabulary tells which predicates are ({known}, …).", str(path))
    network = Network.of(calculus, facts, title=path.name)
    return Statements(network, graph, used, len(graph) - len(facts))


def _refuse_remote(document: Any, file: str) -> None:
    """Refuse JSON-LD that has to be completed from elsewhere: rdflib would fetch it, and we fetch nothing."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for key in ("@context", "@import"):
                told = value.get(key)
                for context in told if isinstance(told, list) else [told]:
                    if isinstance(context, str):
                        raise BadFile(f"its {key} is at {context[:80]!r}, which is not fetched.", file)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _uses(graph: Any, vocabulary: Vocabulary) -> int:
    return sum(str(predicate) in vocabulary.meanings for predicate in graph.predicates())


def inferred_rdf(statements: Statements, inferred: Network, provenance: str = "") -> Any:
    """A graph of rdflib with everything that was stated, and what follows and a predicate can say.

    Args:
        statements: what was read.
        inferred: what follows; sets that no predicate means are left out.
        provenance: an IRI from which every inferred statement is marked to be derived; none if empty.
    """
    rdflib = optional("rdflib", "writing RDF")
    graph = rdflib.Graph()
    for prefix, space in statements.graph.namespaces():
        graph.bind(prefix, space)
    for triple in statements.graph:
        graph.add(triple)
    calculus = inferred.calculus
    predicates = _predicates(statements.vocabulary, calculus)
    rdf = rdflib.RDF
    for f in range(len(inferred)):
        mask, head, tail = int(inferred.masks[f]), inferred.heads[f], inferred.tails[f]
        if mask not in predicates and calculus.converse(mask) in predicates:
            mask, head, tail = calculus.converse(mask), tail, head
        if mask not in predicates:
            continue
        subject, object_ = (rdflib.URIRef(inferred.names[end]) for end in (head, tail))
        predicate = rdflib.URIRef(predicates[mask])
        graph.add((subject, predicate, object_))
        if provenance:
            said = rdflib.BNode()
            for key, value in ((rdf.subject, subject), (rdf.predicate, predicate), (rdf.object, object_)):
                graph.add((said, key, value))
            graph.add((said, rdf.type, rdf.Statement))
            graph.add((said, rdflib.URIRef(DERIVED), rdflib.URIRef(provenance)))
    return graph


def _predicates(vocabulary: Vocabulary, calculus: Calculus) -> dict[int, str]:
    """The predicate that writes each relation set: the first that means it."""
    found: dict[int, str] = {}
    for iri, meaning in vocabulary.meanings.items():
        found.setdefault(calculus.parse(meaning), iri)
    return found


def write_rdf(graph: Any, path: Path) -> None:
    """Write a graph of rdflib, in the format of the file's suffix."""
    suffix = path.suffix.casefold()
    if suffix not in FORMATS:
        raise BadFile(f"expected a name that ends in {', '.join(FORMATS)}.", str(path))
    with _quiet():
        text = graph.serialize(format=FORMATS[suffix])
    write_text(path, text)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to rdflib what it says about its own use of its own classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
