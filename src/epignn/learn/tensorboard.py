"""Curves of a training run for TensorBoard, which is an optional extra; torch writes them, without TensorFlow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from epignn.errors import BadArgument, BadFile
from epignn.learn.config import TrainConfig
from epignn.learn.fit import Epoch, rate_at


@contextmanager
def curves(folder: Path, config: TrainConfig) -> Iterator[Callable[[Epoch], None]]:
    """Write loss, validation accuracy, graphs a second and learning rate of every epoch that is reported.

    A run that resumes goes on in the same folder, at the epoch it has reached.

    Raises:
        BadArgument: the package tensorboard is not installed.
        BadFile: the folder cannot be written.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise BadArgument(
            "--tensorboard needs the package tensorboard: pip install 'epignn[tensorboard]'."
        ) from error
    try:
        writer = SummaryWriter(str(folder))
    except OSError as error:
        raise BadFile(f"cannot write to it: {error.strerror or error}.", str(folder)) from error

    def report(epoch: Epoch) -> None:
        figures = {
            "loss": epoch.loss,
            "validation accuracy": epoch.validation,
            "graphs a second": epoch.graphs_per_second,
            "learning rate": rate_at(config, epoch.number, epoch.epochs),  # depends on the share that is done alone
        }
        for name, value in figures.items():
            writer.add_scalar(name, value, epoch.number)
        writer.flush()

    try:
        yield report
    finally:
        writer.close()
