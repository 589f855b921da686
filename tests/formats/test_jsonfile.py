"""Networks as JSON: both forms, and what each mistake says."""

import json

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadFile
from epignn.formats.jsonfile import parse_json, write_json

QUALREAS = {
    "name": "houses",
    "algebra": "RCC8_Algebra",
    "abbreviations": {"dec": "DC|EC"},
    "nodes": [["a", ["Region"]], "b", ["c"]],
    "edges": [["a", "b", "dec|PO"], ["b", "c"], ["c", "a", "EQ"]],
}


def test_our_form() -> None:
    text = '{"calculus": "ia", "title": "t", "entities": ["b", "a"], "facts": [["a", "< | m", "b"]]}'
    [network] = parse_json(text, "f")
    assert (network.calculus, network.title, network.names) == ("ia", "t", ("b", "a"))
    [fact] = network.facts
    assert (fact.relations, fact.head, fact.tail, fact.path) == (("<", "m"), "a", "b", "facts[0]")


def test_qualreas_form() -> None:
    [network] = parse_json(json.dumps(QUALREAS), "f")
    assert (network.calculus, network.title, network.names) == ("rcc8", "houses", ("a", "b", "c"))
    assert [(f.relations, f.head, f.tail, f.path) for f in network.facts] == [
        (("DC", "EC", "PO"), "a", "b", "edges[0]"),
        (("*",), "b", "c", "edges[1]"),
        (("EQ",), "c", "a", "edges[2]"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"facts":\n [}', "f:2:3: not JSON: Expecting value."),
        ("", "f:1:1: not JSON: Expecting value."),
        ("[1, 2]", 'f: expected an object with "facts", found [1, 2].'),
        ("{}", 'f: "facts" is missing; write "facts": [["a", "NTPP|TPP", "b"]].'),
        ('{"fatcs": []}', "f: Unknown key 'fatcs'. Did you mean 'facts'?"),
        ('{"facts": {}}', "f: facts: expected a list, found {}."),
        (
            '{"facts": [["a", "ec", "b"], ["a", "b"]]}',
            'f: facts[1]: expected [head, relations, tail], found ["a", ',
        ),
        ('{"facts": [["a", "ec", 3]]}', "f: facts[0][2]: expected a string, found 3."),
        ('{"facts": [[["a"], "ec", "b"]]}', 'f: facts[0][0]: expected a string, found ["a"].'),
        (
            '{"facts": [["\\ud800", "ec", "b"]]}',
            "f: facts[0][0]: half a surrogate pair is no text: '\\ud800'.",
        ),
        ('{"facts": [], "title": null}', "f: title: expected a string, found null."),
        ('{"facts": [], "calculus": 8}', "f: calculus: expected a string, found 8."),
        ('{"facts": [], "entities": ["a", 1]}', "f: entities[1]: expected a string, found 1."),
        (
            '{"facts": [], "entities": ["a", "b", "a"]}',
            "f: entities[2]: 'a' is listed twice, first as entities[0].",
        ),
        (
            '{"facts": [["house1", "ec", "hose2"]], "entities": ["house1", "house2"]}',
            "f: facts[0]: Unknown entity 'hose2'. Did you mean 'house2' or 'house1'? Known: house1, house2. "
            'Add it to "entities" or correct it.',
        ),
        ('{"edges": [["a"]]}', 'f: edges[0]: expected [head, tail, relations], found ["a"].'),
        ('{"edges": [["a", "b"]], "nodes": [["a"]]}', "f: edges[0]: Unknown entity 'b'."),
        ('{"edges": [], "nodes": [[]]}', "f: nodes[0]: expected a string, found []."),
        ('{"edges": [], "abbreviations": []}', "f: abbreviations: expected an object, found []."),
        ('{"edges": [], "abbreviations": {"x": 1}}', "f: abbreviations.x: expected a string, found 1."),
        ("[" * 100_000, "f: not JSON that can be read: its brackets are nested too deeply."),
        ("1" * 5000, "f: not JSON that can be read: Exceeds the limit"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(BadFile) as caught:
        parse_json(text, "f")
    assert str(caught.value).startswith(message)


def test_written() -> None:
    network = Network.of(load("rcc8"), [("é", "ec|dc", "b"), ("b", "*", "é")], names=["c"], title="t")
    assert write_json(network) == (
        '{\n  "calculus": "rcc8",\n  "title": "t",\n  "entities": ["c", "é", "b"],\n  "facts": [\n'
        '    ["é", "DC|EC", "b"],\n    ["b", "*", "é"]\n  ]\n}\n'
    )


def test_written_without_facts() -> None:
    text = write_json(Network.of(load("point"), [], names=["a"]))
    assert json.loads(text) == {"calculus": "point", "entities": ["a"], "facts": []}


def test_all_facts_at_once_are_the_same_as_one_by_one(monkeypatch):
    text = '{"entities": ["z", "a", "b"], "facts": [["b", "ec|dc", "a"], ["a", "po", "b"], ["b", "ec|dc", "b"]]}'
    [fast] = parse_json(text, "f")
    monkeypatch.setattr("epignn.formats.jsonfile._columns", lambda *_: None)
    [slow] = parse_json(text, "f")
    assert (fast.names, fast.facts) == (slow.names, slow.facts)
