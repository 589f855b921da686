"""`epignn close` and `epignn entails`: questions about the facts of a file."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from epignn.calculus.network import Network
from epignn.calculus.result import Answer, Result, doubt
from epignn.calculus.solve.closure import close as closure
from epignn.cli.facts import CalculusName, File, read_facts
from epignn.cli.limits import UNDECIDED, Memory, Seconds, limited
from epignn.cli.output import emit_json, matrix, progress, say, table, working
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.errors import BadArgument, lookup

if TYPE_CHECKING:
    from epignn.bridges.rdf import Statements
    from epignn.workers import Workers

RDF = (".ttl", ".nt", ".jsonld", ".rdf")
BATCH, BATCHES = 256, 8
"""Networks that a worker is given at once, at most, and how often it is given some, at least."""
SHOWN_ENTITIES, SHOWN_FACTS, SHOWN_NETWORKS, SHOWN_CONFLICT = 10, 30, 50, 200

Vocabulary = Annotated[Path | None, typer.Option(help="For RDF: a .toml file that says what its predicates mean.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _read(file: str, calculus: str | None, number: int | None) -> list[Network]:
    if Path(file).suffix.casefold() in RDF:
        return [read_statements(Path(file)).network]
    if _is_folder(file):
        networks = [
            replace(network, title=f"{path.name}: {network.title}" if network.title else path.name)
            for path in sorted(Path(file).iterdir())
            if path.is_file() and not path.name.startswith(".")
            for network in read_facts(str(path), calculus)
        ]
        if not networks:
            raise BadArgument(f"{file} is a folder without files.")
    else:
        networks = read_facts(file, calculus)
    if number is None:
        return networks
    if not 1 <= number <= len(networks):
        raise BadArgument(f"{file} holds {len(networks)} networks; --network takes 1 to {len(networks)}.")
    return [networks[number - 1]]


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # facts, too long for a name
        return False


def read_statements(
    path: Path, vocabulary: Path | None = None, name: str = "", skip_bad: bool = False
) -> "Statements":
    """What an RDF file says, in the vocabulary of a file if there is one."""
    from epignn.bridges.rdf import read_rdf
    from epignn.bridges.vocabularies import Vocabulary

    return read_rdf(path, Vocabulary.read(vocabulary) if vocabulary else None, name, skip_bad)


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
    number: Annotated[
        int | None, typer.Option("--network", help="Only this network of the file, counted from 1.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the closed network to this file, in the format of its suffix: .csv, .tsv, .parquet, .npz, "
            ".xlsx, .csp, .json, .ttl; anything else is facts as text."
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="The format of --out, whatever its suffix: facts, csp or json.")
    ] = "",
    inferred: Annotated[
        bool, typer.Option("--inferred", help="Write only what follows to --out, not what was stated.")
    ] = False,
    vocabulary: Vocabulary = None,
    provenance: Annotated[
        str, typer.Option(metavar="IRI", help="For RDF: mark every inferred statement as derived from this.")
    ] = "",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="For RDF: pass over what is no relation, and count it.")
    ] = False,
    backend: Annotated[
        str, typer.Option(help="Which code answers: auto, compiled (the kernels) or plain.")
    ] = "auto",
    seconds: Seconds = None,
    memory: Memory = None,
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Close the facts of a file: what follows between its entities, and can they all hold?

    Of a folder, every file is closed. Exit code 1 if a network is inconsistent; a minimal set of conflicting facts
    is shown.
    """
    from epignn.reason.networks import ALGORITHMS, closed_json, result_dict, run
    from epignn.workers import workers_of

    lookup("algorithm", algorithm, ALGORITHMS)
    limits = limited(seconds, memory, as_json)
    with workers_of(workers, ray_address) as them, working(f"{algorithm}: {file}"), limits:
        is_rdf = Path(file).suffix.casefold() in RDF
        told = read_statements(Path(file), vocabulary, "", skip_bad) if is_rdf else None
        networks = [told.network] if told else _read(file, calculus, number)
        if len(networks) == 1 or them.count == 1:
            results = [run(algorithm, network, query, head or "", backend) for network in networks]  # type: ignore[arg-type]
        else:
            results = _by_workers(them, networks, algorithm, query, head or "", backend)
        whole = len(results) == 1 and results[0].consistent and not query
        documents = [result_dict(result, query, not whole) for result in results] if as_json else []
    if out is not None:
        _write(results, out, form, inferred, file, told, provenance)
    for note in told.notes if told else ():
        say(f"note: {note}", err=True)
    if as_json and len(documents) == 1:
        emit_json(documents[0], **({"closed": closed_json(results[0])} if whole else {}))
    elif as_json:
        emit_json({"file": str(file), "networks": documents})
    elif len(results) == 1:
        _print(results[0], query)
    else:
        _print_many(results, query)
    if not all(result.consistent for result in results):
        raise typer.Exit(1)


def _by_workers(
    workers: "Workers",
    networks: list[Network],
    algorithm: str,
    query: tuple[str, str] | None,
    head: str,
    backend: str,
) -> list[Result]:
    """The results of many networks, some at a time."""
    from epignn.reason.networks import Several, run_several
    from epignn.workers import run

    size = max(1, min(BATCH, len(networks) // (BATCHES * workers.count)))
    parts = [networks[first : first + size] for first in range(0, len(networks), size)]
    with progress("networks") as report:
        asked = [Several(part, algorithm, query, head, backend) for part in parts]  # type: ignore[arg-type]
        found = run(workers, run_several, asked, lambda done, of: report(done * size, of * size)).all("parts")
    return [result for part in found for result in part]


def _write(
    results: list[Result],
    out: Path,
    form: str,
    inferred: bool,
    file: str,
    told: "Statements | None",
    provenance: str,
) -> None:
    """Write what is known of every pair, or only what no fact tells."""
    if out.suffix.casefold() in RDF:
        from epignn.bridges.rdf import inferred_rdf, write_rdf

        if told is None:
            raise BadArgument(f"{file} has no IRIs to write RDF with; write .csv or .json instead.")
        if results[0].consistent:  # of what clashes nothing can be said to follow
            write_rdf(told, inferred_rdf(told, results[0].closed, provenance), out)
        return
    from epignn.bridges.tables import write_out

    write_out([result.inferred if inferred else result.closed for result in results], out, form)


def _print(result: Result, query: tuple[str, str] | None) -> None:
    network, calculus = result.network, result.network.calculus
    say(f"{calculus.name}, {len(network.names)} entities, {len(network)} facts: {result.answer}")
    if not result.consistent:
        minimal = "These facts cannot hold together, and without any one of them they could:"
        conflict = result.conflict
        say(
            minimal
            if result.conflict_is_minimal
            else "These facts cannot hold together; fewer might, for which the time was too short:"
        )
        for fact in conflict[:SHOWN_CONFLICT]:
            say(f"  {fact}")
        if len(conflict) > SHOWN_CONFLICT:
            say(f"  … and {len(conflict) - SHOWN_CONFLICT:,} more: --json gives all.")
        return
    if result.answer is Answer.CLOSED:
        say(f"No contradiction found; {doubt(calculus, '--algorithm search')}.")
    if result.answer is Answer.UNDECIDED:
        say("The search reached its limit.")
    if query and result.mask(*query) == calculus.anything:
        say(f"Nothing follows: any relation may hold from {query[0]} to {query[1]}.")
    elif query:
        say(f"{calculus.format(result.mask(*query))}({query[0]}, {query[1]})")
    elif len(network.names) <= SHOWN_ENTITIES:
        names = network.names
        rows = [(a, *(calculus.format(result.mask(a, b)).replace("|", " ") for b in names)) for a in names]
        matrix(("", *names), rows, "What may hold from the left to the top (* is anything)", " to ")
    else:
        _print_inferred(result)


def _print_inferred(result: Result) -> None:
    """The smallest sets that no fact states."""
    shown, count = result.sharpest(SHOWN_FACTS), result.inferred_count
    say(f"{len(result.closed)} pairs are constrained, {count} of them by inference. What is known best:")
    for f in range(len(shown)):
        say(f"  {shown.fact(f)}")
    if count > len(shown):
        say(f"  … and {count - len(shown)} more: --out FILE writes all, --query A B asks for one.")


def _print_many(results: list[Result], query: tuple[str, str] | None) -> None:
    columns = ["network", "title", "entities", "facts", "answer", *([f"{query[0]} to {query[1]}"] if query else [])]
    rows = []
    for number, result in enumerate(results[:SHOWN_NETWORKS], start=1):
        network = result.network
        found = network.calculus.format(result.mask(*query)) if query and result.consistent else ""
        row = (number, network.title, len(network.names), len(network), result.answer, found)
        rows.append(row[: len(columns)])
    table(columns, rows)
    if len(results) > SHOWN_NETWORKS:
        say(f"… and {len(results) - SHOWN_NETWORKS} more: --json gives all.")
    counts = Counter(result.answer for result in results)
    say(f"{', '.join(f'{count} {answer}' for answer, count in counts.items())}. --network N shows one of them.")


WORDS = MappingProxyType({True: "entailed", False: "not entailed", None: "undecided: the search reached its limit"})


def entails(
    file: File,
    facts: Annotated[str, typer.Argument(help='What to prove, such as "po(a, c)" or "ec|dc(a, b). po(b, c)".')],
    calculus: CalculusName = None,
    number: Annotated[
        int | None, typer.Option("--network", help="Which network of the file to ask, counted from 1.")
    ] = None,
    max_nodes: Annotated[int | None, typer.Option(help="Give up after so many refinements.")] = None,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Tell whether the facts of a file entail others, by exact search; exit code 1 if not, or if they clash.

    Exit code 3 if it is undecided because a limit was reached.
    """
    from epignn.reason.networks import entailments

    with working(f"reading {file}"):
        networks = _read(file, calculus, number)
    if len(networks) > 1:
        raise BadArgument(f"{file} holds {len(networks)} networks; choose one with --network N.")
    with working("searching"), limited(seconds, memory, as_json):
        found = entailments(networks[0], facts, max_nodes)
    if as_json:
        emit_json(found.to_dict())
    elif found.conflict:
        say("The facts are inconsistent, so that everything follows from them:")
        for fact in found.conflict:
            say(f"  {fact}")
    else:
        for (a, relations, b), answer in zip(found.asked, found.found, strict=True):
            say(f"{relations}({a}, {b}): {WORDS[answer.entailed]}")
            if (shown := answer.counterexample) is not None:
                mask = closure(shown).mask(a, b)
                say(f"  it may be otherwise: {shown.calculus.format(mask)}({a}, {b})")
    if found.conflict or not found.entailed:
        raise typer.Exit(UNDECIDED if found.entailed is None else 1)
