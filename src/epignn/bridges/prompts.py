"""Problems in words, for language models: the facts as sentences, the question, and the words to choose from."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.calculus.meanings import meanings
from epignn.calculus.network import Network
from epignn.data.dataset import Dataset

ASK = "Which of these must hold from {a} to {b}? Answer with one word."


def prompt(network: Network, head: str, tail: str) -> str:
    """A network and a question as text.

    >>> from epignn.calculus import load
    >>> print(prompt(Network.of(load("point"), [("a", "<", "b"), ("b", "<|=", "c")]), "a", "c"))
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
    calculus = network.calculus
    sentence = meanings(calculus)
    facts = []
    for f in range(len(network)):
        fact = network.fact(f)
        words = calculus.words(int(network.masks[f]))
        facts.append(", or ".join(sentence[word].format(a=fact.head, b=fact.tail) for word in words) + ".")
    choices = [f"{word}: {told.format(a='x', b='y')}" for word, told in sentence.items()]
    question = ASK.format(a=head, b=tail)
    return "\n".join([*facts, "", "The relations are:", *choices, "", question])


def prompts(data: Dataset, calculus: Calculus) -> Iterator[dict[str, Any]]:
    """Every problem of a data set as a prompt, its answer and the words to choose from."""
    words = list(calculus.words(calculus.universal))
    for g in range(len(data)):
        edges = slice(int(data.edge_offset[g]), int(data.edge_offset[g + 1]))
        names = [f"x{node}" for node in range(int(data.node_count[g]))]
        network = Network(
            calculus,
            tuple(names),
            data.edge_source[edges],
            data.edge_target[edges],
            np.uint64(1) << data.edge_label[edges].astype(np.uint64),
        )
        head, tail = names[int(data.query_head[g])], names[int(data.query_tail[g])]
        answer = calculus.words(1 << int(data.label[g]))[0]
        yield {"prompt": prompt(network, head, tail), "answer": answer, "choices": words}
