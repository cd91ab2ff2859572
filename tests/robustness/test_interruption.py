"""A call that fails, whatever the reason, leaves the estimator as it was before the call."""

from typing import Any

import numpy as np
import pytest
from sequences.checks import snapshot
from sequences.runs import SUBJECTS, Data, Fault, PythonKernel, Run
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from budgetsvm import BudgetSVC

MACHINES = [subject for subject in SUBJECTS if subject != "features"]
OLD, NEW = Data(n=60, d=2), Data(n=80, d=2, seed=3, names=1, shift=2.0)
#: In phase 1, in the polish, and between them, wherever that is.
PLACES = [("core", n) for n in (1, 2, 4, 8, 16)] + [("line", 20 * 3**n) for n in range(6)]
WATCHED = [("monitor", n) for n in (1, 2, 4, 8)]


def _run(subject: str, **parameters: Any) -> Run:
    run = Run(subject, budget=10, n_jobs=1, random_state=0)
    run.set_params(reservoir=500, **parameters)
    return run


@pytest.mark.parametrize("place", PLACES + WATCHED)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_first_fit_leaves_nothing(subject: str, place: Any) -> None:
    run = _run(subject)
    run.fit(NEW, fault=Fault(*place))
    if not run.succeeded:
        with pytest.raises(NotFittedError):
            (run.model.transform if subject == "features" else run.model.predict)(NEW.rows())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("place", PLACES + WATCHED)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_refit_leaves_the_model(subject: str, place: Any, warm_start: bool) -> None:
    run = _run(subject, warm_start=warm_start)
    run.fit(OLD)
    run.fit(NEW, fault=Fault(*place))  # the run compares, bit for bit
    run.set_params(gamma=0.7)
    run.fit(OLD, fault=Fault(*place))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("call", ["partial_fit", "polish_now", "fit_stream"])
@pytest.mark.parametrize("subject", MACHINES)
def test_a_stream_leaves_the_model(subject: str, call: str, place: Any) -> None:
    run, data = _run(subject), Data(n=50, d=2, seed=4)
    run.partial_fit(OLD)
    match call:
        case "partial_fit":
            run.partial_fit(data, fault=Fault(*place))
        case "polish_now":
            run.polish_now(fault=Fault(*place))
        case "fit_stream":
            run.fit_stream(NEW, data, fault=Fault(*place))
    if run.succeeded:
        return
    run.polish_now()  # on as many rows as were learned
    assert run.succeeded


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("subject", MACHINES)
def test_blocks_that_fail_leave_the_model(subject: str, count: int) -> None:
    run = _run(subject)
    run.fit_stream(NEW, NEW, NEW, fault=Fault("blocks", count))
    assert not hasattr(run.model, "support_vectors_")
    run.fit(OLD)
    run.fit_stream(NEW, NEW, NEW, fault=Fault("blocks", count))
    assert not run.succeeded


@pytest.mark.parametrize("count", [1, 30, 300])
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_kernel_that_fails_leaves_the_model(subject: str, call: str, count: int) -> None:
    run = _run(subject, kernel=PythonKernel(0.5), maintenance="remove")
    getattr(run, call)(OLD)
    getattr(run, call)(Data(n=60, d=2, seed=5), fault=Fault("kernel", count, interrupt=False))


# ---- errors by themselves ----


def _bad_calls(X: Any, y: Any) -> dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]]:
    negative, wrong = np.full(len(X), -1.0), np.full_like(X, np.nan)
    return {
        "negative weights": ("fit", (X, y), {"sample_weight": negative}),
        "no weight at all": ("fit", (X, y), {"sample_weight": 0 * negative}),
        "NaN": ("fit", (wrong, y), {}),
        "infinity": ("partial_fit", (np.full_like(X, np.inf), y), {}),
        "negative weights in a stream": ("partial_fit", (X, y), {"sample_weight": negative}),
        "other features in a stream": ("fit_stream", ([(X, y), (X[:, :1], y)],), {}),
        "a stream of nothing": ("fit_stream", ([],), {}),
        "a stream with a bad block": ("fit_stream", ([(X, y), (wrong, y)],), {}),
    }


@pytest.mark.parametrize("bad", _bad_calls(np.ones((2, 2)), None))
@pytest.mark.parametrize("before", ["unfitted", "fit", "partial_fit"])
@pytest.mark.parametrize("subject", MACHINES)
def test_bad_data_leave_the_model(subject: str, before: str, bad: str) -> None:
    model = SUBJECTS[subject](budget=10, n_jobs=1, random_state=0)
    if before != "unfitted":
        getattr(model, before)(OLD.rows(), OLD.targets(subject))
    state = snapshot(model)
    name, arguments, named = _bad_calls(NEW.rows(), NEW.targets(subject))[bad]
    with pytest.raises(ValueError, match=r"\w"):
        getattr(model, name)(*arguments, **named)
    assert snapshot(model) == state


def test_the_old_model_keeps_its_labels() -> None:
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = BudgetSVC(budget=20, gamma=2.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="weight"):
        model.fit(X, np.where(y == 1, "yes", "no"), sample_weight=-np.ones(200))
    assert set(model.predict(X)) == {0, 1}


@pytest.mark.parametrize("bad", [{"budget": 0}, {"tol": -1.0}, {"kernel": "laplacian"}])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_bad_parameters_leave_the_model(subject: str, bad: dict[str, Any]) -> None:
    run = _run(subject)
    run.fit(OLD)
    run.set_params(**bad)
    run.fit(NEW)
    run.partial_fit(NEW)
