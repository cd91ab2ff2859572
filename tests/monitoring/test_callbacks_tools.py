"""Callbacks among scikit-learn's tools; where it has none, nothing changes."""

import copy
import pickle
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tools.callbacks import (
    KINDS,
    NAMES,
    Propagated,
    Recorder,
    ScoringMonitor,
    X,
    Y,
    machine,
    needs_callbacks,
    watch,
)

from budgetsvm.monitoring import _sklearn_callbacks

GUIDE = Path(__file__).parents[2] / "docs" / "practice" / "watching.md"


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

    monkeypatch.setattr(_sklearn_callbacks.Task, "__init__", fail)
    monkeypatch.setattr(_sklearn_callbacks.CallbackObserver, "__init__", fail)
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


@pytest.mark.slow
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
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
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


@pytest.mark.slow
def test_without_callbacks_in_scikit_learn_nothing_changes() -> None:
    script = """
        import sys
        import sklearn
        assert "sklearn.callback" not in sys.modules or BLOCK
        from budgetsvm import BudgetSVC, BudgetSVR, BudgetOneClassSVM
        from budgetsvm._estimators import machine
        from budgetsvm.monitoring import _sklearn_callbacks
        assert _sklearn_callbacks._library is None
        def fit(self, X, y): pass
        assert machine.watched(fit) is fit
        import numpy as np
        from sklearn.base import clone
        X = np.random.default_rng(0).standard_normal((200, 2))
        for kind in (BudgetSVC, BudgetSVR, BudgetOneClassSVM):
            model = kind(budget=10, random_state=0)
            assert not hasattr(model, "set_callbacks")
            assert _sklearn_callbacks.callbacks_of(model) == []
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
    section = (
        GUIDE.read_text(encoding="utf-8")
        .split("## By scikit-learn's callbacks")[1]
        .split("\n## ")[0]
    )
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, names)  # noqa: S102
    shown = capsys.readouterr().out
    assert "BudgetSVC - polish" in shown
    assert "epoch" in shown
