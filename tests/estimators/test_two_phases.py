"""Both phases together: bases, weights, memory, threads, warm starts, progress, real data."""

import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
from estimators.test_quality import load
from oracles.problems import blobs, moons, noisy_xor, sparse_rows
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_info

from budgetsvm import BudgetSVC, kernels, polish
from budgetsvm._common.progress import Progress
from budgetsvm._common.threads import map_in_order
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import Targets
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA

CERTIFICATE = ("duality_gap_", "objective_", "converged_")


def make(**options: Any) -> BudgetSVC:
    return BudgetSVC(**{"C": 10, "gamma": 1.0, "budget": 30, "random_state": 0, **options})


def objective(model: BudgetSVC, X: Any, y: Any, weights: Any = 1.0) -> float:
    """P of a model, from its public attributes, in float64."""
    Z, beta = model.support_vectors_, model.dual_coef_[0]
    gamma = model.kernel_.gamma
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0, 1 - signs * (rbf_kernel(X, Z, gamma) @ beta))
    return float(0.5 * beta @ rbf_kernel(Z, Z, gamma) @ beta + model.C * np.sum(weights * slack))


def passes(model: BudgetSVC, X: Any, y: Any) -> int:
    """Fit, and return how many passes the polish took."""
    polished = model._fit(X, y, None)
    assert polished is not None
    return polished.passes


# ---- what a fit promises ----


@pytest.mark.parametrize("basis", ["learned", "random", "kmeans"])
@pytest.mark.parametrize("budget", [1, 10, 60])
def test_certificate_of_the_estimator(basis: str, budget: int) -> None:
    X, y = noisy_xor(1000, 0)
    model = make(budget=budget, basis=basis).fit(X, y)
    P, D = model.objective_
    assert model.converged_
    assert 0 <= D <= P
    assert model.duality_gap_ == pytest.approx((P - D) / P, abs=1e-12)
    assert model.duality_gap_ <= 1e-2
    assert objective(model, X, y) == pytest.approx(P, rel=1e-3)
    assert 1 <= len(model.support_vectors_) <= budget
    assert model.dual_coef_.shape == (1, len(model.support_vectors_))
    squared = rbf_kernel(X, model.support_vectors_, 1.0) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), squared, rtol=0, atol=2e-3)


def test_a_polish_never_makes_the_objective_worse() -> None:
    X, y = noisy_xor(1500, 1)
    for maintenance, solver in itertools.product(
        ("merge", "multimerge", "project", "remove"), ("bsca", "bsgd")
    ):
        options = {"maintenance": maintenance, "solver": solver, "epochs": 1, "tol": 1e-3}
        plain = make(polish=False, **options).fit(X, y)
        polished = make(**options).fit(X, y)
        assert objective(polished, X, y) <= objective(plain, X, y) * (1 + 1e-3)


def test_every_budget_is_kept() -> None:
    X, y = moons(150, 2)
    for budget in (1, 2, 3, 7, 64, 65, 149, 150, 151):
        for basis in ("learned", "random"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = make(budget=budget, basis=basis, max_passes=5).fit(X, y)
            assert 1 <= len(model.support_vectors_) <= budget


def test_fractions_of_an_epoch() -> None:
    X, y = moons(1000, 3)
    for epochs, visits in ((0.25, [250]), (1, [1000]), (2.5, [1000, 1000, 500])):
        model = make(epochs=epochs).fit(X, y)
        assert [record["visits"] for record in model.history_] == visits
        assert model.n_iter_ == len(visits)


# ---- without a polish ----


@pytest.mark.parametrize("epochs", [1, 5])
def test_polish_false_is_the_plain_solver(epochs: int) -> None:
    """Bit by bit what the trainer of phase 1 gives."""
    X, y = moons(700, 4)
    X = X.astype(np.float32).astype(np.float64)
    model = make(polish=False, epochs=epochs, random_state=7).fit(X, y)
    assert not any(hasattr(model, name) for name in CERTIFICATE)
    centre = model._expansion.centre
    terms = TermStore(30, 2, np.float32)
    trainer = Trainer(
        Settings(kernels.Gaussian(1.0), BSCA(), Merge(), 30),
        Problem(Rows(X, np.float32, centre), Targets.of_labels(y, np.full(700, 10.0))),
        terms,
        generator(7),
    )
    with Progress("", 0, shown=False) as progress:
        trainer.run(epochs * 700, progress)
    np.testing.assert_array_equal(model.dual_coef_[0], terms.coef[: terms.size])
    np.testing.assert_array_equal(model._expansion.points, terms.points())
    assert len(model.history_) == epochs
    for mine, other in zip(model.history_, trainer.history, strict=True):
        assert {**mine, "seconds": 0} == {**other, "seconds": 0}


def test_without_a_polish_auto_is_five_epochs() -> None:
    X, y = moons(300, 5)
    auto, five = make(polish=False).fit(X, y), make(polish=False, epochs=5).fit(X, y)
    np.testing.assert_array_equal(auto.dual_coef_, five.dual_coef_)
    assert auto.n_iter_ == 5


def test_without_a_budget_there_is_no_polish() -> None:
    X, y = moons(300, 6)
    a = make(budget=None, epochs=3).fit(X, y)
    b = make(budget=None, epochs=3, polish=False).fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    assert not any(hasattr(a, name) for name in CERTIFICATE)


def test_no_certificate_is_left_from_an_earlier_fit() -> None:
    X, y = moons(300, 7)
    model = make().fit(X, y)
    assert all(hasattr(model, name) for name in CERTIFICATE)
    for options in ({"polish": False}, {"budget": None, "epochs": 1}):
        other = clone(model).fit(X, y).set_params(**options).fit(X, y)
        assert not any(hasattr(other, name) for name in CERTIFICATE)


# ---- bases ----


def test_a_given_basis() -> None:
    X, y = moons(600, 8)
    Z = X[:20]
    for points in (Z, Z.tolist(), Z.astype(np.float32), np.asfortranarray(Z)):
        model = make(basis=points).fit(X, y)
        assert all(np.isclose(Z, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)
        assert model.converged_
    from_sparse = make(basis=Z, tol=1e-4).fit(sparse.csr_array(X), y)
    dense = make(basis=Z, tol=1e-4).fit(X, y)
    assert from_sparse.objective_[0] == pytest.approx(dense.objective_[0], rel=1e-3)


def test_random_and_kmeans_terms() -> None:
    X, y = moons(600, 9)
    model = make(basis="random", budget=15, gamma=20.0).fit(X, y)
    assert all(np.isclose(X, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)
    centres = make(basis="kmeans", budget=15, gamma=20.0).fit(X, y).support_vectors_
    spread = np.sqrt(((X[:, np.newaxis] - centres) ** 2).sum(axis=2).min(axis=1)).mean()
    chosen = model.support_vectors_
    random = np.sqrt(((X[:, np.newaxis] - chosen) ** 2).sum(axis=2).min(axis=1)).mean()
    assert spread < random


def test_clones_and_parameters_with_an_array() -> None:
    X, y = moons(200, 10)
    model = make(basis=X[:10])
    copied = clone(model)
    np.testing.assert_array_equal(copied.basis, X[:10])
    np.testing.assert_array_equal(
        copied.fit(X, y).decision_function(X), model.fit(X, y).decision_function(X)
    )
    assert "BudgetSVC" in repr(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"basis": np.zeros((31, 2))}, r"basis has 31 points.*budget=30"),
        ({"basis": np.zeros((5, 3))}, "basis has 3 features, but X has 2"),
        ({"basis": np.zeros(5)}, "2D array"),
        ({"basis": np.zeros((0, 2))}, "0 sample"),
        ({"basis": np.full((5, 2), np.nan)}, "NaN"),
        ({"basis": "leaned"}, "basis must be one of 'learned', 'random', 'kmeans', not 'leaned'"),
        ({"basis": "random", "polish": False}, "polish=True"),
        ({"basis": np.zeros((5, 2)), "polish": False}, "polish=True"),
        ({"basis": "kmeans", "budget": None}, "budget"),
        ({"tol": 0}, "tol must be a finite number > 0, not 0"),
        ({"tol": "small"}, "tol must be a number"),
        ({"max_passes": 0}, "max_passes must be at least 1, not 0"),
        ({"max_passes": 1.5}, "max_passes must be an integer"),
        ({"time_limit": 0}, "time_limit must be a finite number > 0"),
        ({"memory_limit": -1}, "memory_limit must be a finite number > 0"),
        ({"epochs": -1}, "epochs must be a finite number > 0"),
        ({"epochs": "none"}, "epochs must be"),
    ],
)
def test_wrong_parameters(options: Any, message: str) -> None:
    X, y = moons(100, 11)
    with pytest.raises((TypeError, ValueError), match=message):
        make(**options).fit(X, y)


@pytest.mark.parametrize("budget", [5, 10, 20])
def test_learned_terms_beat_random_ones(budget: int) -> None:
    """A chequerboard: few terms suffice where they are in the right places."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (3000, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)

    def mean(basis: str) -> float:
        fits = [
            make(gamma=3.0, budget=budget, basis=basis, random_state=seed, tol=1e-2).fit(X, y)
            for seed in range(3)
        ]
        return float(np.mean([model.objective_[0] for model in fits]))

    assert mean("learned") < mean("random")


def test_with_all_rows_as_terms_it_is_the_exact_svm() -> None:
    """SVC has a bias; on points mirrored at the origin, with the opposite label, it is zero."""
    X, y = blobs(100, 2, 5, distance=1.5)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    exact = SVC(C=1.5, gamma=0.7, tol=1e-8).fit(X, y)
    assert abs(exact.intercept_[0]) < 1e-5
    model = make(C=1.5, gamma=0.7, budget=200, tol=1e-6, precision="double").fit(X, y)
    f = exact.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), f, rtol=0, atol=5e-3)
    alpha_y = np.zeros(200)
    alpha_y[exact.support_] = exact.dual_coef_[0]
    best = abs(alpha_y).sum() - 0.5 * alpha_y @ rbf_kernel(X, gamma=0.7) @ alpha_y
    assert model.objective_[0] == pytest.approx(best, rel=1e-5)


# ---- weights ----


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_weights_count_rows(form: str) -> None:
    """Weight 2 is the row twice, weight 0 is no row: the same objective, to the tolerance."""
    X, y = noisy_xor(900, 12)
    options: dict[str, Any] = {"basis": X[:25], "tol": 1e-4, "precision": "double"}
    counts = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), counts.astype(int))
    data, repeated = (
        (sparse.csr_array(X), sparse.csr_array(X[rows]))
        if form == "csr"
        else (
            X,
            X[rows],
        )
    )
    weighted = make(**options).fit(data, y, sample_weight=counts)
    twice = make(**options).fit(repeated, y[rows])
    assert weighted.objective_[0] == pytest.approx(twice.objective_[0], rel=2e-4)
    assert weighted.objective_[1] == pytest.approx(twice.objective_[1], rel=2e-4)
    np.testing.assert_allclose(
        weighted.decision_function(X), twice.decision_function(X), rtol=0, atol=0.05
    )
    assert objective(weighted, X, y, counts) == pytest.approx(weighted.objective_[0], rel=1e-6)


def test_class_weights_are_weights() -> None:
    X, y = noisy_xor(600, 13)
    options: dict[str, Any] = {"basis": X[:25], "tol": 1e-4}
    a = make(class_weight={-1: 1.0, 1: 3.0}, **options).fit(X, y)
    b = make(**options).fit(X, y, sample_weight=np.where(y > 0, 3.0, 1.0))
    assert a.objective_ == b.objective_


# ---- memory ----


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("limit", [1.0, 3e4, 1e6])
def test_little_memory_gives_the_same_objective(limit: float, form: str) -> None:
    X, y = noisy_xor(6000, 14)
    data = sparse.csr_array(X) if form == "csr" else X
    options: dict[str, Any] = {"basis": X[:40], "budget": 40, "tol": 1e-3}
    held = make(memory_limit=1e9, **options).fit(data, y)
    little = make(memory_limit=limit, **options).fit(data, y)
    assert little.converged_
    assert little.objective_[0] == pytest.approx(held.objective_[0], rel=1e-3)


MEMORY_SCRIPT = """
import json, re, sys
from pathlib import Path
import numpy as np
from budgetsvm import BudgetSVC
limit = float(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5)).astype(np.float32)
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0, 1, 0)
def peak():  # not ru_maxrss, which a new process has from its parent
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])
model = BudgetSVC(gamma=0.3, budget=200, basis="random", random_state=0, memory_limit=limit)
model.set_params(tol=0.05, n_jobs=2)
model.fit(X[:3000], y[:3000])  # libraries, threads, heaps
before = peak()
model.fit(X, y)
print(json.dumps([before, peak(), model.objective_[0], model.converged_]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_within_the_limit() -> None:
    """Kernel values would take 160 MB. Vectors of n numbers, and work space, come on top."""

    def fit(limit: float) -> tuple[float, float]:
        done = subprocess.run(
            [sys.executable, "-c", MEMORY_SCRIPT, str(limit)],
            capture_output=True,
            text=True,
            check=True,
        )
        before, after, primal, converged = json.loads(done.stdout)
        assert converged
        return after - before, primal

    (little, a), (much, b) = fit(20e6), fit(220e6)
    assert a == pytest.approx(b, rel=0.05)
    vectors = 30 * 8 * 200_000
    assert little < 20e6 + vectors + 24e6
    assert 150e6 < much < 220e6 + vectors + 24e6


PROCESS_LIMIT_SCRIPT = """
import re, resource, sys
from pathlib import Path
import numpy as np
from budgetsvm import BudgetSVC
rng = np.random.default_rng(0)
X = rng.standard_normal((200_000, 5)).astype(np.float32)
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(len(X)) > 0, 1, 0)
model = BudgetSVC(gamma=0.3, budget=200, basis="random", random_state=0, tol=0.05, n_jobs=1)
model.set_params(memory_limit=float(sys.argv[1])).fit(X[:3000], y[:3000])
status = Path("/proc/self/status").read_text()
size = 1024 * int(re.search(r"VmSize:\\s*(\\d+) kB", status)[1])
resource.setrlimit(resource.RLIMIT_AS, (size + 130_000_000, size + 130_000_000))
print("converged" if model.fit(X, y).converged_ else "not converged")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("limit", "outcome"), [(20e6, "converged"), (1e9, "MemoryError")])
def test_memory_under_a_process_limit(limit: float, outcome: str) -> None:
    """130 MB more than before are too few to hold 160 MB of kernel values, and enough not to."""
    script = [sys.executable, "-c", PROCESS_LIMIT_SCRIPT, str(limit)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert outcome in done.stdout + done.stderr


# ---- threads ----


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_number_of_threads_does_not_change_a_bit(precision: str) -> None:
    X, y = noisy_xor(40_000, 15)
    options: dict[str, Any] = {"budget": 60, "epochs": 0.1, "precision": precision, "tol": 2e-3}
    options["memory_limit"] = 1e9
    one = make(n_jobs=1, **options).fit(X, y)
    for n_jobs in (2, 3):
        other = make(n_jobs=n_jobs, **options).fit(X, y)
        np.testing.assert_array_equal(other.dual_coef_, one.dual_coef_)
        np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)
        assert other.objective_ == one.objective_


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_items(count: int, n_threads: int) -> None:
    def slow_at_first(k: int) -> int:
        time.sleep(0.001 * (k < 3))
        return k * k

    assert map_in_order(slow_at_first, iter(range(count)), n_threads) == [
        k * k for k in range(count)
    ]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 5, 39])
def test_an_exception_comes_through_and_ends_the_work(bad: int, n_threads: int) -> None:
    done = []

    def fragile(k: int) -> None:
        if k == bad:
            raise ArithmeticError(k)
        done.append(k)

    with pytest.raises(ArithmeticError, match=str(bad)):
        map_in_order(fragile, range(1000), n_threads)
    assert len(done) < 999
    count = len(done)
    assert map_in_order(lambda k: k, range(9), n_threads) == list(range(9))  # it goes on
    assert len(done) == count  # and nobody is still at work


def test_work_within_work_and_from_many_threads() -> None:
    """No call waits for threads that wait for it."""

    def inner(k: int) -> int:
        return sum(map_in_order(lambda j: j + k, range(4), 2))

    expected = [6 + 4 * k for k in range(20)]
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(map_in_order(inner, range(20), 2)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results == [expected] * 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_after_a_fork() -> None:
    """The threads of the parent do not exist in the child: it must not wait for them."""
    assert map_in_order(abs, range(10), 2) == list(range(10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
        child = os.fork()
    if child == 0:
        os._exit(0 if map_in_order(abs, range(10), 2) == list(range(10)) else 1)
    deadline = time.monotonic() + 60
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if status == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert status == (child, 0)


def test_threads_with_little_memory_agree() -> None:
    X, y = noisy_xor(8000, 16)
    fits = [make(n_jobs=n, memory_limit=1e5, tol=1e-4, basis=X[:30]).fit(X, y) for n in (1, 2, 3)]
    for model in fits[1:]:
        assert model.objective_[0] == pytest.approx(fits[0].objective_[0], rel=1e-4)


def test_concurrent_fits_leave_blas_as_it_was() -> None:
    before = blas_threads()
    assert before
    problems = [noisy_xor(3000, seed) for seed in range(6)]
    alone = [make(tol=1e-3, n_jobs=1).fit(X, y) for X, y in problems]
    assert blas_threads() == before
    results: dict[int, BudgetSVC] = {}

    def fit(k: int) -> None:
        for _ in range(2):
            results[k] = make(tol=1e-3, n_jobs=1 + k % 2).fit(*problems[k])

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == before
    for k, model in enumerate(alone):
        np.testing.assert_array_equal(results[k].dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exceptions_leave_blas_as_it_was(n_jobs: int) -> None:
    before = blas_threads()
    calls = []

    def fragile(X: Any, Z: Any) -> Any:
        calls.append(len(X))
        if len(calls) > 6:
            raise ArithmeticError("no more")
        return X @ Z.T

    X, y = noisy_xor(4000, 17)
    model = make(kernel=fragile, maintenance="remove", basis=X[:10], n_jobs=n_jobs)
    model.set_params(memory_limit=1e4)
    with pytest.raises(ArithmeticError, match="no more"):
        model.fit(X, y)
    assert len(calls) >= 7
    assert blas_threads() == before
    make().fit(X, y)
    assert blas_threads() == before


# ---- warm starts ----


def test_warm_start_reuses_terms_and_dual_variables() -> None:
    X, y = noisy_xor(3000, 18)
    options: dict[str, Any] = {"tol": 1e-3, "budget": 40}
    model = make(warm_start=True, **options).fit(X, y)
    terms, last = model.support_vectors_, model.objective_[0]
    gap = model.duality_gap_
    again = passes(model, X, y)
    assert again <= 3  # nothing changed: it only looks
    assert model.duality_gap_ <= gap + 1e-6  # at both points that were certified
    np.testing.assert_allclose(model.support_vectors_, terms, atol=1e-6)
    assert model.objective_[0] == pytest.approx(last, rel=1e-3)
    warm = passes(model.set_params(C=12), X, y)
    assert model.converged_
    known = {tuple(np.round(z, 5)) for z in terms}
    assert {tuple(np.round(z, 5)) for z in model.support_vectors_} <= known
    fresh = make(C=12, basis=terms, **options)
    assert warm < passes(fresh, X, y)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-3)


def test_warm_start_along_a_path_of_C() -> None:
    X, y = noisy_xor(2000, 19)
    model = make(warm_start=True, tol=1e-3, basis=X[:30])
    for C in (0.01, 0.1, 1.0, 10.0, 100.0, 0.1):
        model.set_params(C=C).fit(X, y)
        assert model.converged_
        fresh = make(C=C, tol=1e-3, basis=model.support_vectors_).fit(X, y)
        assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)


def test_warm_start_takes_over_a_changed_gamma() -> None:
    X, y = noisy_xor(1000, 20)
    model = make(warm_start=True, tol=1e-3).fit(X, y)
    model.set_params(gamma=0.2).fit(X, y)
    assert model.kernel_ == kernels.Gaussian(0.2)
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-3)
    fresh = make(gamma=0.2, tol=1e-3, basis=model.support_vectors_).fit(X, y)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=2e-3)


def test_warm_start_takes_over_a_changed_kernel() -> None:
    """Kernels that know where the origin is, after one that does not."""
    X, y = noisy_xor(600, 21)
    X = X + 2.0
    options: dict[str, Any] = {"maintenance": "remove", "coef0": 1.0, "gamma": 0.5, "degree": 2}
    model = make(warm_start=True, **options).fit(X, y)
    model.set_params(kernel="poly").fit(X, y)
    K = polynomial_kernel(X, model.support_vectors_, degree=2, gamma=0.5, coef0=1.0)
    expected = K @ model.dual_coef_[0]
    scale = abs(expected).max()
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-3 * scale)
    model.set_params(kernel=lambda A, B: A @ B.T).fit(X, y)
    expected = X @ model.support_vectors_.T @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3)


def test_warm_start_on_other_data() -> None:
    """Fewer rows, other features, a smaller budget."""
    X, y = noisy_xor(1000, 22)
    model = make(warm_start=True, budget=40).fit(X, y)
    model.fit(X[:700], y[:700])
    assert model.converged_
    wide = np.column_stack([X, X])
    model.fit(wide, y)
    assert model.support_vectors_.shape[1] == 4
    model.set_params(budget=10).fit(wide, y)
    assert len(model.support_vectors_) <= 10
    assert model.converged_


def test_warm_start_with_a_new_basis() -> None:
    """Points that the user gives are the terms, warm start or not."""
    X, y = noisy_xor(500, 23)
    model = make(warm_start=True, basis=X[:10]).fit(X, y)
    model.set_params(basis=X[10:30]).fit(X, y)
    Z = X[10:30]
    assert all(np.isclose(Z, z, atol=1e-5).all(axis=1).any() for z in model.support_vectors_)


def test_warm_start_counts_its_own_epochs() -> None:
    X, y = noisy_xor(500, 24)
    model = make(warm_start=True, epochs=2).fit(X, y)
    assert model.n_iter_ == 2
    assert model.set_params(C=20).fit(X, y).n_iter_ == 0  # no epoch of phase 1 was needed


def test_without_warm_start_a_fit_is_from_scratch() -> None:
    X, y = noisy_xor(800, 25)
    model = make().fit(X, y)
    f = model.decision_function(X)
    model.set_params(C=3).fit(X, y)
    model.set_params(C=10).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), f)


def test_partial_fit_goes_on_from_a_polished_model() -> None:
    X, y = noisy_xor(2000, 26)
    model = make().fit(X[:1000], y[:1000])
    before = model.support_vectors_
    model.partial_fit(X[1000:1001], y[1000:1001])
    assert not any(hasattr(model, name) for name in CERTIFICATE)
    after = model.support_vectors_
    kept = [np.isclose(after, point, atol=1e-5).all(axis=1).any() for point in before]
    assert np.mean(kept) > 0.9
    model.partial_fit(X[1000:], y[1000:])
    assert len(model.support_vectors_) <= 30
    assert model.score(X, y) > 0.8
    model.fit(X, y)
    assert model.converged_


def test_partial_fit_alone_never_polishes() -> None:
    X, y = noisy_xor(500, 27)
    a, b = make().partial_fit(X, y), make(polish=False).partial_fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)


# ---- progress, interruption ----


def test_progress_of_both_phases(capsys: Any) -> None:
    X, y = noisy_xor(2000, 28)
    make(verbose=0).fit(X, y)
    assert capsys.readouterr() == ("", "")
    make(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    for word in ("training", "polishing", "gap=", "size=30", "100%"):
        assert word in err
    assert err.index("training") < err.index("polishing")
    make(verbose=1, basis="random").fit(X, y)
    err = capsys.readouterr().err
    assert "training" not in err
    assert "polishing" in err


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_with_any_tolerance(capsys: Any) -> None:
    X, y = noisy_xor(300, 29)
    for tol in (1e-12, 0.9, 1.0, 5.0):
        make(verbose=1, tol=tol, max_passes=20).fit(X, y)
        assert "gap=" in capsys.readouterr().err


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


# ---- what must not matter ----


def test_layout_and_type_do_not_matter() -> None:
    X, y = noisy_xor(1500, 32)
    X = X.astype(np.float32)
    Z = X[:30]
    model = make(basis=Z, tol=1e-4, precision="double").fit(X, y)
    for variant in (X.astype(np.float64), np.asfortranarray(X), sparse.csr_array(X), X[::-1][::-1]):
        other = make(basis=Z, tol=1e-4, precision="double").fit(variant, y)
        assert other.objective_[0] == pytest.approx(model.objective_[0], rel=1e-4)
    single = make(basis=Z, tol=1e-4, precision="single").fit(X, y)
    assert single.objective_[0] == pytest.approx(model.objective_[0], rel=1e-3)


def test_a_shift_does_not_matter() -> None:
    X, y = noisy_xor(1500, 33)
    Z = X[:30]
    here = make(basis=Z, tol=1e-4).fit(X, y)
    there = make(basis=Z + 1e4, tol=1e-4).fit(X + 1e4, y)
    assert there.objective_[0] == pytest.approx(here.objective_[0], rel=1e-3)


def test_sparse_rows_of_many_features() -> None:
    X = sparse_rows(2000, 300, 34, density=0.02)
    y = np.where(X[:, [0, 1, 2, 3, 4]].sum(axis=1) > 0, "a", "b")
    for basis in ("learned", "random"):
        model = make(gamma=0.1, basis=basis, budget=50).fit(X, y)
        assert model.converged_
        assert objective(model, X.toarray(), y) == pytest.approx(model.objective_[0], rel=1e-3)


def test_polish_needs_points() -> None:
    X, y = noisy_xor(100, 35)
    with pytest.raises(ValueError, match="minimum of 1"):
        polish(X, y, np.zeros((0, 2)))


# ---- real data ----


@pytest.fixture(scope="module")
def ijcnn() -> Any:
    (X, y), (X_test, y_test) = load("ijcnn1", 22), load("ijcnn1.t", 22)
    return X.toarray(), y, X_test.toarray(), y_test


@pytest.fixture(scope="module")
def adult() -> Any:
    return (*load("a9a", 123), *load("a9a.t", 123))


def mean_accuracy(data: Any, **options: Any) -> float:
    X, y, X_test, y_test = data
    scores = []
    for seed in range(3):
        model = BudgetSVC(C=2**5, random_state=seed, **options).fit(X, y)
        assert model.converged_
        assert model.duality_gap_ <= 1e-2
        scores.append(model.score(X_test, y_test))
    return float(np.mean(scores))


@pytest.mark.data
def test_accuracy_on_adult(adult: Any) -> None:
    assert mean_accuracy(adult, gamma=2**-7, budget=500) >= 0.848


@pytest.mark.data
@pytest.mark.parametrize(("budget", "least"), [(500, 0.988), (200, 0.986)])
def test_accuracy_on_ijcnn(ijcnn: Any, budget: int, least: float) -> None:
    assert mean_accuracy(ijcnn, gamma=2, budget=budget) >= least


@pytest.mark.data
def test_a_tight_tolerance_on_ijcnn(ijcnn: Any) -> None:
    X, y, *_ = ijcnn
    model = BudgetSVC(C=2**5, gamma=2, tol=1e-3, random_state=0).fit(X, y)
    assert model.converged_
    assert model.duality_gap_ <= 1e-3
    assert objective(model, X, y) == pytest.approx(model.objective_[0], rel=1e-3)
