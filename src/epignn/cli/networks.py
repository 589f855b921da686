"""`epignn close` and `epignn entails`: questions about the facts of a file."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Fact, Network
from epignn.calculus.result import Answer, Result
from epignn.calculus.solve.closure import close as closure
from epignn.calculus.solve.directional import directional
from epignn.calculus.solve.search import Entailment, minimal_labels, solve
from epignn.calculus.solve.search import entails as entails_fact
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.cli.output import emit_json, table, working, write_whole
from epignn.errors import BadArgument, lookup
from epignn.formats.facts import parse_facts
from epignn.formats.networks import as_networks, read_networks, write_network
from epignn.kernels import Backend

Pairs = Sequence[tuple[str, str]]
ALGORITHMS: MappingProxyType[str, Callable[[Network, Pairs, str, Backend], Result]] = MappingProxyType(
    {
        "closure": lambda network, queries, head, backend: closure(network, backend),
        "directional": lambda network, queries, head, backend: directional(network, head),
        "dpc": lambda network, queries, head, backend: dpc(network, (), queries, backend),
        "dpc+": lambda network, queries, head, backend: dpc_plus(network, (), queries, backend),
        "partial": lambda network, queries, head, backend: partial(network, (), queries, backend),
        "search": lambda network, queries, head, backend: solve(network, None, backend),
        "minimal": lambda network, queries, head, backend: minimal_labels(network, None, backend),
    }
)
SHOWN_ENTITIES, SHOWN_FACTS, SHOWN_NETWORKS = 10, 30, 50

File = Annotated[
    Path,
    typer.Argument(help="Facts as text, or a .csp, .json or .csv file, also gzipped; - is standard input."),
]
CalculusName = Annotated[
    str | None,
    typer.Option("--calculus", help="A name from `epignn calculus list` or a .toml file; guessed if left out."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def read_facts(facts: str, calculus: Calculus | None = None) -> Network:
    """Facts as an argument has them, or the first network of the file that it names."""
    if "(" not in facts:
        if not Path(facts).is_file():
            raise BadArgument(f'{facts!r} is neither a file nor facts; these look like "ec(a, b). ntpp(b, c)".')
        return read_networks(facts, calculus)[0]
    return as_networks(parse_facts(facts, "the facts"), calculus, "the facts")[0]


def _read(file: Path, calculus: str | None, number: int | None) -> list[Network]:
    networks = read_networks(str(file), load(calculus) if calculus else None)
    if number is None:
        return networks
    if not 1 <= number <= len(networks):
        raise BadArgument(f"{file} holds {len(networks)} networks; --network takes 1 to {len(networks)}.")
    return [networks[number - 1]]


def close(
    file: File,
    calculus: CalculusName = None,
    query: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Ask what may hold from A to B.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            help="closure (complete), directional (from --head), dpc, dpc+ or partial (large sparse networks), "
            "search (a scenario of a disjunctive network), minimal (the minimal network)."
        ),
    ] = "closure",
    head: Annotated[
        str | None, typer.Option(help="Where directional closure starts; default: A of --query.")
    ] = None,
    number: Annotated[int | None, typer.Option("--network", help="Only this network of the file, from 1.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the closed network to this file.")] = None,
    form: Annotated[str, typer.Option("--format", help="Format of --out: facts, csp or json.")] = "facts",
    backend: Annotated[str, typer.Option(help="auto, compiled or plain.")] = "auto",
    as_json: Json = False,
) -> None:
    """Close the facts of a file: what follows between its entities, and can they all hold?

    Exit code 1 if a network is inconsistent; a minimal set of conflicting facts is shown.
    """
    run = lookup("algorithm", algorithm, ALGORITHMS)
    start = head or (query[0] if query else "")
    if algorithm == "directional" and not start:
        raise BadArgument("directional closure needs a start: --head NAME or --query A B.")
    results = []
    with working(f"{algorithm}: {file}"):
        for network in _read(file, calculus, number):
            for name in query or ():
                network.position(name)
            results.append(run(network, [query] if query else [], start, backend))  # type: ignore[arg-type]
        conflicts = [result.conflict for result in results] if as_json or len(results) == 1 else []
    if out is not None:
        write_whole(out, "".join(write_network(result.closed, form) for result in results))
    if as_json:
        documents = [_as_dict(*pair, query) for pair in zip(results, conflicts, strict=True)]
        emit_json(documents[0] if len(documents) == 1 else {"file": str(file), "networks": documents})
    elif len(results) == 1:
        _print(results[0], query)
    else:
        _print_many(results, query)
    if not all(result.consistent for result in results):
        raise typer.Exit(1)


def _as_dict(result: Result, conflict: Sequence[Fact], query: tuple[str, str] | None) -> dict[str, Any]:
    calculus = result.network.calculus
    document: dict[str, Any] = {
        "title": result.network.title,
        "calculus": calculus.name,
        "algorithm": result.algorithm,
        "answer": str(result.answer),
        "consistent": result.consistent,
        "entities": len(result.network.names),
        "facts": len(result.network),
        "statistics": dict(result.statistics),
    }
    if not result.consistent:
        document["conflict"] = [[fact.head, fact.relations, fact.tail] for fact in conflict]
    elif query:
        document["query"] = {
            "head": query[0],
            "tail": query[1],
            "relations": list(calculus.names(result.relations(*query))),
        }
    else:
        closed = result.closed
        names = {mask: calculus.names(mask) for mask in np.unique(closed.masks).tolist()}
        document["closed"] = [
            [closed.names[i], names[mask], closed.names[j]]
            for i, j, mask in zip(closed.heads.tolist(), closed.tails.tolist(), closed.masks.tolist(), strict=True)
        ]
    return document


def _summary(result: Result) -> str:
    network = result.network
    return f"{network.calculus.name}, {len(network.names)} entities, {len(network)} facts: {result.answer}"


def _print(result: Result, query: tuple[str, str] | None) -> None:
    calculus = result.network.calculus
    typer.echo(_summary(result))
    if not result.consistent:
        typer.echo("These facts cannot hold together, and without any one of them they could:")
        for fact in result.conflict:
            typer.echo(f"  {fact}")
        return
    if result.answer is Answer.CLOSED:
        typer.echo("No contradiction found; for such relations only --algorithm search can exclude one.")
    if result.answer is Answer.UNDECIDED:
        typer.echo("The search reached its limit.")
    if query:
        mask = result.relations(*query)
        typer.echo(f"{calculus.format(mask)}({query[0]}, {query[1]})")
    elif len(result.network.names) <= SHOWN_ENTITIES:
        names = result.network.names
        rows = [(a, *(calculus.format(result.relations(a, b)).replace("|", " ") for b in names)) for a in names]
        table(("", *names), rows, "row to column")
    else:
        _print_inferred(result)


def _print_inferred(result: Result) -> None:
    """The sharpest sets that no fact states."""
    closed = result.closed
    order = np.argsort(np.bitwise_count(closed.masks), kind="stable")
    new = order[~np.isin(_pairs(closed)[order], _pairs(result.network))]
    typer.echo(f"{len(closed)} pairs are constrained, {len(new)} of them by inference; the sharpest:")
    for f in new[:SHOWN_FACTS].tolist():
        typer.echo(f"  {closed.fact(f)}")
    if len(new) > SHOWN_FACTS:
        typer.echo(f"  … and {len(new) - SHOWN_FACTS} more: --out FILE writes all, --query A B asks for one.")


def _pairs(network: Network) -> NDArray[np.int64]:
    """A number for the two entities of each fact, whichever is the head."""
    low, high = np.minimum(network.heads, network.tails), np.maximum(network.heads, network.tails)
    return low.astype(np.int64) * len(network.names) + high


def _print_many(results: list[Result], query: tuple[str, str] | None) -> None:
    rows = []
    for number, result in enumerate(results[:SHOWN_NETWORKS], start=1):
        network = result.network
        found = network.calculus.format(result.relations(*query)) if query and result.consistent else ""
        rows.append((number, network.title, len(network.names), len(network), result.answer, found))
    columns = (
        "network",
        "title",
        "entities",
        "facts",
        "answer",
        f"{query[0]} to {query[1]}" if query else "",
    )
    table(columns if query else columns[:-1], rows if query else [row[:-1] for row in rows])
    if len(results) > SHOWN_NETWORKS:
        typer.echo(f"… and {len(results) - SHOWN_NETWORKS} more: --json gives all.")
    counts = Counter(result.answer for result in results)
    typer.echo(
        f"{', '.join(f'{count} {answer}' for answer, count in counts.items())}. --network N shows one of them."
    )


def entails(
    file: File,
    facts: Annotated[str, typer.Argument(help='What to prove, such as "po(a, c)" or "ec|dc(a, b). po(b, c)".')],
    calculus: CalculusName = None,
    number: Annotated[int | None, typer.Option("--network", help="Ask this network of the file, from 1.")] = None,
    max_nodes: Annotated[int | None, typer.Option(help="Give up after so many refinements.")] = None,
    as_json: Json = False,
) -> None:
    """Tell whether the facts of a file entail others, by exact search; exit code 1 if not, or if they clash."""
    with working(f"reading {file}"):
        networks = _read(file, calculus, number)
    if len(networks) > 1:
        raise BadArgument(f"{file} holds {len(networks)} networks; choose one with --network N.")
    network = networks[0]
    asked = [
        (fact.head, "|".join(fact.relations), fact.tail)
        for raw in parse_facts(facts, "the question")
        for fact in raw.facts
    ]
    if not asked:
        raise BadArgument('nothing to prove; write a fact such as "po(a, c)".')
    with working("searching"):
        found = [entails_fact(network, a, relations, b, max_nodes) for a, relations, b in asked]
        # Everything follows from a contradiction, which is not what was meant to be asked.
        vacuous = (
            all(answer.entailed for answer in found) and not (facts_hold := solve(network, max_nodes)).consistent
        )
        conflict = facts_hold.conflict if vacuous else ()
    if as_json:
        emit_json(
            {
                "calculus": network.calculus.name,
                "consistent": not vacuous,
                "conflict": [[fact.head, fact.relations, fact.tail] for fact in conflict],
                "entailed": _all([answer.entailed for answer in found]),
                "facts": [_entailment_dict(fact, answer) for fact, answer in zip(asked, found, strict=True)],
            }
        )
    elif vacuous:
        typer.echo("The facts are inconsistent, so that everything follows from them:")
        for fact in conflict:
            typer.echo(f"  {fact}")
    else:
        _print_entailments(asked, found)
    if vacuous or not all(answer.entailed for answer in found):
        raise typer.Exit(1)


WORDS = MappingProxyType({True: "entailed", False: "not entailed", None: "undecided: the search reached its limit"})


def _print_entailments(asked: list[tuple[str, str, str]], found: list[Entailment]) -> None:
    for (a, relations, b), answer in zip(asked, found, strict=True):
        typer.echo(f"{relations}({a}, {b}): {WORDS[answer.entailed]}")
        if answer.counterexample is not None:
            shown = answer.counterexample
            mask = closure(shown).relations(a, b)
            typer.echo(f"  it may be otherwise: {shown.calculus.format(mask)}({a}, {b})")


def _all(entailed: list[bool | None]) -> bool | None:
    if False in entailed:
        return False
    return None if None in entailed else True


def _entailment_dict(fact: tuple[str, str, str], answer: Entailment) -> dict[str, Any]:
    shown = answer.counterexample
    return {
        "fact": list(fact),
        "entailed": answer.entailed,
        "counterexample": None if shown is None else write_network(shown, "facts").splitlines(),
        "statistics": answer.statistics,
    }
