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
from epignn.cli.facts import CalculusName, File, Read, read_facts
from epignn.cli.limits import UNDECIDED, Memory, Seconds, limited
from epignn.cli.output import counted, emit_json, matrix, progress, say, table, working
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.errors import BadArgument, lookup
from epignn.formats.wording import NOTHING, Source, in_words

if TYPE_CHECKING:
    from epignn.bridges.rdf import Statements
    from epignn.reason.networks import Conflicts
    from epignn.workers import Workers

RDF = (".ttl", ".nt", ".jsonld", ".rdf")
PROGRAMS = ("csp", "json", "npz")
"""Formats that programs read, which have relations by their own names."""
BATCH, BATCHES = 256, 8
"""Networks that a worker is given at once, at most, and how often it is given some, at least."""
NO_ANSWER = "–"
"""In a table, that nothing follows of a pair."""
SHOWN_ENTITIES, SHOWN_FACTS, SHOWN_NETWORKS, SHOWN_CONFLICT = 10, 30, 50, 200

Vocabulary = Annotated[Path | None, typer.Option(help="For RDF: a .toml file that says what its predicates mean.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _read(file: str, calculus: str | None, number: int | None) -> list[Read]:
    if Path(file).suffix.casefold() in RDF:
        return [Read.of(read_statements(Path(file)).network, Source())]
    if _is_folder(file) and (Path(file) / "config.json").is_file():
        raise BadArgument(
            f"{file} is the folder of a model, not of facts. To ask it: epignn ask FACTS A B --model {file}"
        )
    if _is_folder(file):
        networks = [
            one._replace(network=replace(one.network, title=f"{path.name}: {title}" if title else path.name))
            for path in sorted(Path(file).iterdir())
            if path.is_file() and not path.name.startswith(".")
            for one in read_facts(str(path), calculus)
            for title in [one.network.title]
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
        return bool(name) and Path(name).is_dir()
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
            help="closure: all that follows by composition. search: decides for certain where facts leave a "
            "choice. minimal: the fewest relations that are left of each pair. directional: from --head alone, "
            "which is faster. partial, dpc or dpc+: for large networks in which most pairs have no fact."
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
            help="Write what holds between all pairs to this file. Its ending tells the format: .csv, .tsv, "
            ".parquet, .npz, .xlsx, .csp, .json, .ttl; anything else is facts as text."
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="The format of --out, whatever its suffix: facts, csp or json.")
    ] = "",
    inferred: Annotated[
        bool, typer.Option("--inferred", help="With --out: write what follows, and leave out what was stated.")
    ] = False,
    vocabulary: Vocabulary = None,
    provenance: Annotated[
        str, typer.Option(metavar="IRI", help="For RDF: mark every inferred statement as derived from this.")
    ] = "",
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="For RDF: leave out statements that cannot be read, and say how many."),
    ] = False,
    backend: Annotated[
        str, typer.Option(help="Which code computes: auto, compiled, or plain (slower; for comparison).")
    ] = "auto",
    seconds: Seconds = None,
    memory: Memory = None,
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Tell what follows from facts, and whether they can all hold together.

    If they cannot, the exit code is 1, and the fewest facts that clash are shown; of several groups of facts that
    clash, all that have no fact in common. If a folder is given, every file in it is answered.
    """
    from epignn.reason.networks import ALGORITHMS, closed_json, conflicts, result_dict, run
    from epignn.workers import workers_of

    lookup("algorithm", algorithm, ALGORITHMS)
    limits = limited(seconds, memory, as_json)
    with workers_of(workers, ray_address) as them, working(f"{algorithm}: {file}"), limits:
        is_rdf = Path(file).suffix.casefold() in RDF
        told = read_statements(Path(file), vocabulary, "", skip_bad) if is_rdf else None
        read = [Read.of(told.network, Source())] if told else _read(file, calculus, number)
        networks = [one.network for one in read]
        if len(networks) == 1 or them.count == 1:
            only = out is None  # a file gets all pairs
            results = [run(algorithm, network, query, head or "", backend, only) for network in networks]  # type: ignore[arg-type]
        else:
            results = _by_workers(them, networks, algorithm, query, head or "", backend)
        whole = len(results) == 1 and results[0].consistent and not query
        clashes = None
        if len(results) == 1 and not results[0].consistent:
            clashes = conflicts(results[0], lambda rest: run(algorithm, rest, query, head or "", backend))  # type: ignore[arg-type]
        documents = [result_dict(result, query, not whole) for result in results] if as_json else []
    if out is not None:
        _write(results, read, out, form, inferred, file, told, provenance)
    for note in told.notes if told else ():
        say(f"note: {note}", err=True)
    if as_json and len(documents) == 1:
        told_all = {} if clashes is None else {"conflicts": clashes.to_list(read[0].source.to_dict)}
        emit_json(documents[0] | told_all, **({"closed": closed_json(results[0])} if whole else {}))
    elif as_json:
        emit_json({"file": str(file), "networks": documents})
    elif clashes is not None:
        _print_conflicts(results[0], clashes, read[0])
    elif len(results) == 1 and (query or out is None):
        _print(results[0], query, read[0])
    elif out is None:
        _print_many(results, query, read)
    if out is not None and results[0].consistent:
        say(f"Written: {out}", err=as_json)
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
    read: list[Read],
    out: Path,
    form: str,
    inferred: bool,
    file: str,
    told: "Statements | None",
    provenance: str,
) -> None:
    """Write what is known of every pair, or only what no fact tells; tables and text in the words of the facts."""
    if out.suffix.casefold() in RDF:
        from epignn.bridges.rdf import inferred_rdf, write_rdf

        if told is None:
            raise BadArgument(f"{file} has no IRIs to write RDF with; write .csv or .json instead.")
        if results[0].consistent:  # of what clashes nothing can be said to follow
            write_rdf(told, inferred_rdf(told, results[0].closed, provenance), out)
        return
    from epignn.bridges.tables import write_out

    networks = [result.inferred if inferred else result.closed for result in results]
    if form not in PROGRAMS and not (not form and out.name.casefold().removesuffix(".gz").endswith(PROGRAMS)):
        networks = [replace(network, calculus=one.words) for network, one in zip(networks, read, strict=True)]
    write_out(networks, out, form)


def _size(network: Network) -> str:
    return f"{counted(len(network.names), 'entity', 'entities')}, {counted(len(network), 'fact')}"


def _print_conflicts(result: Result, found: "Conflicts", read: Read) -> None:
    """What clashes, in the words of the file."""
    network = result.network
    say(f"{network.calculus.name}, {_size(network)}: {result.answer}")
    for number, conflict in enumerate(found.each, start=1):
        which = f"Conflict {number} of {len(found.each)}: these" if len(found.each) > 1 else "These"
        minimal = (
            "and without any one of them they could" if conflict.minimal else "and perhaps fewer of them cannot"
        )
        say(f"{which} facts cannot hold together, {minimal}:")
        for f in conflict.facts[:SHOWN_CONFLICT]:
            say(f"  {read.source.fact(network.fact(f))}")
        if len(conflict.facts) > SHOWN_CONFLICT:
            say(f"  … and {len(conflict.facts) - SHOWN_CONFLICT:,} more: --json gives all.")
    if len(found.each) > 1 and found.complete:
        say("No fact is in two of them. Without them, the other facts can hold together.")
    elif not found.complete:
        say("There may be more, for which the time was too short.")


def _print_answer(result: Result, query: tuple[str, str] | None, read: Read) -> None:
    """Whether the facts can hold, and what is left of a pair."""
    network, calculus = result.network, result.network.calculus
    say(f"{calculus.name}, {_size(network)}: {result.answer}")
    if result.answer is Answer.CLOSED:
        say(f"No contradiction found; {doubt(calculus, '--algorithm search')}.")
    if result.answer is Answer.UNDECIDED:
        say("The search reached its limit.")
    if query and (mask := result.mask(*query)) == calculus.anything:
        say(f"Nothing follows: any relation may hold from {query[0]} to {query[1]}.")
    elif query:
        say(f"{read.words.format(mask)}({query[0]}, {query[1]})")


def _print(result: Result, query: tuple[str, str] | None, read: Read) -> None:
    """The same, and without a question what is left of all pairs, or of the best known."""
    _print_answer(result, query, read)
    network, words = result.network, read.words
    if query:
        return
    if len(network.names) > SHOWN_ENTITIES:
        _print_inferred(result, read)
        return
    names, masks = network.names, result.matrix().tolist()
    cells = [[NO_ANSWER if mask == words.anything else words.format(mask) for mask in row] for row in masks]
    rows = [(name, *(cell.replace("|", " ") for cell in row)) for name, row in zip(names, cells, strict=True)]
    key = f" ({NO_ANSWER}: {NOTHING})" if any(NO_ANSWER in row for row in cells) else ""
    matrix(("", *names), rows, f"From each name on the left to each name above: what may hold{key}", " to ")


def _print_inferred(result: Result, read: Read) -> None:
    """The smallest sets that no fact states."""
    shown, count = result.sharpest(SHOWN_FACTS), result.inferred_count
    say(f"Something is known of {len(result.closed):,} pairs, of {count:,} of them by inference. Best known:")
    for f in range(len(shown)):
        say(f"  {replace(shown, calculus=read.words).fact(f)}")
    if count > len(shown):
        say(f"  … and {count - len(shown)} more: --out FILE writes all, --query A B asks for one.")


def _print_many(results: list[Result], query: tuple[str, str] | None, read: list[Read]) -> None:
    columns = ["network", "title", "entities", "facts", "answer", *([f"{query[0]} to {query[1]}"] if query else [])]
    rows = []
    for number, result in enumerate(results[:SHOWN_NETWORKS], start=1):
        network = result.network
        words = read[number - 1].words
        found = in_words(words, result.mask(*query)) if query and result.consistent else ""
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
    facts: Annotated[
        str,
        typer.Argument(metavar="CLAIMS", help='What may follow, such as "po(a, c)" or "ec|dc(a, b). po(b, c)".'),
    ],
    calculus: CalculusName = None,
    number: Annotated[
        int | None, typer.Option("--network", help="Which network of the file to ask, counted from 1.")
    ] = None,
    max_nodes: Annotated[int | None, typer.Option(min=0, help="Give up after so many steps of the search.")] = None,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Json = False,
) -> None:
    """Tell whether claims follow from facts, by exact search.

    The exit code is 1 if they do not, or if the facts clash, and 3 if a limit was reached before it was decided.
    """
    from epignn.reason.networks import entailments

    with working(f"reading {file}"):
        networks = _read(file, calculus, number)
    if len(networks) > 1:
        raise BadArgument(f"{file} holds {len(networks)} networks; choose one with --network N.")
    (read,) = networks
    with working("searching"), limited(seconds, memory, as_json):
        found = entailments(read.network, facts, max_nodes)
    if as_json:
        emit_json(found.to_dict())
    elif found.conflict:
        say("The facts are inconsistent, so that everything follows from them:")
        for fact in found.conflict:
            say(f"  {read.source.fact(fact)}")
    else:
        for (a, relations, b), answer in zip(found.asked, found.found, strict=True):
            say(f"{relations}({a}, {b}): {WORDS[answer.entailed]}")
            if (shown := answer.counterexample) is not None:
                mask = closure(shown).mask(a, b)
                say(f"  it may be otherwise: {read.words.format(mask)}({a}, {b})")
    if found.conflict or not found.entailed:
        raise typer.Exit(UNDECIDED if found.entailed is None else 1)
