"""How many proved benchmark instances a second the generator writes, on one core."""

import resource
import tempfile
import time
from pathlib import Path

from epignn.calculus import load
from epignn.data.prove import prove
from epignn.tasks.generate import generate

from record import options, save

CELLS = (
    ("rcc8", 2, 3, 3000),
    ("rcc8", 4, 3, 3000),
    ("rcc8", 9, 3, 600),
    ("rcc8", 15, 8, 30),
    ("allen", 4, 3, 2000),
    ("allen", 9, 3, 400),
)


def main() -> None:
    chosen = options(__doc__)
    figures = {}
    print(f"  {'cell':<18} {'instances':>9} {'per second':>10}")
    for name, k, b, per_label in CELLS[:2] if chosen.quick else CELLS:
        calculus = load(name)
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            manifest = generate(
                calculus, [k], [b], per_label, 0, Path(folder), prove=lambda data, c=calculus: prove(data, c)
            )
            seconds = time.perf_counter() - start
        count = manifest["cells"][0]["instances"]
        print(f"  {f'{name} k={k} b={b}':<18} {count:9} {count / seconds:10.0f}")
        figures[f"{name}_k{k}_b{b}"] = {
            "cell": f"{name}, k = {k}, b = {b}",
            "instances": count,
            "per_second": count / seconds,
        }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory: {peak:.0f} MB")
    save("generator", figures, chosen)


if __name__ == "__main__":
    main()
