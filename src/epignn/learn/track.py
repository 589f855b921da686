"""Curves of training runs for trackers: TensorBoard and MLflow, which are optional extras, by one interface."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType

from epignn.errors import BadArgument, BadFile, lookup
from epignn.extras import optional
from epignn.learn.fit import Epoch

Curve = Callable[[Epoch], None]


def tracker(where: str, metric: str, unit: str, name: str = "") -> AbstractContextManager[Curve]:
    """What writes the curves of a run: called with every epoch.

    Args:
        where: `tensorboard:FOLDER`, or `mlflow:ADDRESS`, which is a server or a data base.
        metric: what validation measures.
        unit: what an epoch counts.
        name: of the run.

    Raises:
        BadArgument: it is neither, or the extra is not installed.
        BadFile: nothing can be written there.
    """
    kind, colon, place = where.partition(":")
    if not colon or not place:
        raise BadArgument(f"a tracker is tensorboard:FOLDER or mlflow:ADDRESS, not {where[:80]!r}.")
    return lookup("tracker", kind, TRACKERS)(place, metric, unit, name)


def _figures(epoch: Epoch, metric: str, unit: str) -> dict[str, float]:
    """What a tracker is told of an epoch."""
    found = {
        "loss": epoch.loss,
        f"validation {metric}": epoch.validation,
        f"{unit} a second": epoch.speed,
        "learning rate": epoch.rate,
    }
    return {name: value for name, value in found.items() if value is not None}


@contextmanager
def tensorboard(folder: str, metric: str, unit: str, name: str = "") -> Iterator[Curve]:
    """Write curves for TensorBoard; torch writes them, without TensorFlow.

    A run that resumes goes on in the same folder, at the epoch it has reached.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise BadArgument(
            "TensorBoard needs the package tensorboard: pip install 'epignn[tensorboard]'."
        ) from error
    try:
        writer = SummaryWriter(str(Path(folder) / name))
    except OSError as error:
        raise BadFile(f"cannot write to it: {error.strerror or error}.", folder) from error

    def report(epoch: Epoch) -> None:
        for key, value in _figures(epoch, metric, unit).items():
            writer.add_scalar(key, value, epoch.number)
        writer.flush()

    try:
        yield report
    finally:
        writer.close()


@contextmanager
def mlflow(address: str, metric: str, unit: str, name: str = "") -> Iterator[Curve]:
    """Write curves as a run of MLflow's experiment `epignn`; one that ends early is marked as such."""
    library = optional("mlflow", "MLflow")
    try:
        client = library.MlflowClient(tracking_uri=address)
        known = client.get_experiment_by_name("epignn")
        experiment = client.create_experiment("epignn") if known is None else known.experiment_id
        run = client.create_run(experiment, run_name=name or None).info.run_id
    except (library.exceptions.MlflowException, OSError) as error:
        raise BadFile(f"MLflow cannot write there: {str(error).splitlines()[0]}", address) from error
    ended = "FAILED"

    def report(epoch: Epoch) -> None:
        for key, value in _figures(epoch, metric, unit).items():
            client.log_metric(run, key, value, step=epoch.number)

    try:
        yield report
        ended = "FINISHED"
    finally:
        client.set_terminated(run, ended)


TRACKERS = MappingProxyType({"mlflow": mlflow, "tensorboard": tensorboard})
"""All trackers by name."""
