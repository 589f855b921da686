"""`epignn ask`: one question to a model, to what was distilled from it, and to the exact calculus."""

from typing import TYPE_CHECKING, Annotated

import typer

from epignn.cli.facts import note_alike
from epignn.cli.limits import Memory, Seconds, limited
from epignn.cli.output import emit_json, say

if TYPE_CHECKING:
    from epignn.calculus.algebra import Calculus
    from epignn.formats.told import Told
    from epignn.reason.answer import Answer


def ask(
    facts: Annotated[
        str, typer.Argument(metavar="FACTS", help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')
    ],
    head: Annotated[
        str, typer.Argument(metavar="A", help="The first thing of the question: what may hold from A to B?")
    ],
    tail: Annotated[str, typer.Argument(metavar="B", help="The second.")],
    model: Annotated[
        str | None, typer.Option(help="A model; by default the shipped one for the facts' calculus.")
    ] = None,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Ask one question three times: a model, what was distilled from it, and the exact calculus.

    Where they disagree, that is said. If no calculus knows the relations of the model, there is no exact answer.
    The exit code is 1 if the facts clash.
    """
    from epignn.calculus import load
    from epignn.formats.told import Told
    from epignn.reason.ask import ask

    with limited(seconds, memory, as_json):
        told = Told.read(facts)
        if model is None:
            told.guessed("--model")  # asks where two may be meant
        note_alike(told)
        found = ask(told, head, tail, model)
    if as_json:
        emit_json(found.to_dict())
    else:
        words = told.spoken(load(found.calculus)) if found.calculus else None
        for who, answer in (("neural", found.neural), ("learnt", found.learnt), ("exact", found.exact)):
            if answer is not None:
                say(f"{who}  ".ljust(8) + _line(answer, f"({head}, {tail})", words, told))
        if found.differences:
            say(" ".join(found.differences))
    if found.exact is not None and not found.exact.consistent:
        raise typer.Exit(1)


def _line(answer: "Answer", pair: str, words: "Calculus | None", told: "Told") -> str:
    """An answer in the words of the facts, where a calculus knows these."""

    def called(relations: str) -> str:
        return relations if words is None else words.format(words.parse(relations))

    if answer.reason:
        return answer.reason
    if answer.consistent is False:
        return "the facts contradict each other: " + ", ".join(map(told.source().fact, answer.conflict))
    if answer.relation == "*":
        return f"nothing follows: any relation may hold of {pair}"
    if answer.probability is None:
        return f"{called(answer.relation)}{pair}"
    likely = f"{called(answer.relation)}{pair} with probability {answer.probability:.3f}"
    return f"{likely}; next {called(answer.runner_up or '')} with {answer.runner_up_probability:.3f}"
