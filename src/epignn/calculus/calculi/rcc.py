"""RCC-8, whose table is a file, and RCC-5, derived from it by joining relations that differ at the boundary."""

from dataclasses import replace
from pathlib import Path

from epignn.calculus.algebra import Calculus, members
from epignn.calculus.toml import load_calculus


def rcc8() -> Calculus:
    """RCC-8, with the tractable class Ĥ8 of Renz and Nebel (1999)."""
    table = load_calculus(Path(__file__).parent / "tables" / "rcc8.toml")
    return replace(table, tractable=_horn8(table))


def _horn8(rcc8: Calculus) -> frozenset[int]:
    """Ĥ8: all sets except those with part and inverse part but not PO, and those with EQ and NTPP but not TPP."""
    po, tpp, ntpp, eq = (rcc8.parse(name) for name in ("PO", "TPP", "NTPP", "EQ"))

    def is_horn(mask: int) -> bool:
        part, inverse_part = mask & (tpp | ntpp), rcc8.converse(mask) & (tpp | ntpp)
        if part and inverse_part and not mask & po:
            return False
        return not (mask & eq and any(side & ntpp and not side & tpp for side in (part, inverse_part)))

    return frozenset(mask for mask in range(1, rcc8.universal + 1) if is_horn(mask))


COARSE = {"DR": "DC|EC", "PO": "PO", "PP": "TPP|NTPP", "PPI": "TPPI|NTPPI", "EQ": "EQ"}


def _coarse_aliases(fine: Calculus) -> dict[str, str]:
    """The words of RCC-8 that mean one relation of RCC-5."""
    by_set = {fine.parse(meaning): name for name, meaning in COARSE.items()}
    found = {alias: by_set.get(fine.parse(meaning), "") for alias, meaning in fine.aliases.items()}
    return {alias: name for alias, name in found.items() if name}


def rcc5() -> Calculus:
    """RCC-5: RCC-8 with DC and EC joined, and TPP and NTPP."""
    fine = rcc8()
    sets = [fine.parse(meaning) for meaning in COARSE.values()]

    def coarse(mask: int) -> int:
        return sum(1 << r for r, members_of in enumerate(sets) if mask & members_of)

    def refined(mask: int) -> int:
        return sum(sets[r] for r in members(mask))

    universal = (1 << len(sets)) - 1
    return Calculus(
        name="rcc5",
        title="RCC-5: disjoint, overlapping, part, whole or equal",
        source="derived from RCC-8 by joining DC with EC, and TPP with NTPP",
        relations=tuple(COARSE),
        aliases={"discrete": "DR", **_coarse_aliases(fine)},
        identity=coarse(fine.identity_mask).bit_length() - 1,
        converses=tuple(coarse(fine.converse(s)).bit_length() - 1 for s in sets),
        composition=tuple(tuple(coarse(fine.compose(r, s)) for s in sets) for r in sets),
        decides=True,
        tractable=frozenset(mask for mask in range(1, universal + 1) if refined(mask) in fine.tractable),
    )
