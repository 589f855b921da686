"""How large a request may be, how long it may take, and where the server keeps and finds things."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from epignn.formats.told import Told
from epignn.web.errors import TooMuch


@dataclass(frozen=True)
class Limits:
    """What a request may have.

    Attributes:
        bytes: of its body, and of an uploaded file when it is unpacked.
        upload: bytes of a body that brings files to train on.
        entities: of its networks, all together.
        facts: of its networks, all together.
        seconds: for a search, or the work of a model.
        quick_seconds: for everything else.
        training: runs that train at once.
    """

    bytes: int = 2_000_000
    upload: int = 40_000_000
    entities: int = 500
    facts: int = 20_000
    seconds: float = 60.0
    quick_seconds: float = 10.0
    training: int = 2

    def check(self, told: Told) -> None:
        """Refuse facts that are too many.

        Raises:
            TooMuch: they are.
        """
        facts = sum(len(raw.facts) for raw in told.networks)
        if facts > self.facts:
            raise TooMuch(f"{facts:,} facts are more than the {self.facts:,} that a request may have.")
        named = ({*raw.names, *(n for f in raw.facts for n in (f.head, f.tail))} for raw in told.networks)
        entities = sum(map(len, named))
        if entities > self.entities:
            raise TooMuch(f"{entities:,} entities are more than the {self.entities:,} that a request may have.")


@dataclass(frozen=True)
class Context:
    """What every piece of work needs to know of its server.

    Attributes:
        root: where runs are kept.
        results: where records are; None where there are none.
        limits: what a request may have.
    """

    root: Path = Path("runs")
    results: Path | None = None
    limits: Limits = Limits()

    def to_dict(self) -> dict[str, Any]:
        """As plain values; `from_dict` reads them back."""
        results = None if self.results is None else str(self.results)
        return {"root": str(self.root), "results": results, "limits": asdict(self.limits)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """What `to_dict` gave."""
        results = values["results"]
        return cls(Path(values["root"]), None if results is None else Path(results), Limits(**values["limits"]))
