"""Curves of a training run for TensorBoard, which is an optional extra; torch writes them, without TensorFlow."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from epignn.errors import BadArgument, BadFile
from epignn.learn.fit import Epoch


@contextmanager
def curves(folder: Path, metric: str, unit: str) -> Iterator[Callable[[Epoch], None]]:
    """Write loss, validation, speed and learning rate of every epoch that is reported.

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
            f"validation {metric}": epoch.validation,
            f"{unit} a second": epoch.speed,
            "learning rate": epoch.rate,
        }
        for name, value in figures.items():
            if value is not None:
                writer.add_scalar(name, value, epoch.number)
        writer.flush()

    try:
        yield report
    finally:
        writer.close()
