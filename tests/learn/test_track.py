"""Curves for TensorBoard, read back by TensorBoard itself; and what happens without it."""

import sys

import pytest

from epignn.errors import BadArgument, BadFile, EpignnError
from epignn.learn.fit import Epoch
from epignn.learn.track import tracker
from tests.links import family, lines


def epochs(first, last, of):
    return [Epoch(n, of, 1.0 / n, 0.5 + 0.1 * n, 1.0, 1000.0 * n, 0.02 / n, 0.0) for n in range(first, last + 1)]


def read_back(folder):
    """Names to lists of (epoch, value), as TensorBoard sees them."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    return {name: [(e.step, e.value) for e in events.Scalars(name)] for name in events.Tags()["scalars"]}


def test_curves_are_read_back(tmp_path):
    pytest.importorskip("tensorboard")
    for part in (epochs(1, 2, 4), epochs(3, 4, 4)):  # a run, and its resumption
        with tracker(f"tensorboard:{tmp_path}/curves", "accuracy", "graphs") as report:
            for epoch in part:
                report(epoch)
    found = read_back(tmp_path / "curves")
    assert set(found) == {"loss", "validation accuracy", "graphs a second", "learning rate"}
    assert [step for step, _ in found["loss"]] == [1, 2, 3, 4]
    assert [value for _, value in found["loss"]] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert [value for _, value in found["validation accuracy"]] == pytest.approx([0.6, 0.7, 0.8, 0.9])
    assert [value for _, value in found["graphs a second"]] == pytest.approx([1000, 2000, 3000, 4000])
    rates = [value for _, value in found["learning rate"]]
    assert rates == pytest.approx([0.02, 0.01, 0.02 / 3, 0.005])


def test_train_writes_them(tmp_path, monkeypatch, capsys):
    pytest.importorskip("tensorboard")
    from epignn.cli import main

    settings = [f"--set={text}" for text in ("data.per_label=8", "training.epochs=2", "model.dim=16")]
    command = ["train", "rcc8", "--out", f"{tmp_path}/run", "--track", f"tensorboard:{tmp_path}/curves", *settings]
    monkeypatch.setattr(sys, "argv", ["epignn", *command])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code, capsys.readouterr().err
    found = read_back(tmp_path / "curves" / "rcc8")
    assert [step for step, _ in found["loss"]] == [1, 2]
    best = max(value for _, value in found["validation accuracy"])
    assert f"accuracy {best:.4f} on validation" in capsys.readouterr().out


def test_links_have_curves_too(tmp_path, monkeypatch, capsys):
    pytest.importorskip("tensorboard")
    from epignn.cli import main

    side = family(0)
    (tmp_path / "family.tsv").write_text(lines(side.graph.facts, side.graph))
    command = ["train", f"{tmp_path}/family.tsv", "--out", f"{tmp_path}/run", "--set=training.epochs=2"]
    monkeypatch.setattr(sys, "argv", ["epignn", *command, "--track", f"tensorboard:{tmp_path}/curves"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code, capsys.readouterr().err
    (folder,) = (tmp_path / "curves").iterdir()
    found = read_back(folder)
    assert set(found) == {"loss", "validation hits@10_50", "heads a second", "learning rate"}


def test_without_the_package_the_error_tells_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(BadArgument, match=r"pip install 'epignn\[tensorboard\]'"), board(tmp_path):
        pass
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(BadArgument, match=r"pip install 'epignn\[mlflow\]'"), tracker("mlflow:x", "x", "y"):
        pass


def board(folder):
    return tracker(f"tensorboard:{folder}", "x", "y")


@pytest.mark.filterwarnings("ignore")
def test_the_same_curves_in_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # neither server nor data base is at hand
    address = f"file:{tmp_path}/runs"
    with tracker(f"mlflow:{address}", "accuracy", "graphs", "first") as report:
        for epoch in epochs(1, 3, 3):
            report(epoch)
    client = mlflow.MlflowClient(tracking_uri=address)
    (run,) = client.search_runs([client.get_experiment_by_name("epignn").experiment_id])
    assert (run.info.run_name, run.info.status) == ("first", "FINISHED")
    history = client.get_metric_history(run.info.run_id, "validation accuracy")
    assert [(one.step, one.value) for one in history] == [(1, 0.6), (2, 0.7), (3, pytest.approx(0.8))]


@pytest.mark.parametrize("where", ["tensorboard", "mlflow:", "nowhere:x"])
def test_what_is_no_tracker(where):
    with pytest.raises(EpignnError, match=r"a tracker is tensorboard:FOLDER|Unknown tracker 'nowhere'"):
        tracker(where, "x", "y")


def test_a_folder_that_cannot_be(tmp_path):
    pytest.importorskip("tensorboard")
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="cannot write to it"), board(tmp_path / "file" / "x"):
        pass
