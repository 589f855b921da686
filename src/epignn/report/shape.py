"""What a record of a run has to have, so that tables can be made of it; nothing that is read is trusted."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Kind = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _maybe(kind: Kind) -> Kind:
    return lambda value: value is None or kind(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _has(**kinds: Kind) -> Kind:
    return lambda value: (
        isinstance(value, dict) and all(key in value and kind(value[key]) for key, kind in kinds.items())
    )


RUN: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(("variant", "epignn", "commit", "python", "cpu"), _text),
        **dict.fromkeys(("numpy", "torch", "simd", "device"), _maybe(_text)),
        **dict.fromkeys(("seed", "test_seed", "epochs", "cores"), _whole),
        **dict.fromkeys(("training_seconds", "training_cpu_seconds"), _number),
        **dict.fromkeys(("validation", "parameters", "peak_mb"), _maybe(_number)),
        **dict.fromkeys(("experiment", "figures", "calibration"), lambda value: isinstance(value, dict)),
    }
)
"""Of a run."""
CELL: Mapping[str, Kind] = MappingProxyType(
    {
        **dict.fromkeys(("k", "b", "n", "distinct"), _whole),
        **dict.fromkeys(
            ("accuracy", "low", "high", "answer_cpu_seconds", "mrr", "hits@1", "hits@3", "hits@10"), _number
        ),
        **dict.fromkeys(("hits@10_50", "grail_hits@10", "ultra_mrr", "ultra_hits@10"), _number),
        **dict.fromkeys(("closure", "distilled", "distilled_clear", "entailed"), _maybe(_number)),
        "published": _has(accuracy=_number, n=_whole),
        "ambiguous": _has(n=_whole, right=_whole),
    }
)
"""Of one of its test sets."""


def misfit(record: Mapping[str, Any]) -> str:
    """What of a record is not as a run writes it; empty where all is."""
    if "variant" not in record:
        return "it names no variant"
    cells = record.get("cells", [] if "figures" in record else None)
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        return "a run has cells"
    if cells and "seed" not in record:
        return "a run has a seed"
    wrong = [key for key, kind in RUN.items() if key in record and not kind(record[key])]
    wrong += [key for cell in cells for key, kind in CELL.items() if key in cell and not kind(cell[key])]
    if wrong:
        return f"{wrong[0]} is not what it should be"
    whole = all({"k", "b"} <= set(cell) and ("mrr" in cell or {"accuracy", "n"} <= set(cell)) for cell in cells)
    return "" if whole else "a test set has k, b and its figures"
