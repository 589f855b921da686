"""Problems in words, for language models: the facts as sentences, the question, and the words to choose from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.meanings import meanings
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset

ASK = "Which of these must hold from {a} to {b}? Answer with one word."
ASK_ALL = "Which of these can hold from {a} to {b}? Answer with all words that can."

Told = tuple[str, tuple[str, ...], str]
"""Head, the relations of which one holds, and tail."""


def sentences(relations: Iterable[str], calculus: Calculus | None = None) -> dict[str, str]:
    """What each relation says of `{a}` and `{b}`: in the words of a calculus, of kinship, or as it is called.

    >>> sentences(["aunt", "son-in-law"])["aunt"]
    '{b} is the aunt of {a}'
    """
    names = list(relations)
    chosen = calculus or load("kinship")
    if all(map(chosen.knows, names)):
        known = meanings(chosen)
        if set(names) <= set(known):
            return {name: known[name] for name in names}
    return {name: "{a} %s {b}" % name.replace("{", "{{").replace("}", "}}") for name in names}  # noqa: UP031


def prompt(facts: Iterable[Told], head: str, tail: str, sentence: Mapping[str, str], ask: str = ASK) -> str:
    """Facts and a question as text.

    >>> facts = [("a", ("<",), "b"), ("b", ("<", "="), "c")]
    >>> print(prompt(facts, "a", "c", sentences(["<", "=", ">"], load("point"))))
    a is before b.
    b is before c, or b is at the same place as c.
    <BLANKLINE>
    The relations are:
    <: x is before y
    =: x is at the same place as y
    >: x is after y
    <BLANKLINE>
    Which of these must hold from a to c? Answer with one word.
    """
    said = [
        ", or ".join(sentence[word].format(a=one, b=other) for word in words) + "." for one, words, other in facts
    ]
    choices = [f"{word}: {told.format(a='x', b='y')}" for word, told in sentence.items()]
    return "\n".join([*said, "", "The relations are:", *choices, "", ask.format(a=head, b=tail)])


def prompts(data: Dataset, calculus: Calculus | None = None) -> Iterator[dict[str, Any]]:
    """Every problem of a data set as a prompt, its answer and the words to choose from."""
    sentence = sentences(data.relations, calculus)
    for example in data:
        facts = [(f"x{source}", (relation,), f"x{target}") for source, relation, target in example.edges]
        head, tail = (f"x{node}" for node in example.query)
        text = prompt(facts, head, tail, sentence)
        yield {"prompt": text, "answer": example.label, "choices": list(data.relations)}


def network_prompt(network: Network, head: str, tail: str) -> dict[str, Any]:
    """A question about a network as a prompt; the answer is what closure leaves, one word or several."""
    calculus = network.calculus
    words = calculus.words(calculus.universal)
    left = close(network).relations(head, tail)
    facts = [
        (network.names[i], calculus.words(mask), network.names[j])
        for i, mask, j in zip(network.heads.tolist(), network.masks.tolist(), network.tails.tolist(), strict=True)
    ]
    text = prompt(facts, head, tail, meanings(calculus), ASK if len(left) == 1 else ASK_ALL)
    return {"prompt": text, "answer": "|".join(left), "choices": list(words)}
