"""What endpoints say of facts is what the library says of them."""

import gzip
import json

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.realise import World
from epignn.explain.checker import check
from epignn.formats.networks import write_network
from epignn.formats.told import Told
from epignn.reason.exact import Exact
from tests.conftest import random_network
from tests.web.conftest import HARBOUR, RESULTS

KINSHIP = (RESULTS.parent / "examples" / "kinship.toml").read_text(encoding="utf-8")
HEIGHTS = (RESULTS.parent / "examples" / "heights.toml").read_text(encoding="utf-8")
CLASH = "ntpp(town, city). dc(lake, city). tpp(garden, town). po(garden, lake). ec(sea, lake)"


def test_parse_tells_where_each_fact_stands(post):
    found = post("parse", facts="# words\nec(a, b)\n  ntpp|tpp(b, c)")
    assert (found["kind"], found["calculus"], found["known_by"]) == ("calculus", "rcc8", ["rcc8"])
    assert found["entities"] == ["a", "b", "c"]
    second = {"head": "b", "relations": ["TPP", "NTPP"], "tail": "c", "line": 3, "column": 3}
    assert found["facts"][1] == second | {"written": ["ntpp", "tpp"]}
    assert found["text"] == "EC(a, b)\nTPP|NTPP(b, c)\n"


@pytest.mark.parametrize(
    ("facts", "line", "column", "words"),
    [
        ("ec(a, b)\nec(a b)", 2, 7, "expected ',' and a second entity"),
        ("ec(a, b)\n ecc(b, c)", 2, 2, "did you mean 'EC'?"),
        ("", None, None, "no facts in it"),
    ],
)
def test_an_error_tells_its_place_in_the_words_of_the_command_line(post, facts, line, column, words):
    found = post("parse", status=400, facts=facts)
    assert words in found["error"]
    assert (found.get("line"), found.get("column")) == (line, column)


def test_names_that_facts_cannot_hold_are_read_and_exported_as_json(post):
    text = json.dumps({"facts": [['a"b', "EC", "c"]]})
    assert post("parse", facts=text, format="json")["text"] is None
    exported = post("export", facts=text, format="json", **{"as": "json"})["text"]
    assert json.loads(exported)["facts"] == [['a"b', "EC", "c"]]
    assert "cannot be written" in post("export", status=400, facts=text, format="json", **{"as": "facts"})["error"]


@pytest.mark.parametrize("form", ["facts", "csp", "json"])
def test_export_and_parse_give_the_same_facts_back(post, form):
    network = random_network(load("allen"), np.random.default_rng(1), 8, 0.4, 2)
    text = post("export", facts=write_network(network, "json"), format="json", **{"as": form})["text"]
    (again,) = Told.parse(text, form).all_networks(load("allen"))
    assert again.masks.tolist() == network.masks.tolist()


def test_files_are_read_by_their_suffix_and_unpacked(api):
    csp = "1 #two\n0 1 ( EC PO )\n.\n2 #three\n0 1 ( EC )\n.\n"
    found = api.post("/api/files?name=dir/x.csp.gz", content=gzip.compress(csp.encode())).json()
    assert (found["title"], found["entities"], found["networks"]) == ("two", ["0", "1"], 2)
    assert found["facts"][0]["relations"] == ["EC", "PO"]
    broken = api.post("/api/files?name=x.gz", content=b"no gzip")
    assert (broken.status_code, "not a whole gzip file" in broken.text) == (400, True)


def test_a_file_that_grows_when_it_is_unpacked_is_refused(api):
    packed = gzip.compress(b"#" * 50_000_000)
    assert len(packed) < 100_000
    answer = api.post("/api/files?name=x.gz", content=packed)
    assert (answer.status_code, "when it is unpacked" in answer.text) == (413, True)


@pytest.mark.parametrize("name", list(CALCULI))
def test_closed_inferred_and_given_are_those_of_the_library(post, name):
    rng = np.random.default_rng(3)
    for _ in range(3):
        network = random_network(load(name), rng, 7, 0.3, 2)
        found = post("close", facts=write_network(network, "json"), format="json", calculus=name)
        exact = Exact(name)
        pairs = [(head, tail) for head, _, tail in found.get("closed", [])]
        for (head, tail), (_, words, _) in zip(pairs, found.get("closed", []), strict=True):
            assert list(exact.answer([(network, head, tail)])[0].relations) == words
        assert [fact[0] for fact in found["given"]] == [network.names[h] for h in network.heads]
        stated = {frozenset((head, tail)) for head, _, tail in found["given"]}
        new = [fact for fact in found.get("closed", []) if frozenset((fact[0], fact[2])) not in stated]
        assert sorted(found["inferred"]) == sorted(new)
        sizes = [load(name).parse("|".join(words)).bit_count() for _, words, _ in found["inferred"]]
        assert sizes == sorted(sizes)


def test_a_clash_names_its_facts_by_number(post):
    found = post("close", facts=CLASH)
    assert not found["consistent"]
    assert found["conflict_facts"] == [0, 1, 2, 3]
    assert [found["given"][f][0] for f in found["conflict_facts"]] == [head for head, _, _ in found["conflict"]]


@pytest.mark.parametrize("algorithm", ["directional", "dpc", "dpc+", "partial", "search", "minimal"])
def test_every_algorithm_answers_a_query(post, algorithm):
    found = post("close", facts=HARBOUR, algorithm=algorithm, query=["harbour", "city"])
    assert found["query"]["relations"] == ["PO"] or algorithm in ("dpc", "directional")
    assert found["algorithm"].startswith(algorithm.removesuffix("+"))


def test_all_who_can_tell_are_asked(post):
    found = post("ask", facts=HARBOUR, head="harbour", tail="city")
    assert [found[who]["relations"] for who in ("exact", "learnt", "neural")] == [["PO"]] * 3
    assert (found["model"], found["calculus"], found["agree"], found["notes"]) == ("rcc8", "rcc8", True, [])


def test_where_no_model_is_shipped_exact_reasoning_answers_alone(post):
    found = post("ask", facts="dr(a, b). pp(c, b)", calculus="rcc5", head="a", tail="c")
    assert (found["exact"]["relations"], found["learnt"], found["neural"]) == (["DR"], None, None)
    assert "No model is shipped for rcc5" in found["notes"][0]


def test_a_calculus_and_rules_of_ones_own(post):
    found = post("ask", facts="taller(a, b). taller(b, c)", own=HEIGHTS, head="a", tail="c")
    assert (found["exact"]["relations"], found["calculus"]) == (["taller"], "heights")
    facts = {"facts": "father(a, b). mother(b, c)", "own": KINSHIP}
    assert post("parse", **facts)["kind"] == "rules"
    assert post("ask", **facts, head="a", tail="c")["exact"]["relations"] == ["grandmother"]
    assert post("explain", **facts, head="a", tail="c")["kind"] == "rules"
    assert "these are rules" in post("close", status=400, **facts)["error"]


@pytest.mark.parametrize("name", ["x.toml", "/etc/hostname", "../../examples/heights.toml", "nul\0"])
def test_a_client_names_no_file(post, name):
    assert "Unknown calculus" in post("close", status=400, facts="ec(a, b)", calculus=name)["error"]
    found = post("ask", status=404, facts="ec(a, b)", head="a", tail="b", model=name)["error"]
    assert "is no name of a run" in found or "there is no model" in found


def test_an_explanation_has_a_proof_that_the_checker_takes(post):
    found = post("explain", facts=HARBOUR, head="harbour", tail="city", svg=True)
    facts = [(head, tuple(names), tail) for head, names, tail in found["support"]["facts"]]
    _, proved, _ = check(found["proof"], load("rcc8"), facts)
    assert proved == {"PO"}
    assert found["text"][0] == "PO(harbour, city): the only relation left"
    assert found["svg"].startswith("<svg")
    assert "svg" not in post("explain", facts=HARBOUR, head="harbour", tail="city")


@pytest.mark.parametrize("by", ["learnt", "neural"])
def test_a_model_and_what_was_distilled_from_it_explain(post, by):
    found = post("explain", facts=HARBOUR, head="harbour", tail="city", by=by)
    assert (found["relations"], found["kind"]) == (["PO"], "neural" if by == "neural" else "calculus")


def test_entailment(post):
    found = post("entails", facts=HARBOUR, question="po(harbour, city). ec(lake, city)")
    assert [fact["entailed"] for fact in found["facts"]] == [True, False]
    assert found["entailed"] is False


@pytest.mark.parametrize("name", list(CALCULI))
def test_worlds_come_and_are_judged(post, name):
    words = {"rcc8": "ntpp", "rcc5": "pp", "allen": "d", "point": "<", "cardinal": "NW", "kinship": "father"}
    facts = {"facts": f"{words[name]}(a, b). {words[name]}(b, c)", "calculus": name}
    found = post("realise", **facts)
    assert found["found"], found["reason"]
    world = World.from_dict(found["world"])
    assert world.broken(Told.parse(facts["facts"]).network(load(name))) == []
    judged = post("broken", **facts, world=found["world"])
    assert judged["broken"] == []
    turned = {"facts": f"{words[name]}(b, a). {words[name]}(b, c)", "calculus": name}
    assert post("broken", **turned, world=found["world"])["broken"] == [0]


def test_facts_that_clash_have_no_world(post):
    found = post("realise", facts=CLASH)
    assert (found["found"], found["world"], len(found["conflict"])) == (False, None, 4)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (". ".join(f"ec(a{n}, b{n})" for n in range(251)), "502 entities are more than the 500"),
        (". ".join("ec(a, b)" for _ in range(20_001)), "20,001 facts are more than the 20,000"),
    ],
)
def test_facts_and_entities_are_bounded(post, facts, words):
    assert words in post("parse", status=413, facts=facts)["error"]
