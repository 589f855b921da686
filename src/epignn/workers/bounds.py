"""What a worker may take: one thread, and its share of the memory."""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from epignn.errors import BadArgument

ONE_THREAD = MappingProxyType(
    {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "VECLIB_MAXIMUM")}
)
"""What libraries read when they are loaded: threads do not multiply with workers."""
MEGABYTES = "EPIGNN_WORKER_MB"
"""The variable that sets how many megabytes a worker may have."""
LEAST = 1024
"""Megabytes that a worker may have however many there are: torch itself takes some hundreds."""


def megabytes_of(workers: int) -> int:
    """Megabytes that each worker of this machine may have: an equal share, unless EPIGNN_WORKER_MB says another.

    Raises:
        BadArgument: the variable is no number.
    """
    told = os.environ.get(MEGABYTES)
    if not told:
        return max(LEAST, _memory() // (1 << 20) // workers)
    if not re.fullmatch("[1-9][0-9]{0,8}", told):
        raise BadArgument(f"{MEGABYTES} must be a number of megabytes, such as 4096, not {told[:40]!r}.")
    return int(told)


def _memory() -> int:
    """Bytes of this machine, or of the part of it that this process may have."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return found


def bound(megabytes: int) -> None:
    """Let this process allocate no more; what is mapped from files, or shared, does not count."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    with suppress(ImportError, ValueError, OSError):  # a system without such limits, or with a lower one
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, hard))
