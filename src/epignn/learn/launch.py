"""Starts the processes that train a model together, by torchrun."""

import os
import subprocess
import sys
from collections.abc import Sequence

RESTARTS = 3
"""How often all begin anew from the last epoch, where one of them was killed."""


def launch(count: int, arguments: Sequence[str], threads: int = 1) -> int:
    """Run `epignn` with these arguments in several processes of this machine; returns the exit code."""
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}",
        f"--max-restarts={RESTARTS}", "-m", "epignn", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": str(threads)}, check=False).returncode
