"""Monitors see what happens, and change nothing; a trace's numbers are right, or have an honest error bar."""

import csv
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.problems import moons
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.maintenance import Merge
from budgetsvm.monitoring import Monitor, Trace, TrainingData, View, plot_trace
from budgetsvm.solvers import BSCA

GAMMA, C = 2.0, 5.0
X, Y = moons(400, 0, noise=0.3)
SIGNS = np.where(np.unique(Y)[1] == Y, 1.0, -1.0)
KERNEL = rbf_kernel(X, gamma=GAMMA)


def machine(**parameters: Any) -> BudgetSVC:
    given = {"gamma": GAMMA, "budget": 25, "random_state": 0, "precision": "double"}
    return BudgetSVC(**{"C": C, **given, **parameters})


class Views(Monitor):
    """Keeps everything."""

    def __init__(self, every: int, *, aligned: bool = True, sleep: float = 0.0) -> None:
        self.every = every
        self.aligned = aligned
        self.sleep = sleep

    def begin(self, data: TrainingData) -> None:
        self.n = len(data)
        self.views: list[View] = []

    def next_visit(self, visits: int) -> int:
        return visits + self.every

    def observe(self, view: View) -> None:
        time.sleep(self.sleep)
        self.views.append(view)


class Broken(Views):
    def observe(self, view: View) -> None:
        raise RuntimeError(f"broken monitor at {view.visits}")


def primal(model: Any) -> float:
    """P, from its definition."""
    coef, points = model.dual_coef_[0], model.support_vectors_
    loss = np.maximum(0, 1 - SIGNS * model.decision_function(X)).sum()
    norm = coef @ rbf_kernel(points, gamma=GAMMA) @ coef
    return float(0.5 * norm + C * loss)


def dual(alpha: np.ndarray, *, intercept: bool = False) -> float:
    """D, from its definition; with a bias, of a feasible point: the first rows of the heavier side give way."""
    weights = alpha * SIGNS
    excess = weights.sum() if intercept else 0.0
    for i in np.flatnonzero(weights * excess > 0):
        less = np.sign(excess) * min(abs(excess), abs(weights[i]))
        weights[i], excess = weights[i] - less, excess - less
    return float(abs(weights).sum() - 0.5 * weights @ KERNEL @ weights)


# ---- what a monitor gets to see ----


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"polish": False, "epochs": 3},
        {"polish": False, "solver": "bsgd", "epochs": 3},
        {"polish": False, "budget": None, "epochs": 3},
        {"polish": False, "maintenance": Merge(search="golden", partners="same-sign")},
        {"polish": False, "solver": BSCA("uniform"), "epochs": 2.5},
        {"precision": "single", "budget": 60},
        {"early_stopping": True, "epochs": 5},
        {"basis": "random"},
        {"loss": "logistic"},
    ],
    ids=str,
)
def test_watching_changes_nothing(parameters: dict[str, Any]) -> None:
    plain = machine(**parameters).fit(X, Y)
    watched = machine(**parameters, monitor=Trace(70, X_test=X, y_test=Y)).fit(X, Y)
    np.testing.assert_array_equal(watched.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(watched.support_vectors_, plain.support_vectors_)
    assert len(watched.monitor_) > 1
    assert watched.monitor_["score"][-1] == plain.score(X, Y)


def test_watching_a_projection_changes_rounding_only() -> None:
    """It keeps a decomposition from visit to visit, which is made anew where calls of the core begin."""
    parameters = {"polish": False, "maintenance": "project", "monitor": Trace(70)}
    watched = machine(**parameters).fit(X, Y)
    plain = machine(**{**parameters, "monitor": None}).fit(X, Y)
    values = plain.decision_function(X)
    np.testing.assert_allclose(watched.decision_function(X), values, atol=1e-4)


def test_every_visit_can_be_seen() -> None:
    model = machine(polish=False, epochs=1, monitor=Views(1, aligned=False)).fit(X, Y)
    views = model.monitor_.views
    assert [view.visits for view in views] == list(range(1, len(X) + 1))
    before = np.zeros(len(X))
    for view in views:  # a visit changes one variable at most, and only then the model
        changed = np.flatnonzero(view.alpha != before)
        assert len(changed) <= 1
        before = view.alpha
    steps = np.diff([view.steps for view in views], prepend=0)
    assert set(steps) <= {0, 1}
    assert views[-1].steps == model.history_[0]["steps"]
    assert views[-1].merges == model.history_[0]["merges"]
    np.testing.assert_array_equal(views[-1].points, model.support_vectors_)


def test_counts_agree_with_the_history() -> None:
    model = machine(polish=False, epochs=4, monitor=Views(150)).fit(X, Y)
    last = model.monitor_.views[-1]
    for name in ("steps", "violations", "merges", "degradation"):
        assert getattr(last, name) == pytest.approx(sum(r[name] for r in model.history_))
    assert last.visits == 4 * len(X)


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures])
def test_any_estimator_can_be_watched(kind: Any) -> None:
    model = kind(gamma=GAMMA, budget=20, random_state=0, monitor=Trace(100, X_test=X, y_test=Y))
    trace = model.fit(X, Y).monitor_
    assert (trace["visits"] > 0).all()
    assert np.isfinite(trace["primal"]).all()
    if kind is not BudgetFeatures:
        assert trace["phase"][-1] == "polish"
    if kind is BudgetSVR:
        assert trace["score"][-1] == pytest.approx(model.score(X, Y))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR])
def test_the_last_look_is_at_the_model_that_is_kept(kind: Any, seed: int) -> None:
    """Also where its bias was settled at the end, and P does not mind."""
    model = kind(gamma=GAMMA, budget=20, random_state=seed, monitor=Trace(100, X_test=X, y_test=Y))
    trace = model.fit(X, Y).monitor_
    assert trace["score"][-1] == pytest.approx(model.score(X, Y))
    assert trace["primal"][-1] == pytest.approx(model.objective_[0])


def test_a_view_can_predict_as_if_the_fit_were_over() -> None:
    model = BudgetOneClassSVM(gamma=GAMMA, nu=0.2, budget=20, random_state=0, monitor=Views(100))
    model.fit(X)
    last = model.monitor_.views[-1].estimator()
    np.testing.assert_allclose(last.decision_function(X), model.decision_function(X), atol=1e-3)
    assert "_watcher" not in vars(last)


@pytest.mark.slow
def test_time_of_monitors_does_not_count() -> None:
    model = machine(epochs=2, time_limit=1.0, monitor=Views(100, sleep=0.2))
    started = time.perf_counter()
    model.fit(X, Y)
    slept = 0.2 * len(model.monitor_.views)
    assert time.perf_counter() - started >= slept > 1.0
    assert model.converged_
    assert model.monitor_.views[-1].seconds <= time.perf_counter() - started - slept + 0.2
    assert sum(record["seconds"] for record in model.history_) < slept


def test_a_monitor_that_raises_ends_the_fit_and_nothing_else() -> None:
    model = machine(monitor=Broken(100))
    with pytest.raises(RuntimeError, match="broken monitor"):
        model.fit(X, Y)
    assert "_watcher" not in vars(model)
    assert not hasattr(model.set_params(monitor=None).fit(X, Y), "monitor_")


def test_fits_do_not_share_what_was_seen() -> None:
    trace = Trace()
    first, second = (machine(monitor=trace, C=c).fit(X, Y).monitor_ for c in (1.0, 2.0))
    assert len(trace) == 0
    assert first["primal"][-1] != second["primal"][-1]


def test_copies_pickles_and_searches() -> None:
    model = machine(monitor=Trace(100, X_test=X, y_test=Y))
    assert isinstance(clone(model).monitor, Trace)
    model.fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.monitor_["primal"], model.monitor_["primal"])
    search = GridSearchCV(model, {"C": [1, 5]}, cv=2).fit(X, Y)
    assert len(search.best_estimator_.monitor_)
    assert "monitor=Trace(every=100)" in repr(model)


# ---- the numbers of a trace ----


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("budget", [25, None])
def test_objectives_are_those_of_the_definition(
    form: Any, intercept: bool, solver: str, budget: int | None
) -> None:
    options = {"solver": solver, "budget": budget, "fit_intercept": intercept, "epochs": 2}
    trace = Trace(100, objectives=("primal", "dual", "departure"))
    model = machine(polish=False, monitor=trace, **options).fit(form(X), Y)
    views = machine(polish=False, monitor=Views(10**6), **options).fit(form(X), Y).monitor_.views
    last = model.monitor_.observations[-1]
    assert last.primal == pytest.approx(primal(model), rel=1e-9)
    assert last.dual == pytest.approx(dual(views[-1].alpha, intercept=intercept), rel=1e-9)
    coef, points = (
        views[-1].coef[0],
        np.asarray(
            views[-1].points.todense() if sparse.issparse(views[-1].points) else views[-1].points
        ),
    )
    apart = rbf_kernel(X, points, gamma=GAMMA) @ coef - KERNEL @ (views[-1].alpha * SIGNS)
    assert last.departure == pytest.approx((apart**2).sum(), rel=1e-9, abs=1e-12)
    assert last.primal_error == last.dual_error == last.departure_error == 0
    if budget is None and solver == "bsca" and not intercept:  # the model is that of α
        assert np.diff(model.monitor_["dual"]).min() > 0


def test_estimates_have_honest_error_bars() -> None:
    kinds = ("primal", "dual", "departure")
    exact = machine(polish=False, epochs=3, monitor=Trace(objectives=kinds)).fit(X, Y).monitor_
    seeds = range(60)
    traces = [Trace(effort=2000, objectives=kinds, random_state=seed) for seed in seeds]
    some = [
        machine(polish=False, epochs=3, monitor=trace).fit(X, Y).monitor_.observations[-1]
        for trace in traces
    ]
    for name in kinds:
        errors = np.array([getattr(line, f"{name}_error") for line in some])
        off = np.array([getattr(line, name) for line in some]) - exact[name][-1]
        assert (errors > 0).all()
        # The mean is right, and the spread is what the errors say.
        assert abs(off.mean()) < 4 * off.std() / np.sqrt(len(seeds))
        assert 0.6 < off.std() / errors.mean() < 1.6


def test_the_polish_is_certified() -> None:
    model = machine(monitor=Trace()).fit(X, Y)
    trace = model.monitor_
    assert trace["primal"][-1] == pytest.approx(model.objective_[0], rel=1e-6)
    assert trace["bound"][-1] == pytest.approx(model.objective_[1])
    polish = trace["phase"] == "polish"
    assert (np.diff(trace["primal"][polish]) <= 0).all()
    assert (trace["bound"][polish] <= trace["primal"][polish]).all()
    assert np.isnan(trace["bound"][~polish]).all()
    assert np.isnan(trace["merging"][polish]).all()
    assert (np.diff(trace["seconds"]) >= 0).all()


@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_several_classes(multi_class: str) -> None:
    rows, labels = X, (X[:, 0] > 0) + 2 * (X[:, 1] > 0.5)
    model = BudgetSVC(
        C, gamma=0.5, budget=20, multi_class=multi_class, random_state=0, monitor=Trace()
    ).fit(rows, labels)
    trace = model.monitor_
    assert trace["primal"][-1] == pytest.approx(model.objective_[0], rel=1e-5)
    assert np.isnan(trace["dual"]).all()


def test_shares_are_of_the_visits_since_the_last_look() -> None:
    trace = machine(polish=False, epochs=4, monitor=Trace()).fit(X, Y).monitor_
    history = machine(polish=False, epochs=4).fit(X, Y).history_
    np.testing.assert_allclose(trace["merging"], [r["merges"] / r["visits"] for r in history])
    np.testing.assert_allclose(trace["violating"], [r["violations"] / r["visits"] for r in history])


@pytest.mark.parametrize(
    ("every", "expected"),
    [("epoch", [400, 800]), (320, [320, 656, 800]), ([64, 400], [64, 400, 800]), ([], [800])],
    ids=str,
)
def test_when_to_look(every: Any, expected: list[int]) -> None:
    trace = machine(polish=False, epochs=2, monitor=Trace(every)).fit(X, Y).monitor_
    assert trace["visits"].tolist() == expected


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (Trace(0), "every must be at least 1, not 0"),
        (Trace([10, -1]), "every must be at least 1, not -1"),
        (Trace("visit"), "every must be"),
        (Trace(effort=0), "effort must be"),
        (Trace(objectives=("gap",)), "'primal', 'dual' and 'departure', not"),
        (Trace(X_test=X), "both X_test and y_test"),
        ("trace", "monitor must be an object of budgetsvm.monitoring"),
    ],
    ids=str,
)
def test_wrong_options(trace: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        machine(monitor=trace).fit(X, Y)


def test_files_and_columns(tmp_path: Path) -> None:
    trace = machine(monitor=Trace(100)).fit(X, Y).monitor_
    trace.to_csv(tmp_path / "trace.csv")
    with (tmp_path / "trace.csv").open(encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert [float(line["primal"]) for line in lines] == trace["primal"].tolist()
    assert {line["score"] for line in lines} == {""}
    with pytest.raises(KeyError, match="no column 'loss'; it has phase, visits"):
        trace["loss"]


# ---- its picture ----


@pytest.mark.parametrize("over", ["seconds", "epochs"])
@pytest.mark.parametrize("polish", [False, True])
def test_picture(over: Any, polish: bool, tmp_path: Path) -> None:
    model = machine(polish=polish, monitor=Trace(100, X_test=X, y_test=Y)).fit(X, Y)
    figure = plot_trace(model, over=over)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["objective", "test score", "share of visits in %", "terms"]
    assert all(axes.lines and axes.get_xlabel() for axes in figure.axes)
    figure.savefig(tmp_path / "trace.png")
    assert len(plot_trace(model.monitor_, over=over).axes) == 4


def test_picture_of_a_negative_dual() -> None:
    model = machine(polish=False, solver="bsgd", epochs=1, monitor=Trace([8, 100])).fit(X, Y)
    assert model.monitor_["dual"].min() < 0
    assert plot_trace(model).axes[0].get_yscale() == "symlog"


def test_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match=r"fit the estimator with monitor=Trace\(\)"):
        plot_trace(machine().fit(X, Y))
    with pytest.raises(ValueError, match="over must be"):
        plot_trace(machine(monitor=Trace()).fit(X, Y), over="hours")


def test_picture_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    model = machine(monitor=Trace()).fit(X, Y)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"budgetsvm\[plot\]"):
        plot_trace(model)
