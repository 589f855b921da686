"""How fast closure is, and how it grows: random boxes by complete closure, world maps by partial closure.

Figures are seconds from a network in Python to its result, one thread. GQR 1501 (C++, -O3) took 0.03, 0.27, 1.5
and 19.7 s for boxes of the same four sizes on a machine of the kind this was written on.
"""

import math
import resource
import time

from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.sparse import partial

from networks import random_boxes, world_map
from record import options, save

BOXES = ((300, 40, 0.03), (600, 60, 0.27), (1000, 100, 1.5), (2000, 150, 19.7))
MAPS = (1_000, 10_000, 100_000)


def best_of(runs: int, function, *arguments):
    """The result of a function, and the shortest of some runs in seconds."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        result = function(*arguments)
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def main() -> None:
    chosen = options(__doc__)
    figures: dict[str, dict[str, float]] = {}
    print("complete closure of random boxes (RCC-8, single relations)")
    print(f"  {'regions':>8} {'facts':>8} {'seconds':>9} {'GQR 1501':>9} {'ratio':>6} {'growth':>7}")
    last = None
    for regions, degree, gqr in BOXES[:2] if chosen.quick else BOXES:
        network = random_boxes(regions, degree)
        result, seconds = best_of(3, close, network)
        assert result.answer is Answer.CONSISTENT
        growth = f"n^{math.log(seconds / last[1]) / math.log(regions / last[0]):.1f}" if last else ""
        print(f"  {regions:8} {len(network):8} {seconds:9.4f} {gqr:9.2f} {gqr / seconds:6.1f} {growth:>7}")
        figures[f"boxes_{regions}"] = {
            "regions": regions,
            "facts": len(network),
            "seconds": seconds,
            "gqr_seconds": gqr,
        }
        last = (regions, seconds)
    print("partial closure of world maps (RCC-8, mean degree 4)")
    print(f"  {'regions':>8} {'facts':>8} {'pairs':>9} {'seconds':>9} {'growth':>7} {'peak MB':>8}")
    last = None
    for regions in MAPS[:2] if chosen.quick else MAPS:
        network = world_map(regions)
        result, seconds = best_of(1, partial, network)
        assert result.answer is Answer.CONSISTENT
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        growth = f"n^{math.log(seconds / last[1]) / math.log(regions / last[0]):.1f}" if last else ""
        pairs = int(result.statistics["pairs"])
        print(f"  {len(network.names):8} {len(network):8} {pairs:9} {seconds:9.3f} {growth:>7} {peak:8.0f}")
        figures[f"map_{regions}"] = {
            "regions": len(network.names),
            "facts": len(network),
            "pairs": pairs,
            "seconds": seconds,
            "peak_mb": peak,
        }
        last = (regions, seconds)
    save("closure", figures, chosen)


if __name__ == "__main__":
    main()
