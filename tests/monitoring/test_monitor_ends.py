"""When a fit ends, so does watching it: the training data are let go of, and stay out of pickles."""

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from oracles.problems import noisy_xor
from scipy import sparse

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.monitoring import Monitor, Trace, TrainingData, View

KINDS = [BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures]
X, Y = noisy_xor(2000, 0)
WIDE = np.hstack([X, np.zeros((2000, 30))])  # 512 kB


def estimator(kind: Any, monitor: Monitor | None) -> Any:
    return kind(gamma=1.0, budget=10, random_state=0, monitor=monitor)


class Views(Monitor):
    """Keeps what it sees, and counts its fits."""

    def __init__(self, fail: str = "") -> None:
        self.fail = fail
        self.begun = self.ended = 0

    def begin(self, data: TrainingData) -> None:
        self.views: list[View] = []
        self.rows = len(data)
        self.begun += 1
        self._maybe_fail("begin")

    def next_visit(self, visits: int) -> int:
        self._maybe_fail("next_visit")
        return visits + 500

    def observe(self, view: View) -> None:
        self._maybe_fail("observe")
        self.views.append(view)

    def end(self) -> None:
        self.ended += 1

    def _maybe_fail(self, where: str) -> None:
        if where == self.fail:
            raise KeyboardInterrupt


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_adds_its_lines_to_a_pickle_and_nothing_else(kind: Any, form: Any) -> None:
    plain = pickle.dumps(estimator(kind, None).fit(form(WIDE), Y))
    model = estimator(kind, Trace(500)).fit(form(WIDE), Y)
    watched = pickle.dumps(model)
    assert len(watched) < len(plain) + 1000 + 500 * len(model.monitor_)
    seen = pickle.loads(watched).monitor_
    np.testing.assert_array_equal(seen["primal"], model.monitor_["primal"])
    assert pickle.loads(watched).fit(form(WIDE), Y).monitor_["visits"].tolist() == (
        seen["visits"].tolist()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_keeps_no_data_alive(kind: Any) -> None:
    rows = WIDE.copy()
    model = estimator(kind, Trace(500)).fit(rows, Y)
    alive = weakref.ref(rows)
    del rows
    gc.collect()
    assert alive() is None
    assert len(model.monitor_)


@pytest.mark.parametrize("kind", KINDS)
def test_views_in_a_pickle_have_their_estimators_but_no_data(kind: Any) -> None:
    model = estimator(kind, Views()).fit(WIDE, Y)
    views, again = model.monitor_.views, pickle.loads(pickle.dumps(model)).monitor_.views
    beside = sum(view.alpha.nbytes for view in views if view.alpha is not None)
    assert len(pickle.dumps(model)) < beside + 20_000 * len(views) < beside + WIDE.nbytes
    assert len(again) == len(views) > 1
    for one, other in zip(views, again, strict=True):
        assert (one.visits, one.phase, len(one.model)) == (
            other.visits,
            other.phase,
            len(other.model),
        )
        if kind is not BudgetFeatures:
            np.testing.assert_array_equal(
                one.estimator().predict(WIDE), other.estimator().predict(WIDE)
            )
    if kind is BudgetOneClassSVM:
        values = again[-1].estimator().decision_function(WIDE)
        expected = model.decision_function(WIDE)
        np.testing.assert_allclose(values, expected, atol=1e-2 * abs(expected).max())


def test_views_do_not_see_later_fits() -> None:
    model = BudgetSVC(gamma=1.0, budget=10, random_state=0, monitor=Views())
    view = model.fit(X, np.where(Y > 0, "yes", "no")).monitor_.views[-1]
    before = view.estimator().predict(X)
    model.fit(X[:, ::-1], np.where(Y > 0, 3, 7))
    np.testing.assert_array_equal(view.estimator().predict(X), before)


@pytest.mark.parametrize(
    ("fail", "ended"), [("begin", 0), ("next_visit", 1), ("observe", 1), ("", 1)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_end_is_told_however_it_comes(kind: Any, fail: str, ended: int) -> None:
    told: list[Monitor] = []

    class Told(Views):
        def end(self) -> None:
            told.append(self)

    model = estimator(kind, Told(fail))
    if fail:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
    else:
        model.fit(X, Y)
    assert len(told) == ended
    assert model.monitor not in told  # but the copy of this fit


def test_the_end_is_told_when_the_fit_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Monitor] = []

    def end(trace: Trace) -> None:
        told.append(trace)

    def broken(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Trace, "end", end)
    monkeypatch.setattr(BudgetSVC, "_polish", broken)
    with pytest.raises(MemoryError):
        estimator(BudgetSVC, Trace()).fit(X, Y)
    assert len(told) == 1
    assert len(told[0]) > 0
