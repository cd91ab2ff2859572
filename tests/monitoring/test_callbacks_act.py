"""What callbacks do in a fit: keep scores, end phase 1, fail, train machines themselves."""

import threading
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer
from tools.callbacks import (
    KINDS,
    NAMES,
    Recorder,
    ScoringMonitor,
    X,
    Y,
    machine,
    needs_callbacks,
    watch,
)

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.monitoring import _sklearn_callbacks

# ---- scores ----


@needs_callbacks
@pytest.mark.parametrize(
    ("kind", "scoring"),
    [(BudgetSVC, "accuracy"), (BudgetSVR, "r2"), (BudgetOneClassSVM, "roc_auc")],
)
def test_a_monitor_has_a_score_per_epoch(kind: type[BaseEstimator], scoring: str) -> None:
    monitor = ScoringMonitor(scoring=scoring)
    model = machine(kind).set_callbacks(monitor).fit(X, Y)
    log = monitor.get_logs().data
    scores = {name: [row[scoring] for row in log if row["task_name"] == name] for name in NAMES}
    assert {name: len(found) for name, found in scores.items()} == NAMES
    scorer = get_scorer(scoring)
    for i, score in enumerate(scores["epoch"]):
        plain = {"fit_intercept": True} if kind is BudgetSVR else {}  # as phase 1 before a polish
        expected = machine(kind, epochs=i + 1, polish=False, **plain).fit(X, Y)
        assert score == scorer(expected, X, Y)
    assert scores["fit"] == scores["polish"] == [scorer(model, X, Y)]


@needs_callbacks
def test_a_monitor_takes_weights_sparse_rows_and_data_frames() -> None:
    import pandas as pd

    weights = np.arange(len(X)) % 3.0  # some are zero
    for rows in (X, sparse.csr_array(X), pd.DataFrame(X, columns=["a", "b"])):
        for kind in (BudgetSVC, BudgetOneClassSVM):
            monitor = ScoringMonitor(scoring="accuracy")
            model = machine(kind).set_callbacks(monitor).fit(rows, Y, sample_weight=weights)
            scorer = get_scorer("accuracy")
            expected = scorer(model, rows, Y, sample_weight=weights)
            assert monitor.get_logs().data[0]["accuracy"] == pytest.approx(expected)


@needs_callbacks
def test_early_stopping_and_callbacks_at_once() -> None:
    parameters = {"early_stopping": True, "epochs": 50, "polish": False, "n_iter_no_change": 3}
    alone = machine(**parameters).fit(X, Y)
    model = machine(**parameters)
    recorder = watch(model)
    np.testing.assert_array_equal(model.validation_scores_, alone.validation_scores_)
    assert recorder.names("end").count("epoch") == model.n_iter_ == alone.n_iter_ < 50
    kept = next(call[3] for call in recorder.calls if call[:2] == ("end", "learn-terms"))
    np.testing.assert_array_equal(kept.dual_coef_, alone.dual_coef_)  # the best, not the last

    watch(model, recorder=Recorder(stop_after=2))
    np.testing.assert_array_equal(model.validation_scores_, alone.validation_scores_[:2])


# ---- stopping, errors ----


@needs_callbacks
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_a_callback_may_end_phase_one(solver: str) -> None:
    model = machine(solver=solver, epochs=30)
    recorder = watch(model, recorder=Recorder(stop_after=2))
    assert model.n_iter_ == 2
    assert recorder.names("end")[-3:] == ["learn-terms", "polish", "fit"]
    expected = machine(solver=solver, epochs=2).fit(X, Y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


@needs_callbacks
def test_a_callback_may_end_phase_one_in_the_trial() -> None:
    model = machine(epochs="auto", budget=12)  # the trial has 480 visits
    watch(model, recorder=Recorder(stop_after=1))
    assert [record["visits"] for record in model.history_] == [300]


@needs_callbacks
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("hook", ["setup", "begin", "end", "teardown"])
@pytest.mark.parametrize("task", ["fit", "learn-terms", "epoch", "polish"])
def test_an_error_leaves_nothing_behind(hook: str, task: str, error: type[BaseException]) -> None:
    if (hook in {"setup", "teardown"} and task != "fit") or (
        hook == "teardown" and error is KeyboardInterrupt
    ):
        return

    def fail(called: str, estimator: Any, context: Any) -> None:
        if (called, context.task_name) == (hook, task):
            raise error("of a callback")

    recorder, threads = Recorder(act=fail), threading.active_count()
    model = machine(verbose=0).set_callbacks(recorder)
    with pytest.raises(error, match="of a callback"):
        model.fit(X, Y)
    assert recorder.names("teardown") == ["fit"]
    assert _sklearn_callbacks._current.get() is None
    assert not {"_callback_fit_ctx", "_skl_callbacks_to_teardown"} & set(vars(model))
    assert threading.active_count() == threads
    again = model.set_callbacks().fit(X, Y)
    np.testing.assert_array_equal(again.dual_coef_, machine().fit(X, Y).dual_coef_)


@needs_callbacks
def test_bad_parameters_and_data_with_callbacks() -> None:
    recorder = Recorder()
    for model, data in (
        (machine(C=-1.0), (X, Y)),
        (machine(basis="nothing"), (X, Y)),
        (machine(), (X, Y[:5])),
    ):
        with pytest.raises(ValueError, match=r"C must|basis must|inconsistent"):
            model.set_callbacks(recorder).fit(*data)
    assert recorder.names("setup") == recorder.names("teardown") == ["fit"] * 3
    with pytest.raises(TypeError, match="argument"):
        machine().set_callbacks(recorder).fit(X)


@needs_callbacks
def test_warnings_still_point_at_the_users_line() -> None:
    for kind in KINDS:
        model = machine(kind, tol=1e-9, max_passes=1).set_callbacks(Recorder())
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, Y)
        assert caught[0].filename == __file__


@needs_callbacks
def test_a_hook_may_train_machines_itself() -> None:
    def train(hook: str, estimator: Any, context: Any) -> None:
        if context.task_name == "epoch":
            machine(epochs=1).fit(X, Y)
            clone(estimator).set_callbacks(other).fit(X, Y)

    recorder, other = Recorder(act=train), Recorder()
    model = machine()
    watch(model, recorder=recorder)
    assert recorder.names() == watch(machine()).names()
    assert other.names("teardown") == ["fit"] * 6
    np.testing.assert_array_equal(model.dual_coef_, machine().fit(X, Y).dual_coef_)
