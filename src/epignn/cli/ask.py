"""`epignn ask`: one question to a model, to what was distilled from it, and to the exact calculus."""

from typing import TYPE_CHECKING, Annotated

import typer

from epignn.cli.limits import Memory, Seconds, limited
from epignn.cli.output import emit_json, say

if TYPE_CHECKING:
    from epignn.reason.answer import Answer


def ask(
    facts: Annotated[str, typer.Argument(help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')],
    head: Annotated[str, typer.Argument(help="What may hold from this entity …")],
    tail: Annotated[str, typer.Argument(help="… to this one?")],
    model: Annotated[
        str | None, typer.Option(help="A model; by default the shipped one for the facts' calculus.")
    ] = None,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Ask a model, the calculus or rules distilled from it, and the exact calculus; exit code 1 if the facts clash.

    Where they disagree, it is said. Of a model whose relations no calculus knows, there is no exact answer.
    """
    from epignn.formats.told import Told
    from epignn.reason.ask import ask

    with limited(seconds, memory, as_json):
        found = ask(Told.read(facts), head, tail, model)
    if as_json:
        emit_json(found.to_dict())
    else:
        for who, answer in (("neural", found.neural), ("learnt", found.learnt), ("exact", found.exact)):
            if answer is not None:
                say(f"{who}  ".ljust(8) + _words(answer, f"({head}, {tail})"))
        if found.differences:
            say(" ".join(found.differences))
    if found.exact is not None and not found.exact.consistent:
        raise typer.Exit(1)


def _words(answer: "Answer", pair: str) -> str:
    if answer.reason:
        return answer.reason
    if answer.consistent is False:
        return "the facts contradict each other: " + ", ".join(map(str, answer.conflict))
    if answer.relation == "*":
        return f"anything may hold of {pair}"
    if answer.probability is None:
        return f"{answer.relation}{pair}"
    likely = f"{answer.relation}{pair} with probability {answer.probability:.3f}"
    return f"{likely}; next {answer.runner_up} with {answer.runner_up_probability:.3f}"
