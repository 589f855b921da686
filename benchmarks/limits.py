"""How time and memory grow with the size of a question: closing, explaining, finding what clashes.

Each is asked in a process of its own, so that its memory is its own; the time is that of the processor. `mixed` has
a fact besides by which complete closure has to go through every third entity: see `epignn.calculus.solve.paths`.
`network` has 300 entities, of which a fact is told of every ninth pair.
"""

import json
import subprocess
import sys

from record import options, save

PROGRAM = """
import json, random, resource, sys, time
from epignn import Network, close, load, partial
from epignn.reason.exact import Exact
what, size = sys.argv[1], int(sys.argv[2])
rcc8 = load("rcc8")
chain = [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(size)]
clash = [*chain, ("n0", "dc", f"n{size}")]
mixed = [*chain, ("m0", "ec|ntpp", "m1")]
below = [(i, j) for j in range(1, 301) for i in range(1, j)]  # regions in regions, two in each: n1 holds all
tree = [(f"n{j}", "ntpp" if j >> j.bit_length() - i.bit_length() == i else "dc", f"n{i}") for i, j in below]
if what == "neural":
    from epignn import Neural
    model = Neural.load("rcc8")
asked = {
    "pair": lambda: close(Network.of(rcc8, chain), query=("n0", f"n{size}")).mask("n0", f"n{size}"),
    "close": lambda: close(Network.of(rcc8, chain)).mask("n0", f"n{size}"),
    "mixed": lambda: close(Network.of(rcc8, mixed)).mask("n0", f"n{size}"),
    "explain": lambda: Exact("rcc8").explain(Network.of(rcc8, chain), "n0", f"n{size}"),
    "network": lambda: Exact("rcc8").explain(Network.of(rcc8, random.Random(0).sample(tree, size)), "n290", "n150"),
    "neural": lambda: model.explain(Network.of(rcc8, chain), "n0", f"n{size}"),
    "conflict": lambda: partial(Network.of(rcc8, clash)).conflict,
}
start = time.process_time()
asked[what]()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": time.process_time() - start, "memory_mb": memory}))
"""
SIZES = {
    "pair": (1000, 5000, 100_000),
    "close": (1000, 5000, 19_999),
    "mixed": (1000, 2000, 5000),
    "explain": (100, 300, 1000),
    "network": (5000,),
    "neural": (100, 300, 1000),
    "conflict": (1000, 10_000, 100_000),
}
"""Facts; there is an entity more."""


def main() -> None:
    chosen = options(__doc__)
    figures = {}
    for what, sizes in SIZES.items():
        for size in sizes[:1] if chosen.quick else sizes:
            call = [sys.executable, "-c", PROGRAM, what, str(size)]
            done = subprocess.run(call, check=True, capture_output=True, text=True)
            figures[f"{what} {size}"] = json.loads(done.stdout)
    save("limits", figures, chosen)


if __name__ == "__main__":
    main()
