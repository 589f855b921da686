"""Missing links from Python: learn Europe's capitals and neighbours, ask about countries of another continent.

    python examples/links.py

Triples may be a list, a data frame of pandas or polars, or a file. Training ends when validation no longer rises,
after some seconds.
"""

from pathlib import Path

import torch

from epignn import Links

GRAPHS = Path(__file__).parent / "kgc"


def triples(name: str) -> list[tuple[str, ...]]:
    """Head, relation and tail of every line of a file."""
    return [tuple(line.split("\t")) for line in (GRAPHS / name).read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Learn, measure, ask."""
    torch.set_num_threads(1)  # small graphs are learnt faster on one core
    links = Links.fit(triples("europe.tsv"))
    print(f"{len(links.run_.history)} epochs")
    print(f"MRR on held-out triples: {links.evaluate(links.held_out_)['model']['mrr']:.3f}")
    for answer in links.predict("Austria", "neighbour", top=3):
        print(f"{answer.probability:.2f}  Austria may have the neighbour {answer.tail}")

    new = triples("latin_america.tsv")
    for answer in links.predict(["Quito", "Bogotá"], "lies in", top=1, graph=new, paths=True):
        print(f"{answer.probability:.2f}  {answer.head} lies in {answer.tail}, since {answer.path}")


if __name__ == "__main__":
    main()
