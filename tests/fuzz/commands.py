"""The commands that read each kind of file, and options for those that read none.

Words in capitals stand for something: FILE for the file that is tried, OUT for a new one, ODD for what nobody would
type. A name of the corpus stands for that file.
"""

from pathlib import Path

Command = tuple[str, ...]


def _each(text: str) -> tuple[Command, ...]:
    """A command a line; words are separated by spaces, those in brackets are one."""
    return tuple(tuple(word.replace("_", " ") for word in line.split()) for line in text.strip().splitlines())


FACTS = _each("""
    close FILE
    close FILE --json --query a b
    close FILE --algorithm search --seconds 5
    close FILE --algorithm partial --out OUT.csv
    close FILE --algorithm minimal --out OUT.json --seconds 5
    explain rcc8 FILE a b --exact --svg OUT.svg
    entails FILE ec(a,_b) --seconds 5
    realise FILE --seconds 1 --svg OUT.svg
    predict rcc8 FILE --query a b
    ask FILE a b --json
    check FILE --against whole.geojson
""")
GRAPHS = _each("""
    check FILE
    evaluate rcc8 FILE
    predict rcc8 FILE --out OUT.csv
    score FILE FILE
    score whole.csv FILE
    export FILE --prompt --out OUT.jsonl
    distil rcc8 --data FILE --out OUT.toml
""")
WORLDS = _each("""
    relate FILE
    relate FILE --out OUT.csv --every-pair --skip-bad
    relate FILE --json --calculus rcc5 --precision 0.1
    check whole.txt --against FILE
""")
RDF = (*WORLDS[:2], *_each("""
    close FILE
    close FILE --out OUT.ttl
    close FILE --vocabulary vocabulary.toml --json
"""))  # fmt: skip
TRIPLES = _each("""
    train FILE --set training.epochs=1 --out OUT
    close FILE
    relate FILE
""")
TOML = _each("""
    calculus validate FILE
    calculus show FILE --toml
    calculus show FILE --neighbours
    explain FILE a(x,_y)._b(y,_z) x z
    refine FILE --out OUT
    close <(a,_b) --calculus FILE
    entails <(a,_b) <(a,_b) --calculus FILE
    realise <(a,_b) --calculus FILE
    close whole.ttl --vocabulary FILE
    evaluate FILE whole.csv
    generate calculus FILE --k 2 --b 1 --per-label 1 --out OUT --overwrite
    train FILE --set training.epochs=1 --out OUT
    sweep FILE --trials 1 --set training.epochs=1 --out OUT
    train whole.tsv --preset FILE --set training.epochs=1 --out OUT
""")
RUNS = _each("""
    predict FILE whole.csv
    evaluate FILE whole.csv
    close FILE
    distil FILE --out OUT.toml
    explain FILE ec(a,_b)._ec(b,_c) a c
    profile FILE --longest 2 --widest 1 --problems 1
    train rcc8 --set data.per_label=2 --set data.k=[2] --set data.b=[1] --set training.epochs=1 --out FILE
""")
RECORDS = _each("""
    reproduce rcc8 --report --results FILE
    tune rcc8 --models gcn --trials 1 --epochs 1 --share 0.01 --out FILE/none
""")
READ_BY = {
    ".txt": FACTS, ".csp": FACTS, ".json": FACTS + WORLDS, ".csv": FACTS + GRAPHS + WORLDS, ".jsonl": GRAPHS,
    ".tsv": TRIPLES,
    ".toml": TOML, "": RUNS, ".geojson": WORLDS, ".topojson": WORLDS, ".shp": WORLDS, ".gpkg": WORLDS,
    ".parquet": WORLDS + FACTS[:3], ".xlsx": WORLDS + FACTS[:3], ".npz": FACTS,
    ".ttl": RDF, ".nt": RDF, ".jsonld": RDF, ".rdf": RDF,
}  # fmt: skip
OPTIONS = _each("""
    close ODD --query ODD b
    close ec(a,_b) --calculus ODD
    close ec(a,_b) --algorithm ODD
    close ec(a,_b) --network ODD --backend ODD
    close ec(a,_b) --out ODD/ODD
    close ec(a,_b) --seconds ODD --memory 400
    explain ODD ec(a,_b) a ODD --threshold ODD
    entails ec(a,_b) ODD --max-nodes ODD
    realise ec(a,_b) --seed ODD --seconds 1
    relate ODD --layer ODD --precision ODD
    check ODD --algorithm ODD
    export ODD --prompt --out OUT.jsonl --limit ODD
    train ODD --out OUT
    train rcc8 --set ODD --out OUT
    train rcc8 --set data.per_label=ODD --out OUT
    train rcc8 --model ODD --device ODD --out OUT
    evaluate ODD ODD
    predict rcc8 whole.csv --out ODD/ODD
    predict links ODD --head ODD --relation ODD --top ODD
    score whole.csv ODD --seed ODD
    profile ODD --longest ODD
    ask ODD a b --model ODD
    distil ODD --kind ODD --out OUT.toml
    reproduce ODD --only ODD
    sweep ODD --out OUT
    settings ODD --json
    reproduce rcc8 --report --results ODD
    tune ODD --models ODD
    demo --seed ODD --out ODD/ODD
    serve --port ODD --host 192.0.2.1
    serve --port 70000 --host ODD
    info --json
    generate calculus ODD --out OUT
    generate calculus rcc8 --k ODD --b 1 --per-label 1 --out OUT
    generate calculus point --k 2 --b 1 --per-label 1 --prefix ODD --out OUT --overwrite
    generate families --k 2 --per-k ODD --relations ODD --out OUT
    generate world --pairs ODD --rules ODD --out OUT
    calculus list --json
    calculus show ODD
    calculus validate ODD
    data list
    data info ODD
    data verify ODD
    data get ODD --out OUT --mirror ODD
""")
"""Every command, with words in place of names and numbers that nobody would type."""
WHOLE = _each("""
    close ec(a,_b)
    entails ec(a,_b) ec(a,_b)
    explain rcc8 ec(a,_b)._ec(b,_c) a c --exact
    realise ec(a,_b) --seconds 1
    check whole.csv
    check whole.txt --against whole.geojson
    relate whole.geojson
    relate events.csv
    export whole.csv --prompt --out OUT.jsonl
    train rcc8 --set data.per_label=1 --set data.k=[2] --set data.b=[1] --set training.epochs=1 --out OUT
    evaluate rcc8 whole.csv
    predict rcc8 whole.csv
    score whole.csv whole.csv
    profile rcc8 --longest 2 --widest 1 --problems 1
    ask ec(a,_b) a b
    distil rcc8 --weights-only --out OUT.toml
    refine rcc8 --out OUT
    reproduce rcc8 --report
    sweep none.toml --out OUT
    tune none --out OUT
    settings rcc8
    serve --port 70000 --host 192.0.2.1
    info
    demo --quick
    generate calculus point --k 2 --b 1 --per-label 1 --out OUT --overwrite
    generate families --k 2 --per-k 1 --out OUT --overwrite
    generate world --train 1 --valid 1 --test 1 --rules 5 --pairs 3 --out OUT --overwrite
    calculus list
    calculus show rcc8
    calculus validate calculus.toml
    data list
    data info clutrr
    data verify clutrr
    data get none
""")
"""Every command, to which any of its options is added; those that would take long, or listen, are refused."""


def commands(path: Path) -> tuple[Command, ...]:
    """The commands for a file, by the end of its name; for a folder, those that take a model."""
    return READ_BY[Path(path.name.removesuffix(".gz")).suffix]


def filled(command: Command, path: Path, out: Path, corpus: Path, odd: str = "") -> list[str]:
    """A command with the names of its files."""

    def word(text: str) -> str:
        if (corpus / text).is_file() and "." in text:
            return str(corpus / text)
        return text.replace("FILE", str(path)).replace("OUT", str(out)).replace("ODD", odd)

    return [word(text) for text in command]
