"""Exact mini-batches: how many points are evaluated at once, and by whom, changes nothing."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tools.core.arguments import core_rows
from tools.core.runs import MAINTENANCE, SOLVERS, CoreRun, data, iid, make_pair

from budgetsvm import _core
from budgetsvm._problem.rows import Rows

VISITS = 320  # more than the largest batch


def run(
    form: str,
    solver: str,
    maintenance: str | None,
    batch: tuple[int, int],
    kernel: str = "rbf",
) -> tuple[CoreRun, list[float]]:
    """Visit points in one call of the core; points come more than once."""
    X, y = data(form)
    budget = None if maintenance is None else 12
    core, _ = make_pair(
        X, y, kernel=kernel, solver=solver, maintenance=maintenance or "remove", budget=budget
    )
    core.batch_size, core.n_threads = batch
    return core, list(core.visit(iid(len(y), VISITS)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("maintenance", [*MAINTENANCE, None])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_batch_size_makes_the_same_steps(
    solver: str, maintenance: str | None, form: str
) -> None:
    """One point at a time is batch size 1."""
    plain, counts = run(form, solver, maintenance, (1, 1))
    golden = maintenance is not None and MAINTENANCE[maintenance][0].core()[1]
    tolerance = 1e-5 if golden else 1e-7  # golden section ends where it is sure of six digits
    scale = abs(plain.coef).max()
    assert counts[0] > 100
    for size in range(2, 301):
        core, found = run(form, solver, maintenance, (size, 1))
        assert found[:4] == counts[:4], size  # steps, violations, mistakes, merges
        np.testing.assert_allclose(found[4:], counts[4:], rtol=10 * tolerance, atol=tolerance)
        np.testing.assert_allclose(core.alpha, plain.alpha, rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(core.coef, plain.coef, rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(
            core.terms.points(), plain.terms.points(), rtol=0, atol=tolerance
        )


@pytest.mark.parametrize(
    ("kernel", "maintenance"),
    [("laplacian", "remove"), ("poly", "project"), ("linear", "remove"), ("sigmoid", "remove")],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_kernels_in_batches(solver: str, kernel: str, maintenance: str) -> None:
    plain, counts = run("dense", solver, maintenance, (1, 1), kernel)
    for size in (2, 31, 32, 33, 64, 100, 300):
        core, found = run("dense", solver, maintenance, (size, 1), kernel)
        assert found[:4] == counts[:4]
        scale = abs(plain.coef).max()
        np.testing.assert_allclose(core.coef, plain.coef, rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("maintenance", ["merge", "project", "remove", None])
@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_change_nothing(solver: str, maintenance: str | None, form: str) -> None:
    """Not a bit: a point's value does not depend on who computes it."""
    plain, counts = run(form, solver, maintenance, (150, 1))
    for threads in (2, 3, 5):
        core, found = run(form, solver, maintenance, (150, threads))
        assert found == counts
        np.testing.assert_array_equal(core.coef, plain.coef)
        np.testing.assert_array_equal(core.terms.points(), plain.terms.points())
        np.testing.assert_array_equal(core.alpha, plain.alpha)


def test_many_features() -> None:
    """Where the points of a batch take too much room as panels, their pairs come one by one."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 9000), density=0.01, format="csr", rng=rng)
    y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    runs = []
    for size in (1, 40):  # 40 points of 9000 doubles are more than a megabyte
        core, _ = make_pair(X, y, kernel="rbf", solver="bsca", maintenance="merge", budget=12)
        core.batch_size = size
        runs.append((core, core.visit(np.arange(60))))
    (one, counts), (many, found) = runs
    assert found[:4] == counts[:4]
    np.testing.assert_allclose(many.coef, one.coef, rtol=1e-9)
    np.testing.assert_allclose(many.terms.points(), one.terms.points(), atol=1e-9)


def trained_on(X: Any) -> CoreRun:
    """Return a model that has one term less than X has rows, all of one class."""
    core, _ = make_pair(
        X.astype(float),
        np.ones(len(X)),
        kernel="rbf",
        solver="bsca",
        maintenance="remove",
        budget=len(X) - 1,
    )
    core.visit(np.arange(len(X)))
    return core


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_of_dense_rows_are_skipped_exactly(dtype: Any) -> None:
    """Mostly zero or not, dense or sparse: the same kernel values, bit by bit."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((70, 30)) < 0.2, rng.standard_normal((70, 30)), 0).astype(dtype)
    X[::7] = rng.standard_normal((10, 30))
    X[3] = 0
    core = trained_on(X[:20])
    dense, csr = np.zeros(70), np.zeros(70)
    kernel = core.terms.core_kernel(core.kernel)
    for rows, out in ((X, dense), (sparse.csr_array(X), csr)):
        _core.decision(core_rows(rows, dtype), core.terms.arrays, core.terms.size, kernel, out)
    np.testing.assert_array_equal(dense, csr)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_read_in_place(dtype: Any) -> None:
    """Any layout and precision, with a centre: what the core reads is what NumPy would copy."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 6)).astype(dtype)
    centre = X.mean(axis=0, dtype=np.float64)
    chosen = rng.permutation(50)[:20]
    core = trained_on(X[:10])
    kernel = core.terms.core_kernel(core.kernel)
    expected = np.zeros(20)
    copied = np.ascontiguousarray(X[chosen] - centre)
    _core.decision((copied, None, None), core.terms.arrays, core.terms.size, kernel, expected)
    for form in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        out = np.zeros(20)
        source = Rows(form, np.float64, centre).source(chosen)
        _core.decision(source, core.terms.arrays, core.terms.size, kernel, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12)
