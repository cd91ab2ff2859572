"""scikit-learn's callbacks watch a fit; where scikit-learn has none, nothing changes."""

import copy
import pickle
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.problems import blobs, moons, noisy_xor
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.monitoring import _sklearn_callbacks as _callbacks

try:
    from sklearn.callback import ScoringMonitor
except ImportError:
    ScoringMonitor = None
needs_callbacks = pytest.mark.skipif(
    ScoringMonitor is None, reason="scikit-learn has callbacks since version 1.9"
)

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
X, Y = moons(300, 0, noise=0.2)
KINDS = [BudgetSVC, BudgetSVR, BudgetOneClassSVM]


def machine(kind: type[BaseEstimator] = BudgetSVC, **parameters: Any) -> Any:
    return kind(**{"budget": 20, "gamma": 1.0, "epochs": 3, "random_state": 0, **parameters})


class Recorder:
    """Notes all hooks, with what they are told."""

    def __init__(
        self, *, stop_after: int | None = None, act: Callable[..., object] | None = None
    ) -> None:
        self.calls: list[tuple[str, str, int, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.stop_after, self.act = stop_after, act

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "calls": [], "told": [], "act": None}

    def names(self, hook: str | None = None) -> list[str]:
        return [name for called, name, *_ in self.calls if hook in {None, called}]

    def setup(self, estimator: Any, context: Any) -> None:
        self._note("setup", estimator, context)

    def teardown(self, estimator: Any, context: Any) -> None:
        self._note("teardown", estimator, context)

    def on_fit_task_begin(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> None:
        self._note("begin", estimator, context, fitted_estimator)
        self.told.append({"X": X, "y": y, "metadata": metadata})

    def on_fit_task_end(
        self,
        estimator: Any,
        context: Any,
        *,
        X: Any = None,
        y: Any = None,
        metadata: Any = None,
        fitted_estimator: Any = None,
    ) -> bool:
        self._note("end", estimator, context, fitted_estimator)
        self.told.append({"X": X, "y": y, "metadata": metadata})
        return context.task_name == "epoch" and context.task_id + 1 == self.stop_after

    def _note(self, hook: str, estimator: Any, context: Any, fitted: Any = None) -> None:
        self.calls.append((hook, context.task_name, context.task_id, fitted))
        if self.act is not None:
            self.act(hook, estimator, context)


class Propagated(Recorder):
    """Handed down by meta-estimators."""

    max_propagation_depth = None


def watch(model: Any, *data: Any, recorder: Recorder | None = None, **named: Any) -> Recorder:
    recorder = recorder or Recorder()
    model.set_callbacks(recorder).fit(*(data or (X, Y)), **named)
    return recorder


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
        expected = machine(kind, epochs=i + 1, polish=False).fit(X, Y)
        assert score == scorer(expected, X, Y)
    assert scores["fit"] == scores["polish"] == [scorer(model, X, Y)]


NAMES = {"fit": 1, "learn-terms": 1, "epoch": 3, "polish": 1}


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
    assert _callbacks._current.get() is None
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


# ---- no callbacks ----


def test_the_result_is_the_same_without_callbacks() -> None:
    for kind in KINDS:
        model, alone = machine(kind), machine(kind).fit(X, Y)
        if ScoringMonitor is not None:
            watch(model)
            np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
            np.testing.assert_array_equal(model.intercept_, alone.intercept_)
            model.set_callbacks()
        assert set(vars(model.fit(X, Y))) == set(vars(alone))


def test_nothing_happens_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("nobody asked for this")

    monkeypatch.setattr(_callbacks.Task, "__init__", fail)
    monkeypatch.setattr(_callbacks.EpochHooks, "__init__", fail)
    for kind in KINDS:
        machine(kind).fit(X, Y)


@needs_callbacks
def test_streams_are_not_watched() -> None:
    recorder = Recorder()
    model = machine().set_callbacks(recorder)
    model.partial_fit(X, Y).polish_now()
    model.fit_stream([(X, Y)])
    assert recorder.calls == []


# ---- clones, pickles, meta-estimators ----


@needs_callbacks
def test_clones_and_copies_keep_callbacks_as_scikit_learns_do() -> None:
    recorder = Recorder()
    for model in (machine(), LogisticRegression()):
        assert model.set_callbacks(recorder) is model
        assert clone(model)._skl_callbacks == copy.copy(model)._skl_callbacks == [recorder]
        assert not hasattr(clone(model.set_callbacks()), "_skl_callbacks")
        with pytest.raises(TypeError, match="FitCallback"):
            model.set_callbacks(print)


@needs_callbacks
def test_pickles_keep_callbacks() -> None:
    monitor = ScoringMonitor(scoring="accuracy")
    model = machine().set_callbacks(monitor)
    for stage in (model, model.fit(X, Y)):
        restored = pickle.loads(pickle.dumps(stage)).fit(X, Y)
        np.testing.assert_array_equal(restored.predict(X), model.fit(X, Y).predict(X))
        (copied,) = restored._skl_callbacks
        assert [row["accuracy"] for row in copied.get_logs().data] == [
            row["accuracy"] for row in monitor.get_logs().data
        ]


@needs_callbacks
def test_a_pipeline_hands_callbacks_down() -> None:
    recorder = Propagated()
    pipe = make_pipeline(StandardScaler(), machine()).set_callbacks(recorder).fit(X, Y)
    assert recorder.names("setup") == recorder.names("teardown") == ["fit"]
    assert recorder.names("end").count("epoch") == 3
    assert recorder.names("end")[-3:] == ["polish", "fit", "fit"]  # ours, that of the pipeline
    assert not {"_skl_callbacks", "_parent_callback_ctx"} & set(vars(pipe[-1]))

    inner = Recorder()
    depths = []
    inner.act = lambda _, __, context: depths.append(context.parent is not None)
    pipe = make_pipeline(StandardScaler(), machine().set_callbacks(inner)).fit(X, Y)
    assert inner.names() == watch(machine()).names()
    assert all(depths)  # all are part of the pipeline's tree
    assert pipe[-1]._skl_callbacks == [inner]


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_hands_callbacks_down(n_jobs: int) -> None:
    monitor = ScoringMonitor(scoring="accuracy")
    model = machine().set_callbacks(monitor)
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=3, n_jobs=n_jobs).fit(X, Y)
    log = monitor.get_logs()
    assert log.estimator_name == "GridSearchCV"
    names = [row["task_name"] for row in log.data]
    assert {name: names.count(name) for name in NAMES} == {k: 7 * v for k, v in NAMES.items()}
    best = [row for row in log.data if row["task_id_path"] == (0, 1)]
    assert [row["accuracy"] for row in best] == [search.best_estimator_.score(X, Y)]

    recorder = Propagated()
    GridSearchCV(machine(), {"C": [0.1, 10.0]}, cv=3).set_callbacks(recorder).fit(X, Y)
    assert recorder.names("end").count("epoch") == 7 * 3
    assert recorder.names("setup") == recorder.names("teardown") == ["fit"]


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_bars(n_jobs: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    machine().set_callbacks(ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    for name in ("BudgetSVC - fit", "BudgetSVC - learn-terms #0", "BudgetSVC - polish #1"):
        assert re.search(rf"{name} .*100%", shown)
    pipe = make_pipeline(StandardScaler(), machine())
    search = GridSearchCV(pipe, {"budgetsvc__C": [0.1, 10.0]}, cv=2, n_jobs=n_jobs)
    search.set_callbacks(ProgressBar(max_propagation_depth=2)).fit(X, Y)
    assert capsys.readouterr().out.count("BudgetSVC - polish #1") >= 5


@needs_callbacks
def test_progress_bars_end_with_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar, _progressbar

    def fail(hook: str, estimator: Any, context: Any) -> None:
        if (hook, context.task_name) == ("end", "epoch"):
            raise KeyboardInterrupt

    model = machine().set_callbacks(ProgressBar(), Recorder(act=fail))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert _progressbar._run_monitors == _progressbar._run_queues == {}
    assert not any(isinstance(t, _progressbar.RichProgressMonitor) for t in threading.enumerate())


# ---- older versions of scikit-learn ----


def test_without_callbacks_in_scikit_learn_nothing_changes() -> None:
    script = """
        import sys
        import sklearn
        assert "sklearn.callback" not in sys.modules or BLOCK
        from budgetsvm import BudgetSVC, BudgetSVR, BudgetOneClassSVM
        from budgetsvm.monitoring import _sklearn_callbacks as _callbacks
        assert _callbacks._library is None
        def fit(self, X, y): pass
        assert _callbacks.watched(fit) is fit
        import numpy as np
        from sklearn.base import clone
        X = np.random.default_rng(0).standard_normal((200, 2))
        for kind in (BudgetSVC, BudgetSVR, BudgetOneClassSVM):
            model = kind(budget=10, random_state=0)
            assert not hasattr(model, "set_callbacks")
            with _callbacks.phase(model, "polish") as task:
                assert task is None
            y = X[:, 0] > 0
            print(repr(clone(model).fit(X, y).predict(X).sum()))
    """
    results = [run(script, block=block) for block in ({True} if ScoringMonitor else {True, False})]
    expected = []
    rows = np.random.default_rng(0).standard_normal((200, 2))
    for kind in KINDS:
        model = kind(budget=10, random_state=0)
        expected.append(repr(model.fit(rows, rows[:, 0] > 0).predict(rows).sum()))
    for result in results:
        assert result.split() == " ".join(expected).split()


def run(script: str, *, block: bool) -> str:
    """Run a script, with an import of sklearn.callback by us failing if wanted."""
    # scikit-learn >= 1.9 needs its own; what it has imported is taken away before our turn
    start = f"""
        import sys
        BLOCK = {block}
        if BLOCK:
            import sklearn.base, sklearn.pipeline, sklearn.model_selection
            sys.modules["sklearn.callback"] = None
    """
    code = textwrap.dedent(start) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the guide ----


@needs_callbacks
def test_the_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    section = GUIDE.read_text(encoding="utf-8").split("## Watching a fit")[1].split("\n## ")[0]
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)  # noqa: S102
    shown = capsys.readouterr().out
    assert "BudgetSVC - polish" in shown
    assert "epoch" in shown
