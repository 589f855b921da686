"""How fast facts come and go: a stream of additions and retractions on boxes, against closing anew each time.

The network after a step is compared with closing anew at random steps; the time of closing anew is what these take,
times the number of steps.
"""

import time

import numpy as np

from epignn import Incremental, close

from networks import RCC8, random_boxes
from record import options, save


def main() -> None:
    chosen = options(__doc__)
    steps, checks = (2_000, 10) if chosen.quick else (100_000, 50)
    pool = random_boxes(300, 100)
    rng = np.random.default_rng(1)
    facts = [
        (pool.names[i], mask, pool.names[j])
        for i, j, mask in zip(pool.heads.tolist(), pool.tails.tolist(), pool.masks.tolist(), strict=True)
    ]
    rng.shuffle(facts)
    standing, waiting = facts[:3000], facts[3000:]
    growing = Incremental.over(type(pool).of(RCC8, standing, pool.names))
    growing.retract(*standing.pop())
    looked = set(rng.integers(0, steps, checks).tolist())
    seconds = anew = 0.0
    for step in range(steps):
        comes = len(standing) < 2500 or (len(standing) < 3500 and rng.random() < 0.5)
        source, target = (waiting, standing) if comes else (standing, waiting)
        place = int(rng.integers(len(source)))
        fact = source[place]
        source[place] = source[-1]
        source.pop()
        target.append(fact)
        start = time.process_time()
        (growing.add if comes else growing.retract)(*fact)
        seconds += time.process_time() - start
        if step in looked:
            start = time.process_time()
            result = close(growing.network)
            anew += time.process_time() - start
            assert (result.matrix() == growing.matrix()).all()
    factor = anew / len(looked) * steps / seconds
    print(f"{steps:,} steps on 300 entities: {seconds:.1f} s, {factor:.1f} times as fast as closing anew")
    save("stream", {"stream_300": {"steps": steps, "seconds": seconds, "factor": factor}}, chosen)


if __name__ == "__main__":
    main()
