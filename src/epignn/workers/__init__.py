"""Work that is shared out: the same jobs here, in processes of this machine, or on a Ray cluster."""

from epignn.workers.api import Failure, JobsFailed, Results, Shared, Workers, run
from epignn.workers.choose import is_cluster, workers_of
from epignn.workers.here import Here

__all__ = ["Failure", "Here", "JobsFailed", "Results", "Shared", "Workers", "is_cluster", "run", "workers_of"]
