"""Knowledge graphs as clients bring them: the text of triples."""

from typing import Any

from epignn.data.graph import Graph
from epignn.formats.triples import parse_triples
from epignn.tasks.links import graph_of
from epignn.web.errors import TooMuch
from epignn.web.folders import model_folder, relations_of
from epignn.web.limits import Context

SHOWN = 2000
"""So many entities are told."""
MOST = 20_000
"""So many facts a graph may have."""


def read(text: str, relations: tuple[str, ...] | None) -> tuple[Graph, list[str]]:
    """The graph of a text, in the relations of a model or in its own, and notes on what was passed over.

    Raises:
        TooMuch: it has too many facts.
    """
    triples = parse_triples(text, "the triples")
    if len(triples) > MOST:
        raise TooMuch(f"{len(triples):,} facts are more than the {MOST:,} that a graph may have here.")
    return graph_of(triples, relations)


def graph(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """What a graph has."""
    name = request["model"]
    relations = None if name is None else relations_of(model_folder(context, name))
    found, notes = read(request["triples"], relations)
    if len(found.entities) > SHOWN:
        notes = [*notes, f"The first {SHOWN:,} of {len(found.entities):,} entities are listed."]
    return {
        "entities": list(found.entities[:SHOWN]),
        "relations": list(found.relations),
        "facts": len(found.facts),
        "notes": notes,
    }
