"""A search of settings: Optuna proposes, workers train, validation judges; test data play no part.

The study is a journal file. A search that was killed goes on with the trials that it was at; other processes may
join it. Trials are proposed some at a time, as many whoever runs them, so that the number of workers does not
change which settings are tried.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from epignn.errors import BadFile
from epignn.extras import optional
from epignn.files import foreign, make_folder
from epignn.locks import only_one, try_lock
from epignn.report.space import Space, Tried
from epignn.report.trial import Trial, run_trial
from epignn.workers import Here, Workers, run

Say = Callable[[str], None]
Result = dict[str, Any]
JOURNAL, STUDY = "study.journal", "sweep"
AT_ONCE = 4
"""Trials that are proposed together."""


@dataclass(frozen=True, eq=False)
class Search:
    """A search that has ended.

    Attributes:
        space: what was searched.
        recipe: the experiment as it is.
        trials: all others, by number: `settings`, `validation`, `ended` and what `run_trial` tells.
        failed: why trials failed, in sentences.
        study: Optuna's own.
    """

    space: Space
    recipe: Result
    trials: list[Result]
    failed: list[str]
    study: Any

    @property
    def best(self) -> Result:
        """The trial of the best validation, the earliest among equals; the recipe, if nothing is better."""
        return max([self.recipe, *self.trials], key=lambda trial: (trial["validation"], -trial["number"]))


def sweep(
    space: Space,
    *,
    trials: int,
    seed: int,
    out: Path,
    workers: Workers | None = None,
    say: Say = lambda text: None,
    code: Sequence[Path] = (),
    at_once: int = AT_ONCE,
    track: str = "",
    report: Callable[[int, int], None] | None = None,
) -> Search:
    """Search a space until its study has so many trials beside the recipe.

    Args:
        space: what is tried.
        trials: how many settings, over all calls and all processes that take part.
        seed: of proposals and of runs.
        out: the folder of the journal.
        workers: who trains.
        say: called with what goes on.
        code: files that models are classes of.
        at_once: trials that are proposed together.
        track: where the curves of trials go, as `epignn.learn.track.tracker` takes it.
        report: called with trials done and trials in all.

    Raises:
        BadFile: the folder holds a study of something else.
    """
    optuna = optional("optuna", "a search of settings")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    make_folder(out)
    them, files = workers or Here(), tuple(code)
    study = _study(optuna, out / JOURNAL, {"space": space.to_dict(), "seed": seed})
    plain = Trial("the recipe", space.experiment, space.settings, space.share, space.judges, seed, files, track)
    driver, failed = f"{os.uname().nodename}-{os.getpid()}-{os.urandom(4).hex()}", []
    with ExitStack() as stack:
        stack.enter_context(only_one(out, "sweep", _lock(driver)))
        while True:
            numbers = _abandoned(study, out) or _asked(optuna, study, space, trials, seed, at_once, driver)
            jobs = [_job(study, plain, number, at_once) for number in numbers]
            needs_recipe = "recipe" not in study.user_attrs
            if not jobs and not needs_recipe:
                break

            def take(place: int, result: Result, asked: Sequence[int] = numbers) -> None:
                _tell(optuna, study, asked, place, result)
                say(f"{_about(asked, place, trials)}: {result['validation']:.4f}, {result['cpu_seconds']:.0f} s")
                if report:
                    report(sum(trial.state.is_finished() for trial in study.trials), trials)

            found = run(them, run_trial, [*jobs, *([plain] if needs_recipe else [])], tell=say, take=take)
            for failure in found.failures:
                failed.append(failure.text)
                if failure.number < len(numbers):
                    study.tell(numbers[failure.number], state=optuna.trial.TrialState.FAIL)
                else:
                    found.check("trials")
    ended = [trial for trial in study.trials if "result" in trial.user_attrs]
    told = [{"number": t.number, "settings": settings_of(t.params), **t.user_attrs["result"]} for t in ended]
    recipe = {"number": -1, "settings": [], **study.user_attrs["recipe"]}
    return Search(space, recipe, told, failed, study)


def _study(optuna: Any, path: Path, about: dict[str, Any]) -> Any:
    """The study of a journal, made if it is not there."""
    with foreign(str(path), "the journal of a study"):  # which others write to, and which may be cut
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        study = optuna.create_study(
            storage=optuna.storages.JournalStorage(backend),
            study_name=STUDY,
            direction="maximize",
            load_if_exists=True,
        )
    if study.user_attrs.get("about", about) != about:
        raise BadFile("it holds the study of another space or seed: choose another folder.", str(path.parent))
    study.set_user_attr("about", about)
    return study


def _asked(optuna: Any, study: Any, space: Space, trials: int, seed: int, at_once: int, driver: str) -> list[int]:
    """Propose further trials: those that are missing of a group of `at_once`."""
    distributions = {key: _distribution(optuna, tried) for key, tried in space.tried.items()}
    count, numbers = len(study.trials), []
    for number in range(count, min(trials, (count // at_once + 1) * at_once)):
        # Its own generator for each, so that a search that goes on proposes what it would have proposed.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.sampler = optuna.samplers.TPESampler(seed=seed * 1_000_003 + number, constant_liar=True)
        trial = study.ask(distributions)
        trial.set_user_attr("driver", driver)
        numbers.append(trial.number)
    return numbers


def _distribution(optuna: Any, tried: Tried) -> Any:
    kinds = optuna.distributions
    if isinstance(tried, tuple):
        return kinds.CategoricalDistribution(tried)
    if tried.whole:
        return kinds.IntDistribution(tried.low, tried.high, log=tried.log, step=tried.step or 1)
    return kinds.FloatDistribution(tried.low, tried.high, log=tried.log, step=tried.step)


def _abandoned(study: Any, out: Path) -> list[int]:
    """Trials that a process was at when it was killed."""
    running = [trial for trial in study.trials if not trial.state.is_finished()]
    return [trial.number for trial in running if not _lives(out / _lock(trial.user_attrs.get("driver", "")))]


def _lock(driver: str) -> str:
    return f".epignn-{driver}.lock"


def _lives(path: Path) -> bool:
    """Whether a process holds a lock."""
    if not path.exists():
        return False
    handle = os.open(path, os.O_RDWR)
    try:
        return not try_lock(handle)
    finally:
        os.close(handle)


def _job(study: Any, plain: Trial, number: int, at_once: int) -> Trial:
    """What is trained for a trial; those of earlier groups tell when to give it up."""
    before = study.trials[: number // at_once * at_once]
    others = tuple(tuple(t.user_attrs["result"]["curve"]) for t in before if "result" in t.user_attrs)
    settings = (*plain.settings, *settings_of(study.trials[number].params))
    return replace(plain, about=f"trial {number + 1}", settings=settings, others=others)


def settings_of(params: dict[str, Any]) -> list[str]:
    """The values of a trial, as `--set` takes them."""
    return [f"{key}={value}" for key, value in params.items()]


def _about(numbers: Sequence[int], place: int, trials: int) -> str:
    return f"trial {numbers[place] + 1} of {trials}" if place < len(numbers) else "the recipe"


def _tell(optuna: Any, study: Any, numbers: Sequence[int], place: int, result: Result) -> None:
    """Write a result to the journal."""
    if place == len(numbers):
        study.set_user_attr("recipe", result)
        return
    state = optuna.trial.TrialState
    trial = optuna.trial.Trial(
        study, study.trials[numbers[place]]._trial_id
    )  # the only way to one of a dead process
    trial.set_user_attr("result", result)
    for step, value in enumerate(result["curve"]):
        trial.report(value, step)
    if result["ended"] == "pruned":
        study.tell(numbers[place], state=state.PRUNED)
    else:
        study.tell(numbers[place], result["validation"])
