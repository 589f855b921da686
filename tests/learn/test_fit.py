"""Training, for both objectives: resumes to the same bits, keeps the best weights, stops when it diverges."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from epignn.calculus import load
from epignn.errors import BadArgument, BadFile
from epignn.learn import checkpoint
from epignn.learn.checkpoint import CALIBRATION, CONFIG, STATE, WEIGHTS, load_model, load_nested, read_history
from epignn.learn.checkpoint import save_tensors as save
from epignn.learn.config import Experiment, TrainConfig
from epignn.learn.evaluate import accuracy
from epignn.learn.fit import Diverged
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.learn.objectives.rank import Rank
from epignn.learn.run import train
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.ruled import RuledConfig
from epignn.tasks.star import Star, generated
from tests import links

pytestmark = pytest.mark.numeric
GRAPHS = Experiment(
    name="small",
    data=Star("star", "rcc8"),
    model=EpiGNNConfig(dim=16, facets=2, rounds="auto", self_message=False),
    objective=ClassifyConfig(loss="cross_entropy"),
    training=TrainConfig(epochs=6, batch_size=32, schedule="one_cycle", decay=0.01),
)
LINKS = links.experiment(schedule="one_cycle")
RULED = replace(LINKS, model=RuledConfig(dim=16, facets=4, rounds=3))
SIDE = links.family(0)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def split():
    return GRAPHS.data.divided((generated(load("rcc8"), 3, 2, 30, 1), None), 0)


@pytest.fixture
def run(split):
    """Run an experiment of either kind."""

    def start(experiment: Experiment, seed: int = 0, **options: object):
        if experiment.objective.kind == "rank":
            objective = Rank(experiment.objective, SIDE)
        else:
            prepare = EpiGNN.prepare
            objective = Classify(experiment.objective, *split, lambda data: prepare(data, experiment.model))
        return train(experiment, objective, seed=seed, **options)

    return start


def changed(experiment: Experiment, **training: object) -> Experiment:
    return replace(experiment, training=replace(experiment.training, **training))


class Killed(Exception):
    pass


def kill_after(epochs):
    def report(epoch):
        if epoch.number == epochs:
            raise Killed

    return report


@pytest.mark.parametrize("killed", [1, 4])
@pytest.mark.parametrize(
    ("base", "settings"),
    [
        (GRAPHS, {}),
        (GRAPHS, {"epochs": 2, "starts": 3}),
        (GRAPHS, {"average": 0.9, "clip": 1.0}),
        (GRAPHS, {"epochs": 2, "starts": 3, "average": 0.9, "schedule": "constant"}),
        (replace(GRAPHS, objective=ClassifyConfig(loss="margin")), {}),
        (LINKS, {}),
        (LINKS, {"epochs": 3, "starts": 2, "schedule": "constant"}),
        (LINKS, {"patience": 1, "schedule": "plateau", "learning_rate": 0.001}),
        (replace(LINKS, objective=replace(LINKS.objective, loss="margin", thin=0.5)), {}),
        (RULED, {"average": 0.9}),
    ],
)
def test_a_killed_run_resumes_to_the_same_bits(killed, base, settings, run, tmp_path):
    """On one processor, with as many threads and the same kernels: elsewhere sums round otherwise."""
    experiment = changed(base, **settings)
    run(experiment, seed=3, out=tmp_path / "whole")
    with pytest.raises(Killed):
        run(experiment, seed=3, out=tmp_path / "killed", report=kill_after(killed))
    seen = []
    run(experiment, seed=3, out=tmp_path / "killed", report=lambda e: seen.append(e.number))
    assert seen == list(range(killed + 1, 7))
    whole, resumed = (
        [{**entry, "seconds": 0, "cpu_seconds": 0} for entry in read_history(tmp_path / name)]
        for name in ("whole", "killed")
    )
    assert [entry["epoch"] for entry in whole] == list(range(1, 7))
    assert whole == resumed
    for name in (WEIGHTS, STATE):
        one, other = load_file(tmp_path / "whole" / name), load_file(tmp_path / "killed" / name)
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
    states = [load_nested(tmp_path / name / STATE) for name in ("whole", "killed")]
    assert states[0]["run"] == states[1]["run"]
    assert (tmp_path / "whole" / CALIBRATION).read_text() == (tmp_path / "killed" / CALIBRATION).read_text()


def test_a_run_that_resumes_does_not_count_again(run, tmp_path):
    told: list[str] = []
    with pytest.raises(Killed):
        run(RULED, out=tmp_path, report=kill_after(2), doing=lambda what, *_: told.append(what))
    assert told.count("counting") == 1
    run(RULED, out=tmp_path, doing=lambda what, *_: told.append(what))
    assert told.count("counting") == 1


def test_what_stays_as_it_is_is_not_written_again(run, tmp_path, monkeypatch):
    """The second of six epochs is best; the run is killed after the fourth. Rules are as large as there are any."""
    reached = iter([0.5, 0.9, 0.1, 0.2, 0.3, 0.4])
    monkeypatch.setattr(Rank, "validate", lambda self, model: next(reached))
    written = []
    monkeypatch.setattr(
        checkpoint, "save_tensors", lambda path, *rest: (written.append(path.name), save(path, *rest))
    )
    with pytest.raises(Killed):
        run(RULED, out=tmp_path, report=kill_after(4))
    assert written == [WEIGHTS, STATE, WEIGHTS, STATE, STATE, STATE]
    best, state = load_file(tmp_path / WEIGHTS), load_nested(tmp_path / STATE)
    assert {name for name in best if name not in state["best"]} == {n for n in best if n.startswith("rules.")}
    ended = run(RULED, out=tmp_path)
    assert [entry["validation"] for entry in ended.history] == [0.5, 0.9, 0.1, 0.2, 0.3, 0.4]
    for name, value in ended.trained.model.state_dict().items():
        torch.testing.assert_close(value, best[name], rtol=0, atol=0)


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_a_run_that_was_killed_after_its_last_epoch_is_finished(base, run, tmp_path):
    with pytest.raises(Killed):
        run(base, out=tmp_path, report=kill_after(6))
    assert not (tmp_path / CALIBRATION).exists()
    again = run(base, out=tmp_path)
    assert again.ended_before
    assert load_model(str(tmp_path)).temperature == pytest.approx(again.calibration.temperature)
    assert json.loads((tmp_path / CONFIG).read_text())["record"]["validation"] == again.best["validation"]


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_seeds_differ(base, run):
    first, second = (run(changed(base, epochs=1), seed=seed).trained.model.relation_RFK for seed in (1, 2))
    assert not torch.equal(first, second)


def test_of_several_starts_the_best_is_kept(run, split, tmp_path):
    once = changed(GRAPHS, epochs=2)
    run(once, out=tmp_path / "once")
    model = run(changed(once, starts=3), out=tmp_path / "thrice").trained.model
    told = [[(e["loss"], e["validation"]) for e in read_history(tmp_path / name)] for name in ("once", "thrice")]
    assert told[1][:2] == told[0]
    assert len(told[1]) == 6
    # Each start begins from scratch, with other values.
    assert len({told[1][epoch][0] for epoch in (0, 2, 4)}) == 3
    assert all(told[1][epoch][0] > told[1][epoch + 1][0] for epoch in (0, 2, 4))
    valid = EpiGNN.prepare(split[1], GRAPHS.model)
    assert accuracy(model, valid) == pytest.approx(max(validation for _, validation in told[1]))


def test_the_best_epoch_is_kept(run, split, tmp_path):
    epochs = []
    found = run(GRAPHS, out=tmp_path, report=epochs.append)
    best = max(epoch.validation for epoch in epochs)
    valid = EpiGNN.prepare(split[1], GRAPHS.model)
    assert found.best["validation"] == best
    for model in (found.trained, load_model(str(tmp_path)), load_model(str(tmp_path / WEIGHTS))):
        assert accuracy(model.model, valid) == pytest.approx(best)


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_every_step_is_told(base, run):
    """And what is done between and after them."""
    told: list[tuple[str, int, int]] = []
    found = run(changed(base, epochs=2), doing=lambda *now: told.append(now))
    steps = -(-len(found.objective) // base.training.batch_size)
    assert steps > 1
    for epoch in (1, 2):
        every = [(f"epoch {epoch}, step", step, steps) for step in range(1, steps + 1)]
        assert [now for now in told if now[0].startswith(f"epoch {epoch},")] == [
            *every,
            (f"epoch {epoch}, validating", 0, 1),
        ]
    assert told[-1][0] == "calibrating"


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_patience_ends_a_run(base, run, tmp_path):
    found = run(changed(base, epochs=60, patience=2, schedule="constant", learning_rate=0.1), out=tmp_path)
    values = [epoch["validation"] for epoch in found.history]
    assert len(values) < 60
    assert len(values) - 1 - values.index(max(values)) == 2


def test_patience_counts_in_each_start(run):
    """A start that begins worse than the best of the one before is not cut off at once."""
    found = run(changed(GRAPHS, epochs=8, starts=2, patience=3, schedule="constant"))
    second = [epoch for epoch in found.history if epoch["epoch"] > 8]
    assert len(second) >= 3


def test_without_validation_the_last_epoch_is_kept(split):
    nothing = split[1].select(slice(0))
    objective = Classify(GRAPHS.objective, split[0], nothing, lambda data: EpiGNN.prepare(data, GRAPHS.model))
    found = train(changed(GRAPHS, epochs=2), objective, seed=0)
    assert [epoch["validation"] for epoch in found.history] == [None, None]
    assert (found.best["epoch"], found.calibration) == (2, None)


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_divergence_stops_with_the_last_good_weights(base, run, tmp_path):
    run(changed(base, epochs=1), out=tmp_path / "good")
    with pytest.raises(Diverged, match=r"smaller training\.learning_rate"):
        run(changed(base, learning_rate=1e38, schedule="constant"), out=tmp_path / "wild")
    assert not (tmp_path / "wild" / WEIGHTS).exists()
    assert torch.isfinite(load_file(tmp_path / "good" / WEIGHTS)["relation_RFK"]).all()


@pytest.mark.parametrize("base", [GRAPHS, LINKS])
def test_another_run_in_the_folder_is_not_overwritten_and_the_difference_is_told(base, run, tmp_path):
    run(changed(base, epochs=1), out=tmp_path)
    with pytest.raises(BadArgument, match=r"holds another run \(seed: 0 there, 1 now\)"):
        run(changed(base, epochs=1), seed=1, out=tmp_path)
    with pytest.raises(BadArgument, match=r"holds another run \(training\.decay: .* there, 0\.5 now\)"):
        run(changed(base, epochs=2, decay=0.5), out=tmp_path)


def test_a_model_that_was_copied_without_its_state_is_not_overwritten(run, tmp_path):
    run(changed(GRAPHS, epochs=1), out=tmp_path)
    (tmp_path / STATE).unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(BadArgument, match=r"holds another run \(seed: 0 there, 1 now\)"):
        run(changed(GRAPHS, epochs=1), seed=1, out=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_more_epochs_extend_a_run_that_has_ended(run, tmp_path):
    """At a constant rate, to what as many epochs in one go give."""
    base = changed(LINKS, schedule="constant", epochs=2)
    run(base, out=tmp_path / "longer")
    seen = []
    longer = run(changed(base, epochs=5), out=tmp_path / "longer", report=lambda e: seen.append(e.number))
    assert (seen, longer.ended_before) == ([3, 4, 5], False)
    run(changed(base, epochs=5), out=tmp_path / "whole")
    one, other = (load_file(tmp_path / name / WEIGHTS) for name in ("longer", "whole"))
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert load_model(str(tmp_path / "longer")).experiment.training.epochs == 5
    assert run(changed(base, epochs=3), out=tmp_path / "longer").ended_before
    with pytest.raises(BadArgument, match=r"training\.epochs: 5 there, 6 now; training\.starts"):
        run(changed(base, epochs=6, starts=2), out=tmp_path / "longer")


def test_a_plateau_lowers_the_rate_twice_and_ends(run, tmp_path):
    found = run(changed(LINKS, epochs=200, patience=2, schedule="plateau"), out=tmp_path)
    rates = [epoch["learning_rate"] for epoch in read_history(tmp_path)]
    assert len(rates) < 200
    assert list(dict.fromkeys(rates)) == pytest.approx([0.05, 0.05 / 4, 0.05 / 16])
    assert not found.rising
    with pytest.raises(BadArgument, match="needs a patience"):
        changed(LINKS, schedule="plateau", patience=0)


@pytest.mark.parametrize(
    ("values", "rises"), [([0.1, 0.2, 0.3, 0.4], True), ([0.1, 0.4, 0.4, 0.404], False), ([0.1, 0.2], False)]
)
def test_still_improving(values, rises, run):
    found = run(changed(LINKS, epochs=1))
    history = [{"epoch": n, "validation": value} for n, value in enumerate(values, 1)]
    assert replace(found, history=history).rising == rises


def test_other_data_are_another_run(tmp_path):
    links.trained_on(SIDE, changed(LINKS, epochs=1), out=tmp_path)
    with pytest.raises(BadArgument, match="digest of the data"):
        links.trained_on(links.family(1), changed(LINKS, epochs=1), out=tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: (p / WEIGHTS).write_bytes(b"not weights"), "not a whole safetensors file"),
        (lambda p: (p / WEIGHTS).write_bytes((p / WEIGHTS).read_bytes()[:200]), "not a whole safetensors file"),
        (lambda p: (p / WEIGHTS).unlink(), "cannot read it"),
        (lambda p: (p / "config.json").write_text("{"), "not JSON"),
        (lambda p: (p / "config.json").write_text("{}"), "not the config of a model"),
        (lambda p: _facets(p, 4), "weights of another model"),
    ],
)
def test_corrupt_and_foreign_models(spoil, message, run, tmp_path):
    run(changed(GRAPHS, epochs=1), out=tmp_path)
    spoil(tmp_path)
    with pytest.raises(BadFile, match=message):
        load_model(str(tmp_path))


def _facets(folder, facets):
    path = folder / "config.json"
    document = json.loads(path.read_text())
    document["experiment"]["model"]["facets"] = facets
    path.write_text(json.dumps(document))


def test_a_cut_state_and_one_of_an_earlier_version_are_refused(run, tmp_path):
    run(changed(GRAPHS, epochs=1), out=tmp_path)
    state = tmp_path / STATE
    whole = state.read_bytes()
    state.write_bytes(whole[:100])
    with pytest.raises(BadFile, match="safetensors"):
        run(changed(GRAPHS, epochs=1), out=tmp_path)
    state.write_bytes((tmp_path / WEIGHTS).read_bytes())
    with pytest.raises(BadFile, match="earlier version"):
        run(changed(GRAPHS, epochs=1), out=tmp_path)


def test_the_learning_rate_of_one_cycle_rises_and_falls_and_resumes(run, tmp_path):
    rates = []
    run(changed(GRAPHS, epochs=10), report=lambda epoch: rates.append(epoch.rate))
    assert int(np.argmax(rates)) in (2, 3)
    assert max(rates) == pytest.approx(0.01, rel=0.05)
    assert rates[-1] < 1e-5
    with pytest.raises(Killed):
        run(changed(GRAPHS, epochs=10), out=tmp_path, report=kill_after(5))
    again = []
    run(changed(GRAPHS, epochs=10), out=tmp_path, report=lambda epoch: again.append(epoch.rate))
    assert again == rates[5:]
