"""RDF: what predicates mean, what follows as RDF again, and files that are refused."""

import pytest

from epignn.bridges.rdf import DERIVED, GEO, VOCABULARIES, Vocabulary, inferred_rdf, read_rdf, write_rdf
from epignn.calculus import load
from epignn.calculus.solve.closure import close
from epignn.errors import BadFile

rdflib = pytest.importorskip("rdflib")

TURTLE = """@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix : <http://example.org/> .
:Lyon geo:sfWithin :Rhone ; :mayor "Ann" .
:Rhone geo:rcc8ntpp :France .
:France geo:ehMeet :Spain .
:Gaul <http://www.w3.org/2002/07/owl#sameAs> :France .
"""


@pytest.fixture
def turtle(tmp_path):
    path = tmp_path / "places.ttl"
    path.write_text(TURTLE)
    return path


def test_geosparql(turtle):
    told = read_rdf(turtle)
    assert (told.network.calculus.name, len(told.network), told.passed) == ("rcc8", 4, 1)
    result = close(told.network)
    iri = "http://example.org/{}".format
    assert result.words(iri("Lyon"), iri("Spain")) == ("DC",)
    assert result.words(iri("Lyon"), iri("Gaul")) == ("NTPP",)


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")  # rdflib's own, reading JSON-LD here
@pytest.mark.parametrize("suffix", ["ttl", "nt", "jsonld", "rdf"])
def test_what_follows_is_added_and_the_rest_stays(turtle, tmp_path, suffix):
    told = read_rdf(turtle)
    path = tmp_path / f"out.{suffix}"
    write_rdf(inferred_rdf(told, close(told.network).closed), path)
    again = rdflib.Graph().parse(path)
    assert set(told.graph) <= set(again)
    lyon, spain = (rdflib.URIRef(f"http://example.org/{name}") for name in ("Lyon", "Spain"))
    assert (lyon, rdflib.URIRef(GEO + "rcc8dc"), spain) in again or (
        spain,
        rdflib.URIRef(GEO + "rcc8dc"),
        lyon,
    ) in again
    before, after = close(told.network), close(read_rdf(path).network)
    for a in told.network.names:
        assert all(before.words(a, b) == after.words(a, b) for b in told.network.names)


def test_provenance_on_request(turtle):
    told = read_rdf(turtle)
    graph = inferred_rdf(told, close(told.network).inferred, "http://example.org/closure")
    marked = set(graph.subjects(rdflib.URIRef(DERIVED), rdflib.URIRef("http://example.org/closure")))
    assert len(marked) == 6  # of ten pairs four are stated, and the others have one relation each
    assert not list(inferred_rdf(told, close(told.network).inferred).subjects(rdflib.URIRef(DERIVED), None))


@pytest.mark.parametrize("name", list(VOCABULARIES))
def test_every_meaning_is_a_set_of_its_calculus(name):
    vocabulary = VOCABULARIES[name]
    calculus = load(vocabulary.calculus)
    masks = [calculus.parse(meaning) for meaning in vocabulary.meanings.values()]
    assert {1 << r for r in range(len(calculus))} <= set(masks)  # every base relation can be written


def test_owl_time(tmp_path):
    path = tmp_path / "t.nt"
    time = "http://www.w3.org/2006/time#"
    path.write_text(f"<x:a> <{time}intervalMeets> <x:b> .\n<x:b> <{time}intervalIn> <x:c> .\n")
    result = close(read_rdf(path).network)
    assert set(result.words("x:a", "x:c")) == {"m", "o", "s", "d"}
    assert read_rdf(path).network.calculus.name == "allen"


def test_a_vocabulary_of_ones_own(tmp_path):
    mapping = tmp_path / "v.toml"
    mapping.write_text(
        'calculus = "kinship"\nprefix = "x:"\n[relations]\nhasMother = "mother"\nhasBrother = "brother"\n'
    )
    path = tmp_path / "f.nt"
    path.write_text("<x:ann> <x:hasMother> <x:bea> .\n<x:bea> <x:hasBrother> <x:carl> .\n")
    assert close(read_rdf(path, Vocabulary.read(mapping)).network).words("x:ann", "x:carl") == ("uncle",)
    mapping.write_text('calculus = "kinship"\n[relations]\nx = "mothr"\n')
    with pytest.raises(BadFile, match=r"relations.x: Unknown kinship relation 'mothr'. Did you mean 'mother'"):
        Vocabulary.read(mapping)
    mapping.write_text('calculus = "kinship"\n')
    with pytest.raises(BadFile, match="'relations' is missing"):
        Vocabulary.read(mapping)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("f.ttl", "<a> <b> .", "cannot be read as turtle"),
        ("f.ttl", "<x:a> <x:b> <x:c> .", "it states no relation"),
        (
            "f.jsonld",
            '{"@context": ["http://127.0.0.1:9/a"]}',
            "is at 'http://127.0.0.1:9/a', which is not fetched",
        ),
        ("f.jsonld", '[{"a": {"@context": {"@import": "file:///a"}}}]', "its @import is at 'file:///a'"),
        ("f.n3x", "", "expected RDF, in a file that ends in .ttl"),
    ],
)
def test_files_that_are_refused(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadFile, match=message):
        read_rdf(path)
