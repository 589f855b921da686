"""`epignn explain`: an answer and why, by a model, a learnt calculus or a known one. Only a model loads torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epignn.calculus import ALIASES, CALCULI, load
from epignn.cli.networks import read_facts
from epignn.cli.output import emit_json, table, working, write_whole
from epignn.errors import BadArgument, unknown

if TYPE_CHECKING:
    from epignn.data.statements import Statements
    from epignn.explain.neural import Belief, NeuralExplanation
    from epignn.explain.ruled import RuleExplanation
    from epignn.explain.symbolic import Explanation
    from epignn.explain.vocabulary import VocabularyExplanation

WEIGHTS = Path(__file__).parent.parent / "weights"
CONFIG = "config.json"
MOST_SHOWN = 3


def explain(
    model: Annotated[
        str,
        typer.Argument(
            help="A model (shipped name, run folder), a learnt calculus or rules (.toml) or a calculus (rcc8 …)."
        ),
    ],
    facts: Annotated[str, typer.Argument(help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')],
    head: Annotated[str, typer.Argument(help="What may hold from this entity …")],
    tail: Annotated[str, typer.Argument(help="… to this one, and why?")],
    exact: Annotated[
        bool, typer.Option("--exact", help="By the calculus of this name, where a model has the same.")
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="A relation of at least this probability may still hold, for a model.")
    ] = 0.05,
    rounds: Annotated[
        int | None, typer.Option(min=0, help="Show so many rounds of states; all if left out.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a picture here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Explain an answer: what excludes each other relation, a checked proof, the fewest facts that give it, states.

    Exit code 1 if the facts contradict each other; the clash is then what is explained.
    """
    from epignn.explain.document import as_dict
    from epignn.explain.picture import draw
    from epignn.explain.ruled import RuleExplanation
    from epignn.explain.symbolic import Explanation, Status
    from epignn.explain.text import lines

    with working("explaining"):
        found = _explain(model, facts, head, tail, exact, threshold)
    if svg is not None:
        write_whole(svg, draw(found))
    if as_json:
        kinds = {Explanation: "calculus", RuleExplanation: "rules"}
        emit_json({"model": model, "kind": kinds.get(type(found), "neural"), **as_dict(found)})
    else:
        for line in lines(found):
            typer.echo(line)
        _show_states(found, head, rounds)
        if svg is not None:
            typer.echo(f"\nThe picture is in {svg}.")
    if found.status is Status.CONTRADICTORY:
        raise typer.Exit(1)


def _explain(
    model: str, facts: str, head: str, tail: str, exact: bool, threshold: float
) -> "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation":
    from epignn.distil.rules_file import is_rule_file
    from epignn.reason.reasoners import Exact, Learnt, Neural

    name = ALIASES.get(model.casefold(), model.casefold())
    if not exact and is_model(model):
        neural = Neural.load(name if name in CALCULI else model, threshold)
        known = neural.trained_.experiment.data.calculus
        if known:
            return neural.explain(read_facts(facts, load(known)), head, tail)
        return neural.explain(read_statements(facts, neural.trained_.relations), head, tail)
    if model.endswith(".toml") and is_rule_file(Path(model)):
        learnt = Learnt.load(model)
        return learnt.explain(read_statements(facts, learnt.rules_.relations[: learnt.rules_.named]), head, tail)
    if not model.endswith(".toml") and name not in CALCULI:
        models = [path.name for path in WEIGHTS.glob("*") if is_model(path.name)]
        raise unknown("model or calculus", model, {*CALCULI, *models, "a run folder", "a .toml file"})
    calculus = load(model)
    return Exact(calculus).explain(read_facts(facts, calculus), head, tail)


def read_statements(facts: str, relations: tuple[str, ...]) -> "Statements":
    """Facts over a vocabulary, as an argument has them, or those of the first network of the file that it names."""
    from epignn.data.statements import Statements
    from epignn.formats.facts import parse_facts
    from epignn.formats.networks import read_raw

    if "(" in facts:
        return Statements.read(parse_facts(facts, "the facts")[0], relations, "the facts")
    if not Path(facts).is_file():
        raise BadArgument(f'{facts!r} is neither a file nor facts; these look like "mother(a, b). son(b, c)".')
    return Statements.read(read_raw(facts)[0], relations, facts)


def is_model(name: str) -> bool:
    """Whether a name is that of a shipped model, or leads to a run folder; asked without loading torch."""
    path = Path(name)
    if path.is_file() and path.suffix != ".toml":
        path = path.parent
    shipped = ALIASES.get(name.casefold(), name)
    return (path / CONFIG).is_file() or (WEIGHTS / shipped / CONFIG).is_file()


def _show_states(
    found: "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation", head: str, most: int | None
) -> None:
    """What is known of each entity, seen from the head, after each round."""
    from epignn.explain.ruled import RuleExplanation
    from epignn.explain.symbolic import Explanation

    if isinstance(found, Explanation | RuleExplanation):
        entities = found.rounds.entities
        if isinstance(found, Explanation):
            calculus = found.network.calculus
            cells = [[calculus.format(mask) for mask in row] for row in found.rounds.masks.tolist()]
        else:
            cells = [["|".join(names) for names in row] for row in found.rounds.relations]
        columns = ["the facts", *(f"round {n}" for n in range(1, len(cells)))]
    else:
        entities = found.states.entities
        cells = [[_likely(found, row) for row in rows] for rows in found.states.chances]
        columns = [f"round {n}" for n in range(1, len(cells) + 1)]
    shown = len(cells) if most is None else min(most, len(cells))
    if shown and entities:
        what = "What may hold" if isinstance(found, Explanation) else "What rules derive"
        if not isinstance(found, Explanation | RuleExplanation):
            what = "What the model's forward states say"
        typer.echo(f"\n{what} from {head}, round by round")
        rows = [
            (entity, *column[:shown]) for entity, column in zip(entities, zip(*cells, strict=True), strict=True)
        ]
        table(("", *columns[:shown]), rows)


def _likely(found: "Belief", chances: list[float]) -> str:
    """The likeliest relations of a state, as long as they reach the threshold."""
    if max(chances) == min(chances):
        return ""
    order = sorted(range(len(chances)), key=lambda r: -chances[r])
    shown = [r for r in order if chances[r] >= found.threshold] or order[:1]
    more = f" +{len(shown) - MOST_SHOWN}" if len(shown) > MOST_SHOWN else ""
    return " ".join(f"{found.relations[r]} {chances[r]:.2f}" for r in shown[:MOST_SHOWN]) + more
