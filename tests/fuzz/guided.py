"""Readers under a fuzzer that is guided by the branches it reaches: `python tests/fuzz/guided.py SECONDS [KIND]`.

It needs atheris, which `make fuzz` uses where it is installed. Inputs that reach something new are kept in
`build/fuzz/KIND`, and the next run starts from them and from the corpus. The property is that of `held`: an answer
or one of our errors, below 2 GB and in some seconds. What breaks it is written to `build/fuzz/fell-KIND-…`.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import atheris

ROOT = Path(__file__).parents[2]
# Only modules that Python finds by itself can be watched, not those of an editable install.
sys.meta_path[:] = [finder for finder in sys.meta_path if "_editable" not in type(finder).__module__]
sys.path[:0] = [str(ROOT / "src")]

with atheris.instrument_imports(include=["epignn"]):
    from epignn.bridges.events import from_intervals
    from epignn.bridges.rdf import read_rdf
    from epignn.bridges.regions import from_geometries, read_regions
    from epignn.bridges.vocabularies import Vocabulary
    from epignn.calculus import CALCULI, load
    from epignn.calculus.realise import World
    from epignn.calculus.solve.closure import close
    from epignn.calculus.toml import load_calculus
    from epignn.distil.rules import load_rules
    from epignn.errors import EpignnError
    from epignn.files import load_json, read_text
    from epignn.formats.frames import read_frame
    from epignn.formats.networks import as_networks, read_raw
    from epignn.formats.predictions import read_predictions
    from epignn.formats.readers import read_graphs
    from epignn.formats.triples import read_triples
    from epignn.learn.config import load_experiment

CORPUS, KEPT = Path(__file__).with_name("corpus"), ROOT / "build" / "fuzz"
MOST_BYTES, MEGABYTES, LONGEST = 1 << 14, 2048, 60
"""The seconds are by the clock, of watched code: 10 of a processor alone, and more on a busy one."""


def _facts(path: Path) -> None:
    for network in as_networks(read_raw(path), None, path.name):
        if len(network.names) < 50:
            close(network)


def _regions(path: Path) -> None:
    regions = read_regions(path)
    from_geometries(regions.geometries, regions.names, file=regions.file, skip_bad=True)


def _each(path: Path, *readers: Callable[[Path], object]) -> None:
    """Several readers of one kind: what one refuses another may take."""
    for read in readers:
        with suppress(EpignnError):
            read(path)


TARGETS: Mapping[str, Callable[[Path], object]] = {
    "txt": _facts,
    "csp": _facts,
    "json": _facts,
    "csv": lambda path: _each(path, _facts, read_graphs, lambda one: from_intervals(read_frame(one))),
    "jsonl": read_graphs,
    "tsv": read_triples,
    "toml": lambda path: _each(path, load_calculus, load_rules, Vocabulary.read, lambda p: load_experiment(str(p))),
    "geojson": _regions,
    "topojson": _regions,
    "ttl": read_rdf,
    "nt": read_rdf,
    "jsonld": read_rdf,
    "rdf": read_rdf,
    "predictions": lambda path: read_predictions(path, 3),
    "world": lambda path: World.from_dict(load_json(read_text(path), path.name)),
}
"""What reads each kind of file."""


def main() -> None:
    """Fuzz all kinds, one after the other, or the one that is named; for so many seconds in all."""
    seconds, kinds = int(sys.argv[1]), sys.argv[2:] or list(TARGETS)
    if len(kinds) == 1:
        fuzz(kinds[0], seconds)
    share = str(max(1, seconds // len(kinds)))
    codes = {
        kind: subprocess.run([sys.executable, __file__, share, kind], check=False).returncode for kind in kinds
    }
    raise SystemExit(", ".join(kind for kind, code in codes.items() if code) or 0)


def fuzz(kind: str, seconds: int) -> NoReturn:
    """Fuzz the readers of one kind; the fuzzer ends the process."""
    kept = KEPT / kind
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        seeds, path = Path(folder) / "seeds", Path(folder) / f"file.{kind}"
        seeds.mkdir()
        for seed in CORPUS.glob(f"*.{kind}"):
            (seeds / seed.name).write_bytes(seed.read_bytes())

        for name in CALCULI:
            load(name)

        def once(data: bytes) -> None:
            path.write_bytes(data)
            with suppress(EpignnError):
                TARGETS[kind](path)

        limits = [f"-max_len={MOST_BYTES}", f"-rss_limit_mb={MEGABYTES}", f"-timeout={LONGEST}"]
        place = [f"-artifact_prefix={KEPT}/fell-{kind}-", str(kept), str(seeds)]
        atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *limits, *place], once)
        atheris.Fuzz()
    raise AssertionError("the fuzzer ends the process")


if __name__ == "__main__":
    main()
