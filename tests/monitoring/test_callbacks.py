"""scikit-learn's callbacks watch a fit: what they hear, and the machines that they see."""

import pickle
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs, noisy_xor
from sklearn.base import BaseEstimator
from tools.callbacks import KINDS, Recorder, X, Y, machine, needs_callbacks, watch

# ---- what callbacks hear ----


@needs_callbacks
@pytest.mark.parametrize("kind", KINDS)
def test_hooks_come_in_order(kind: type[BaseEstimator]) -> None:
    recorder = watch(machine(kind))
    epochs = [(hook, "epoch", i) for i in range(3) for hook in ("begin", "end")]
    assert [call[:3] for call in recorder.calls] == [
        ("setup", "fit", 0),
        ("begin", "fit", 0),
        ("begin", "learn-terms", 0),
        *epochs,
        ("end", "learn-terms", 0),
        ("begin", "polish", 1),
        ("end", "polish", 1),
        ("end", "fit", 0),
        ("teardown", "fit", 0),
    ]


@needs_callbacks
@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"polish": False}, ["learn-terms"]),
        ({"budget": None}, ["learn-terms"]),
        ({"basis": "random"}, ["polish"]),
        ({"basis": X[:5]}, ["polish"]),
        ({"budget": 1000}, ["polish"]),  # all rows become terms
        ({"epochs": 2.5, "solver": "bsgd"}, ["learn-terms", "polish"]),
        ({"epochs": "auto", "budget": 2}, ["learn-terms", "polish"]),  # with a trial
        ({"early_stopping": True, "epochs": 30}, ["learn-terms", "polish"]),
    ],
)
def test_phases_and_epochs_are_those_of_the_fit(
    parameters: dict[str, Any], parts: list[str]
) -> None:
    model = machine(**parameters)
    recorder = watch(model)
    ended = recorder.names("end")
    assert [name for name in ended if name != "epoch"] == [*parts, "fit"]
    assert ended.count("epoch") == recorder.names("begin").count("epoch") == model.n_iter_


@needs_callbacks
@pytest.mark.parametrize(
    "parameters",
    [
        {"epochs": "auto", "budget": 2},
        {"epochs": "auto", "budget": 7},
        {"epochs": 2.5, "polish": False},
        {"epochs": 2, "budget": None},
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_number_of_epochs_is_known_in_advance(parameters: dict[str, Any], classes: int) -> None:
    expected = []
    recorder = Recorder(act=lambda _, __, context: expected.append(context.max_subtasks))
    rows = np.random.default_rng(0).standard_normal((300, 2))
    labels = np.floor((rows[:, 0] + rows[:, 1] ** 2) % classes)
    model = machine(C=100.0, **parameters)  # so much that no epoch leaves all as it is
    watch(model, rows, labels, recorder=recorder)
    learning = [call[:2] for call in recorder.calls].index(("begin", "learn-terms"))
    alone = classes if classes > 2 and model.budget is None else 1  # trained one after the other
    assert expected[learning] == alone * model.n_iter_
    assert expected[0] == 1 + (model.polish and model.budget is not None)


@needs_callbacks
def test_hooks_are_told_the_data_as_given() -> None:
    recorder, weights = Recorder(), np.linspace(0.5, 2, len(X))
    rows = X.tolist()
    watch(machine(), rows, Y, weights, recorder=recorder)
    for told in recorder.told:
        assert told["X"] is rows
        assert told["y"] is Y
        assert told["metadata"]["sample_weight"] is weights
    machine().set_callbacks(other := Recorder()).fit(y=Y, X=X)
    for told in other.told:
        assert told["X"] is X
        assert told["y"] is Y
        assert told["metadata"] is None


@needs_callbacks
def test_a_warm_start_that_only_polishes() -> None:
    model = machine(warm_start=True).fit(X, Y)
    recorder = watch(model.set_params(C=2.0))
    assert recorder.names("end") == ["polish", "fit"]
    assert recorder.calls[2][:2] == ("begin", "polish")
    assert recorder.calls[2][3].score(X, Y) > 0.8  # the machine of the fit before


# ---- the machine that they see ----


@needs_callbacks
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_machines_are_as_if_fit_had_ended_there(kind: type[BaseEstimator], solver: str) -> None:
    model = machine(kind, solver=solver, polish=False)
    seen = [call for call in watch(model).calls if call[1] == "epoch"]
    assert len(seen) == 6
    assert seen[0][3] is None  # there is no model before the first epoch
    for hook, _, number, fitted in seen[1:]:
        epochs = number + (hook == "end")
        expected = machine(kind, solver=solver, polish=False, epochs=epochs).fit(X, Y)
        np.testing.assert_array_equal(fitted.support_vectors_, expected.support_vectors_)
        np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))
        np.testing.assert_array_equal(fitted.dual_coef_, expected.dual_coef_)
        np.testing.assert_array_equal(fitted.intercept_, expected.intercept_)
        assert fitted.n_iter_ == len(fitted.history_) == epochs
        assert fitted is not model


@needs_callbacks
@pytest.mark.parametrize("kind", KINDS)
def test_the_last_machines_are_the_result(kind: type[BaseEstimator]) -> None:
    model = machine(kind)
    calls = watch(model).calls
    for _, name, _, fitted in calls[-4:-1]:
        assert name in {"polish", "fit"}
        if (name, fitted) != ("polish", calls[-4][3]):  # which is before the polish
            np.testing.assert_array_equal(fitted.predict(X), model.predict(X))
            assert fitted.duality_gap_ == model.duality_gap_


@needs_callbacks
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
def test_machines_of_several_classes_and_of_a_trial(solver: str) -> None:
    rows, labels = noisy_xor(300, 1)
    labels = labels + 2 * (rows[:, 0] > 1)
    for y in (labels, labels > 0):
        model, last = machine(solver=solver, budget=3, epochs="auto", fit_intercept=True), None
        for hook, name, _, fitted in watch(model, rows, y).calls:
            if name != "epoch" or fitted is None:
                continue
            assert np.isfinite(fitted.decision_function(rows)).all()
            assert fitted.score(rows, y) > 0.2
            if hook == "begin" and last is not None:
                np.testing.assert_allclose(fitted.dual_coef_, last.dual_coef_)
                np.testing.assert_allclose(fitted.intercept_, last.intercept_)
            last = fitted


@needs_callbacks
def test_without_a_budget_several_classes_have_no_machine_before_the_end() -> None:
    rows, labels = blobs(90, 2, 0)
    labels = np.arange(90) % 3
    model = machine(budget=None)
    calls = watch(model, rows, labels).calls
    assert {fitted for _, name, _, fitted in calls if name == "epoch"} == {None}
    # every class has epochs of its own
    assert [name for hook, name, *_ in calls if hook == "end"].count("epoch") == 3 * model.n_iter_
    last = calls[-2][3]
    np.testing.assert_array_equal(last.predict(rows), model.predict(rows))


@needs_callbacks
def test_machines_stay_what_they_were() -> None:
    values = {}

    def note(hook: str, estimator: Any, context: Any) -> None:
        fitted = recorder.calls[-1][3]
        if fitted is not None:
            values[id(fitted)] = fitted.decision_function(X)

    recorder = Recorder(act=note)
    watch(machine(solver="bsgd"), recorder=recorder)
    fitted = [call[3] for call in recorder.calls if call[3] is not None]
    assert len(fitted) == len(values) > 8
    for one in fitted:
        np.testing.assert_array_equal(one.decision_function(X), values[id(one)])


@needs_callbacks
def test_machines_can_be_pickled_in_a_hook_without_the_data() -> None:
    sizes = []

    def store(hook: str, estimator: Any, context: Any) -> None:
        fitted = recorder.calls.pop()[3]
        for one in (estimator, fitted):
            sizes.append(len(pickle.dumps(one)))

    recorder = Recorder(act=store)
    rows, labels = noisy_xor(5000, 0)
    watch(machine(), rows, labels, recorder=recorder)
    assert len(sizes) > 10
    assert max(sizes) < rows.nbytes / 4
