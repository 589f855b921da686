"""RDF: statements of GeoSPARQL and OWL-Time, or of one's own vocabulary, as a network; what follows, as RDF again.

A file may import others of its folder with `owl:imports`; nothing is fetched from elsewhere.
"""

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.bridges.instants import ABOUT, facts_of_instants
from epignn.bridges.vocabularies import VOCABULARIES, Vocabulary
from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile, unknown
from epignn.extras import optional
from epignn.files import foreign, load_json, read_text, write_text

FORMATS = MappingProxyType({".ttl": "turtle", ".nt": "nt", ".jsonld": "json-ld", ".rdf": "xml"})
APPENDED = (".ttl", ".nt")
"""Files to which statements can be added at the end, so that all that stands before stays as it is."""
OWL, RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
SAME_AS, IMPORTS = OWL + "sameAs", OWL + "imports"
DERIVED = "http://www.w3.org/ns/prov#wasDerivedFrom"


@dataclass(frozen=True, eq=False)
class Statements:
    """What an RDF file says in a vocabulary.

    Attributes:
        network: over the IRIs, or over names that a property gives them.
        terms: the IRI or blank node of each name.
        graph: everything the file has, of rdflib.
        vocabulary: what the predicates mean.
        path: where it was read.
        stated: how many facts of the network, its first, are stated as such; others follow from instants and dates.
        passed: how many other statements there are.
        notes: what was passed over, in words.
    """

    network: Network
    terms: dict[str, Any]
    graph: Any
    vocabulary: Vocabulary
    path: Path
    stated: int
    passed: int
    notes: tuple[str, ...] = field(default=())


def read_rdf(
    path: Path, vocabulary: Vocabulary | None = None, name: str = "", skip_bad: bool = False
) -> Statements:
    """The relations that an RDF file states; other statements are kept and counted.

    Args:
        path: Turtle, N-Triples, JSON-LD or RDF/XML, by its suffix.
        vocabulary: what its predicates mean; by default GeoSPARQL or OWL-Time, whichever it uses more.
        name: a property whose values name things, such as `rdfs:label`; by default IRIs do.
        skip_bad: pass over statements that are refused otherwise, and count them.

    `owl:sameAs` says that two IRIs name one thing.

    Raises:
        BadFile: it cannot be read; it states no relation, or one that is misspelt, or one of a text; it imports
            itself; a thing has two names, or two things have one.
    """
    graph, skipped = _parsed(path, skip_bad)
    used = vocabulary or max(VOCABULARIES.values(), key=lambda one: _uses(graph, one))
    calculus = load(used.calculus)
    masks = {iri: calculus.parse(meaning) for iri, meaning in used.meanings.items()}
    masks[SAME_AS] = calculus.identity_mask
    names = _Names(graph, name, str(path))
    facts, instants = [], []
    for s, p, o in sorted(graph):
        iri = str(p)
        wrong = _wrong(s, iri, o, used, masks)
        if wrong and not skip_bad:
            raise BadFile(f"{wrong} --skip-bad passes over such statements.", str(path))
        if wrong:
            skipped["statements that are no relation"] += 1
        elif iri in masks:
            facts.append((names.of(s), masks[iri], names.of(o)))
        elif calculus.name == "allen" and iri in ABOUT:
            instants.append((names.of(s), iri, str(o) if _is_literal(o) else names.of(o)))
    stated, others = len(facts), len(graph) - len(facts) - len(instants)
    if instants:
        try:
            facts += facts_of_instants(instants, {end for fact in facts for end in (fact[0], fact[2])})
        except BadArgument as error:
            raise BadFile(str(error), str(path)) from error
    if not facts:
        known = ", ".join(list(used.meanings)[:4])
        raise BadFile(f"it states no relation; a vocabulary tells which predicates are ({known}, …).", str(path))
    notes = tuple(f"{count:,} {what} passed over" for what, count in skipped.items())
    network = Network.of(calculus, facts, title=path.name)
    return Statements(network, names.terms, graph, used, path, stated, others, notes)


# -- reading --


def _parsed(path: Path, skip_bad: bool) -> tuple[Any, Counter[str]]:
    """The graph of a file and of those that it imports, and what was passed over."""
    rdflib = optional("rdflib", f"reading {path.name}")
    graph, skipped = rdflib.Graph(bind_namespaces="none"), Counter[str]()
    _parse_into(graph, path, (), set(), skipped, skip_bad)
    return graph, skipped


def _parse_into(
    graph: Any, path: Path, above: tuple[Path, ...], seen: set[Path], skipped: Counter[str], skip_bad: bool
) -> None:
    """Read a file into a graph, and what it imports of its own folder; each file once, however often imported."""
    rdflib = optional("rdflib", f"reading {path.name}")
    suffix = path.suffix.casefold()
    if suffix not in FORMATS:
        raise BadFile(f"expected RDF, in a file that ends in {', '.join(FORMATS)}.", str(path))
    part = rdflib.Graph(bind_namespaces="none")
    text = read_text(path)
    if suffix == ".jsonld":
        _refuse_remote(load_json(text, str(path)), str(path))
    with foreign(str(path), FORMATS[suffix]):
        part.parse(data=text, format=FORMATS[suffix])
    for prefix, space in part.namespaces():
        graph.bind(prefix, space)
    for triple in part:
        graph.add(triple)
    for wanted in sorted(map(str, part.objects(None, rdflib.URIRef(IMPORTS)))):
        other = path.parent / wanted.rpartition("/")[2]
        if "://" in wanted.removeprefix("file://") or not other.is_file():
            skipped["imports that are no file of the same folder"] += 1
        elif other.resolve() not in {one.resolve() for one in (*above, path)}:
            if other.resolve() not in seen:
                seen.add(other.resolve())
                _parse_into(graph, other, (*above, path), seen, skipped, skip_bad)
        elif skip_bad:
            skipped["imports that lead back to where they began"] += 1
        else:
            circle = " imports ".join(one.name for one in (*above, path, other))
            raise BadFile(f"{circle}: a circle. Take one owl:imports out, or use --skip-bad.", str(path))


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
    about = ABOUT if vocabulary.calculus == "allen" else ()
    return sum(
        str(predicate) in vocabulary.meanings or str(predicate) in about or vocabulary.misspelt(str(predicate))
        for predicate in graph.predicates()
    )


def _is_literal(term: Any) -> bool:
    return hasattr(term, "datatype")


def _wrong(subject: Any, iri: str, thing: Any, vocabulary: Vocabulary, known: dict[str, int]) -> str:
    """What is wrong with a statement; empty if nothing is."""
    if iri in known and _is_literal(thing):
        return f"{subject} has a text, {str(thing)[:40]!r}, where {iri} needs the IRI of a thing."
    if vocabulary.misspelt(iri):
        prefix = iri[: max(iri.rfind("#"), iri.rfind("/")) + 1]
        names = [other.removeprefix(prefix) for other in vocabulary.meanings if other.startswith(prefix)]
        return f"{subject}: {unknown('predicate', iri.removeprefix(prefix), names)}"
    return ""


class _Names:
    """The name of each thing: its IRI, or what a property says."""

    def __init__(self, graph: Any, name: str, file: str) -> None:
        self.graph, self.file, self.name = graph, file, name
        self.terms: dict[str, Any] = {}
        self._by_term: dict[Any, str] = {}
        self._property = self._expanded(name) if name else None

    def _expanded(self, name: str) -> Any:
        """A property by its IRI, by its name with a prefix of the file, or `label`."""
        rdflib = optional("rdflib", "reading RDF")
        prefix, colon, local = name.partition(":")
        spaces = {"rdfs": RDFS} | {one: str(space) for one, space in self.graph.namespaces()}
        iri = RDFS + name if not colon else spaces[prefix] + local if prefix in spaces else name
        found = rdflib.URIRef(iri)
        if (None, found, None) not in self.graph:
            used = {str(predicate).rpartition("/")[2].rpartition("#")[2] for predicate in self.graph.predicates()}
            raise BadFile(f"{unknown('property', name, used)} Write it as rdfs:label, or as an IRI.", self.file)
        return found

    def of(self, term: Any) -> str:
        """The name of a thing."""
        if term not in self._by_term:
            label = self._label(term)
            if label in self.terms:
                raise BadFile(
                    f"{self.terms[label]} and {term} are both named {label!r}; use another property with --name, "
                    "or leave --name out.",
                    self.file,
                )
            self.terms[label] = term
            self._by_term[term] = label
        return self._by_term[term]

    def _label(self, term: Any) -> str:
        rdflib = optional("rdflib", "reading RDF")
        plain = f"_:{term}" if isinstance(term, rdflib.BNode) else str(term)
        if self._property is None:
            return plain
        labels = sorted({str(label) for label in self.graph.objects(term, self._property)})
        if len(labels) > 1:
            raise BadFile(
                f"{plain} has two names, {labels[0]!r} and {labels[1]!r}; keep one, or choose another property "
                "with --name.",
                self.file,
            )
        return labels[0] if labels else plain


# -- writing --


def inferred_rdf(statements: Statements, inferred: Network, provenance: str = "") -> Any:
    """A graph of rdflib with what follows, is not stated in other words, and a predicate can say.

    Args:
        statements: what was read.
        inferred: what follows; sets that no predicate means are left out.
        provenance: an IRI from which every inferred statement is marked to be derived; none if empty.
    """
    rdflib = optional("rdflib", "writing RDF")
    graph = rdflib.Graph(bind_namespaces="none")
    calculus = inferred.calculus
    predicates = _predicates(statements.vocabulary, calculus)
    rdf = rdflib.RDF
    first, second, masks = statements.network.select(range(statements.stated)).pairs()
    told = dict(zip(zip(first.tolist(), second.tolist(), strict=True), masks.tolist(), strict=True))
    for i, j, mask in zip(*inferred.pairs(), strict=True):
        if told.get((i, j)) == mask:
            continue
        ways = ((int(mask), i, j), (calculus.converse(int(mask)), j, i))
        found = next((way for way in sorted(ways) if way[0] in predicates), None)
        if found is None:
            continue
        subject, object_ = (statements.terms[inferred.names[end]] for end in found[1:])
        predicate = rdflib.URIRef(predicates[found[0]])
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


def write_rdf(statements: Statements, new: Any, path: Path) -> None:
    """Write what was stated and what is new, in the format of the file's suffix.

    Where the format is the same and allows it, what is new comes after the text of the file, which stays as it is.
    """
    suffix = path.suffix.casefold()
    if suffix not in FORMATS:
        raise BadFile(f"expected a name that ends in {', '.join(FORMATS)}.", str(path))
    if suffix in APPENDED and suffix == statements.path.suffix.casefold() and _can_follow(statements, new):
        text = read_text(statements.path)
        written = (_line(triple, statements.graph, suffix) for triple in new)
        lines = sorted(written, key=lambda line: (line.startswith("_:"), line))  # where they come from comes last
        write_text(path, text + ("" if text.endswith("\n") else "\n") + "".join(f"{line}\n" for line in lines))
        return
    whole = optional("rdflib", "writing RDF").Graph(bind_namespaces="none")
    for prefix, space in statements.graph.namespaces():
        whole.bind(prefix, space)
    for graph in (statements.graph, new):
        for triple in graph:
            whole.add(triple)
    try:
        with _quiet():
            text = whole.serialize(format=FORMATS[suffix])
    except (
        Exception
    ) as error:  # rdflib raises a plain one where an IRI has a sign that the format has no way to write
        raise BadFile(f"cannot be written as {FORMATS[suffix]}: {error}", str(path)) from error
    write_text(path, text)


def _can_follow(statements: Statements, new: Any) -> bool:
    """Whether no new statement is of a blank node of the file, whose label there is not known."""
    rdflib = optional("rdflib", "writing RDF")
    old = {term for triple in statements.graph for term in triple if isinstance(term, rdflib.BNode)}
    return not any(term in old for triple in new for term in triple)


def _line(triple: tuple[Any, Any, Any], graph: Any, suffix: str) -> str:
    """A statement as text, with the prefixes that the file has."""
    manager = graph.namespace_manager if suffix == ".ttl" else None
    return " ".join(term.n3(manager) for term in triple) + " ."


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to rdflib what it says about its own use of its own classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
