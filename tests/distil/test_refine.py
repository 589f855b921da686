"""A model refined by its own calculus: set to it or taught by it, resumed to the same bits, refused where none."""

from dataclasses import replace

import pytest
import torch

from epignn.calculus import load
from epignn.calculus.toml import load_calculus
from epignn.data.dataset import Dataset
from epignn.data.kin_rules import ambiguous_by_rules
from epignn.distil.beside import EpiGNNWalks
from epignn.distil.learnt import distil_trained
from epignn.distil.refine import CALCULUS, RULES, TRAINING, refine, training_of
from epignn.errors import BadArgument, BadFile
from epignn.learn.calibrate import Calibration
from epignn.learn.checkpoint import STATE, WEIGHTS, load_model
from epignn.learn.evaluate import scores
from epignn.learn.objectives.classify import Classify
from epignn.learn.objectives.sets import Sets, SetsConfig
from epignn.models.epignn import EpiGNN
from epignn.tasks.families import walks
from epignn.tasks.star import generated
from tests.graphs import TRAINED

pytestmark = pytest.mark.numeric
QUICK = {
    "taught": True,
    "settings": SetsConfig(larger=2, expressions=1280),
    "training": replace(TRAINING, epochs=2),
}


@pytest.fixture(scope="module")
def small():
    """A trained model, as if it had been trained on fewer graphs, so that they are quickly made."""
    trained = load_model(str(TRAINED))
    experiment = replace(trained.experiment, data=replace(trained.experiment.data, per_label=20))
    return replace(trained, config=replace(trained.config, experiment=experiment))


def test_states_of_a_refined_model_are_nearer_to_their_sets(small, tmp_path):
    """By the true calculus, of which refining knows nothing but what the model had learnt."""
    settings, training = SetsConfig(larger=2, expressions=6400), replace(TRAINING, epochs=4)
    run = refine(small, tmp_path, taught=True, settings=settings, training=training)
    truth = Sets(SetsConfig(larger=0), load("rcc8"), EpiGNN.prepare)
    fresh = next(truth.batches(500, 99, 0))

    def far(model: EpiGNN) -> float:
        return truth.loss(model, fresh).item()

    assert far(run.trained.model) < 0.5 * far(small.model)
    assert load_calculus(tmp_path / CALCULUS).composition == load("rcc8").composition
    loaded = load_model(str(tmp_path))
    assert far(loaded.model) == far(run.trained.model)
    assert loaded.relations == small.relations


def test_it_resumes_to_the_same_bits(small, tmp_path):
    class Killed(Exception):
        pass

    def kill(epoch):
        raise Killed

    refine(small, tmp_path / "whole", **QUICK)
    with pytest.raises(Killed):
        refine(small, tmp_path / "killed", report=kill, **QUICK)
    refine(small, tmp_path / "killed", **QUICK)
    for file in (WEIGHTS, STATE):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "killed" / file).read_bytes()


@pytest.fixture
def kinship():
    """The shipped model of kinship, likewise."""
    trained = load_model("kinship")
    experiment = replace(trained.experiment, data=replace(trained.experiment.data, per_label=300))
    return replace(trained, config=replace(trained.config, experiment=experiment))


def test_longer_walks_teach_a_model_of_rules(kinship, tmp_path, monkeypatch):
    """Walks through families, of twice as many steps as it was trained on, become likelier."""
    monkeypatch.setattr("epignn.distil.refine.WALKS", 700)
    monkeypatch.setattr("epignn.distil.refine.LONGEST", 12)
    trained = kinship
    run = refine(trained, tmp_path, taught=True, training=replace(training_of(trained), epochs=2))
    graphs = walks(12, 100, 6)
    graphs = graphs.select(~ambiguous_by_rules(graphs))
    assert graphs.relations == trained.relations

    def far(model: EpiGNN) -> float:
        batch = EpiGNN.prepare(graphs, model.config)
        return torch.nn.functional.cross_entropy(model.scores(batch), batch.label).item()

    assert far(run.trained.model) < 0.8 * far(trained.model)
    assert far(load_model(str(tmp_path)).model) == far(run.trained.model)


def test_rules_beside_a_model_answer_long_walks(kinship, tmp_path):
    """Through families: walks that are read, of 10 steps, and those that rules reason about, of 40."""
    run = refine(kinship, tmp_path)
    loaded = load_model(str(tmp_path))
    assert run.calibration is not None and loaded.model.trust > 0
    assert (tmp_path / RULES).exists()
    for steps in (10, 40):
        graphs = walks(steps, 60, 6)
        graphs = graphs.select(~ambiguous_by_rules(graphs))
        right = [
            float((scores(m, type(m).prepare(graphs, m.config)).argmax(1) == graphs.label).mean())
            for m in (kinship.model, run.trained.model, loaded.model)
        ]
        assert right[1] == right[2] > max(0.95, right[0] - 1e-9), steps
    assert right[1] > right[0]
    before = (tmp_path / WEIGHTS).read_bytes()
    refine(kinship, tmp_path)
    assert (tmp_path / WEIGHTS).read_bytes() == before


def test_what_was_held_out_calibrates_rules_that_have_not_seen_it(kinship, tmp_path):
    """Though it may tell the rules that are kept."""
    steps: list[tuple[int, int]] = []
    run = refine(kinship, tmp_path, tables=lambda done, total: steps.append((done, total)))
    given, held = replace(kinship.experiment.data, augment=0).split(kinship.seed)
    config, trust = run.trained.model.config, float(run.trained.model.trust)

    def told_by(seen: Dataset) -> Calibration:
        rules = distil_trained(kinship, seen, "rules", "", lambda done, total: None).rules
        model = EpiGNNWalks.of(kinship.model, config, rules, trust).eval()
        settings = kinship.experiment.objective
        objective = Classify(settings, given, held, lambda data: EpiGNNWalks.prepare(data, config))
        with torch.no_grad():
            return objective.calibrate(model)

    assert run.calibration == told_by(given)
    assert run.calibration != told_by(Dataset.concat([given, held]))
    assert steps[-1] == (4, 4)


def test_what_is_no_calculus_is_refused(small, tmp_path):
    ignorant = EpiGNN(8, small.model.config)
    ignorant.load_state_dict({name: torch.zeros_like(value) for name, value in ignorant.state_dict().items()})
    with pytest.raises(BadArgument, match="no calculus that could refine it"):
        refine(replace(small, model=ignorant), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "device"), [("out", "none"), ("file/out", "cpu")])
def test_a_wrong_device_or_folder_is_refused_before_anything_is_done(small, tmp_path, name, device):
    (tmp_path / "file").touch()

    def done(*_):
        raise AssertionError

    with pytest.raises((BadArgument, BadFile), match=r"no device 'none'|cannot be a folder"):
        refine(small, tmp_path / name, device=device, tables=done)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_weights_set_to_the_calculus_answer_large_graphs(small, tmp_path):
    """Of 15 steps and 8 branches."""
    run = refine(small, tmp_path, settings=SetsConfig(larger=2))
    assert run.calibration is not None
    assert "validation" in run.trained.config.record
    loaded, graphs = load_model(str(tmp_path)), generated(load("rcc8"), 15, 8, 20, 5)
    assert loaded.relations == small.relations

    def right(model: EpiGNN) -> float:
        batch = EpiGNN.prepare(graphs, model.config)
        return float((scores(model, batch).argmax(1) == batch.label.numpy()).mean())

    assert right(loaded.model) == 1 > right(small.model)
    again = refine(small, tmp_path, settings=SetsConfig(larger=2))
    assert all(map(torch.equal, again.trained.model.parameters(), loaded.model.parameters()))


@pytest.mark.parametrize("state", [True, False])
@pytest.mark.parametrize("ways", [QUICK, {}], ids=["taught", "set"])
def test_the_folder_of_another_run_is_as_before(small, tmp_path, state, ways):
    """That of the model itself, say; one that was copied has no state."""
    refine(small, tmp_path, **QUICK)
    (tmp_path / CALCULUS).write_text("mine")
    if not state:
        (tmp_path / STATE).unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(BadArgument, match="holds another run"):
        refine(replace(small, config=replace(small.config, seed=7)), tmp_path, **ways)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
