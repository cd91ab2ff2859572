"""Ctrl-C ends a fit at once, wherever it is, and leaves the estimator as it was."""

import _thread
import pickle
import signal
import threading
import time
import warnings
from typing import Any

import pytest
from oracles.problems import noisy_xor
from sequences.checks import snapshot
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from tools.machines import make
from tools.threads import assert_threads_are_free, blas_threads

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

ENDLESS = {
    "phase 1": {"polish": False, "epochs": 1e7},
    "polish": {"tol": 1e-15, "max_passes": 10**9, "epochs": 1},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("delay", [0.05, 0.4])
@pytest.mark.parametrize("phase", ENDLESS)
@pytest.mark.parametrize("task", ["two classes", "many classes", "regression", "one class"])
def test_ctrl_c_leaves_the_model(task: str, phase: str, delay: float) -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    makers = {"regression": BudgetSVR, "one class": BudgetOneClassSVM}
    model = makers.get(task, BudgetSVC)(budget=50, random_state=0, n_jobs=1)
    labels = y % 2 if task == "two classes" else y
    model.fit(X[:200], labels[:200])
    model.set_params(**ENDLESS[phase])
    state, timer = snapshot(model), threading.Timer(delay, _thread.interrupt_main)
    timer.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, labels)
    except KeyboardInterrupt:
        interrupted = True
    else:
        interrupted = False  # it may give up before
    finally:
        timer.cancel()
    if not interrupted:
        pytest.skip("it was too fast")
    assert snapshot(model) == state


def test_interrupt_ends_a_fit_at_once() -> None:
    """A fit that would take minutes ends within moments, and the next one works."""
    X, y = make_moons(100_000, noise=0.3, random_state=0)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        BudgetSVC(budget=500, epochs=100_000, polish=False).fit(X, y)
    assert time.perf_counter() - start < 30  # not a measurement: without Ctrl-C it would be hours
    BudgetSVC(budget=20, epochs=1).fit(X[:1000], y[:1000])


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 100_000, "polish": False},
        {"basis": "random", "tol": 1e-12, "max_passes": 10**9, "C": 1e4},
        {
            "basis": "random",
            "tol": 1e-12,
            "max_passes": 10**9,
            "C": 1e4,
            "multi_class": "weston-watkins",
        },
    ],
    ids=["learning", "polish", "joint polish"],
)
def test_interrupt_ends_a_fit_of_many_classes_at_once(options: Any) -> None:
    X, codes = make_blobs(40_000, centers=4, cluster_std=8.0, random_state=1)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        make(**{"gamma": 0.1, "budget": 200, **options}).fit(X, codes)
    assert time.perf_counter() - start < 30  # not a measurement: without Ctrl-C it would be hours
    timer.join()
    assert_threads_are_free()
    make(gamma=0.1, budget=40, epochs=1).fit(X[:1000], codes[:1000])


@pytest.mark.parametrize("memory_limit", [1e9, 1e6])
def test_interrupt_ends_a_polish_at_once(memory_limit: float) -> None:
    X, y = noisy_xor(100_000, 30, flips=0.2)
    before = blas_threads()
    model = make(C=100, budget=200, basis="random", tol=1e-12, max_passes=10**9)
    model.set_params(memory_limit=memory_limit)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.perf_counter() - start < 30  # not a measurement: without Ctrl-C it would be hours
    assert blas_threads() == before
    make().fit(X[:1000], y[:1000])


def test_interrupt_leaves_the_model_and_its_certificate(monkeypatch: Any) -> None:
    X, y = noisy_xor(300, 31)
    model = make(basis="random").fit(X, y)
    before = pickle.dumps(model)

    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("budgetsvm._polish.polish.polish_in_span", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1, y)
    assert pickle.dumps(model) == before
