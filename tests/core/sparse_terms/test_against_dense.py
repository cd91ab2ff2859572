"""Sparse terms in the core: the same as dense ones but for rounding."""

from typing import Any

import numpy as np
import pytest
from oracles.problems import KERNELS, wide_rows
from scipy import sparse
from tools.core.arguments import core_rows
from tools.core.runs import CoreRun

from budgetsvm import _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD

ROOM = 2000  # more entries than all rows have together
STRATEGIES: dict[str, Maintenance] = {
    "merge": Merge(),
    "golden": Merge(search="golden"),
    "multi-merge": Merge(4),
    "project": Project(),
    "remove": Remove(),
}


def sparse_store(run: CoreRun, capacity: int, room: int = ROOM) -> TermStore:
    return TermStore(capacity, run.X.shape[1], run.dtype, room)


def values(store: TermStore, X: Any, kernel: kernels.Kernel) -> Any:
    out = np.empty((X.shape[0], store.size), store.dtype)
    rows = core_rows(X, store.dtype)
    _core.kernel_block(rows, store.arrays, store.size, store.core_kernel(kernel), out)
    return out


def assert_sound(store: TermStore, room: int) -> None:
    points = store.points()
    lengths = np.diff(points.indptr)
    assert lengths.max(initial=0) <= room
    for j in range(store.size):
        features = points.indices[points.indptr[j] : points.indptr[j + 1]]
        assert (np.diff(features) > 0).all()
    assert (points.data != 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_kernel_values(name: str, dtype: Any, form: str) -> None:
    X, _ = wide_rows(300, 0)
    kernel, gram = KERNELS[name]
    points, rows = X[:170].astype(dtype), X[170:].astype(dtype)
    store = TermStore.of(points, np.zeros(170), kernel, 0)
    got = values(store, rows if form == "sparse" else rows.toarray(), kernel)
    expected = gram(rows.toarray().astype(float), points.toarray().astype(float))
    np.testing.assert_allclose(
        got, expected, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-6
    )
    panels = TermStore.of(points.toarray(), np.zeros(170), kernel, 0)
    np.testing.assert_allclose(got, values(panels, rows, kernel), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_a_value_does_not_depend_on_the_other_terms(name: str) -> None:
    """Features of many terms have a column, those of few a list: the sums are the same bits."""
    X, _ = wide_rows(600, 1, d=2000, entries=20)
    kernel, _ = KERNELS[name]
    every = TermStore.of(X[:500].astype(np.float32), np.zeros(500), kernel, 0)
    few = TermStore.of(X[:9].astype(np.float32), np.zeros(9), kernel, 0)
    np.testing.assert_array_equal(
        values(every, X[500:], kernel)[:, :9], values(few, X[500:], kernel)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", [BSCA(), BSGD()], ids=["bsca", "bsgd"])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", KERNELS)
def test_solvers(name: str, strategy: str, solver: Any, dtype: Any) -> None:
    kernel, maintenance = KERNELS[name][0], STRATEGIES[strategy]
    if strategy in ("merge", "golden", "multi-merge") and name != "rbf":
        pytest.skip("merging needs the Gaussian kernel")
    X, y = wide_rows(120, 2)
    runs = [
        CoreRun(
            X,
            y,
            np.ones(len(y)),
            kernel=kernel,
            solver=solver,
            maintenance=maintenance,
            budget=25,
            dtype=dtype,
        )
        for _ in range(2)
    ]
    runs[1].terms = sparse_store(runs[1], 26)
    order = np.random.default_rng(0).permutation(120)
    counts = [np.array(run.visit(order)) for run in runs]
    assert_sound(runs[1].terms, ROOM)
    tolerance = 2e-2 if dtype == np.float32 else 1e-6
    np.testing.assert_allclose(counts[1], counts[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(
        runs[1].decision(X), runs[0].decision(X), rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        runs[1].terms.points().toarray(), runs[0].terms.points(), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("batch_size", [1, 7, 64])
@pytest.mark.parametrize("strategy", ["merge", "multi-merge"])
def test_batches_and_short_room(batch_size: int, strategy: str) -> None:
    """Where merged points have no room, batches see the same model as one point at a time."""
    X, y = wide_rows(200, 3)
    wide, decisions = kernels.Gaussian(0.05), []
    for size in (1, batch_size):
        run = CoreRun(
            X,
            y,
            np.ones(len(y)),
            kernel=wide,
            solver=BSCA(),
            maintenance=STRATEGIES[strategy],
            budget=15,
        )
        run.terms, run.batch_size = sparse_store(run, 16, 20), size
        run.visit(np.arange(200))
        assert_sound(run.terms, 20)
        decisions.append(run.decision(X))
    np.testing.assert_allclose(decisions[0], decisions[1], rtol=1e-8, atol=1e-8)


def weights_apart(before: tuple[Any, Any], after: tuple[Any, Any], gamma: float) -> float:
    """Return ‖Δw‖² from all kernel values; coefficients are (terms, outputs)."""
    points = sparse.vstack([before[0], after[0]]).toarray()
    coef = np.vstack([before[1], -after[1]])
    gram = kernels.Gaussian(gamma).matrix(points, points)
    return float(np.einsum("ic,ij,jc->", coef, gram, coef))


@pytest.mark.parametrize("room", [14, 20, ROOM])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("maintenance", [Merge(), Merge(3), Project(), Remove()], ids=repr)
def test_the_degradation_is_what_is_lost(room: int, outputs: int, maintenance: Maintenance) -> None:
    X, _ = wide_rows(40, 4)
    X, gamma = X[1:13], 0.1
    kernel, coef = kernels.Gaussian(gamma), np.random.default_rng(0).standard_normal((12, outputs))
    sizes = coef[:, 0] if outputs == 1 else np.linalg.norm(coef, axis=1)
    store = TermStore.of(X, sizes, kernel, 13, room)
    rows = np.zeros((store.capacity, outputs))
    rows[:12] = coef
    how = (kernel.core(), maintenance.core(), 11)
    if outputs == 1:
        size, lost = _core.reduce(store.arrays, 12, *how)
        rows[:, 0] = store.coef
    else:
        size, lost = _core.joint_reduce(store.arrays, 12, rows, *how)
    assert size <= 11
    apart = weights_apart((X, coef), (store.points(size), rows[:size]), gamma)
    assert lost == pytest.approx(apart, rel=1e-6, abs=1e-9)


def broken(**changes: Any) -> Any:
    X, _ = wide_rows(40, 0)
    store = TermStore.of(X[:32], np.zeros(32), kernels.Linear(), 0)
    points = dict(
        zip(("values", "indices", "starts", "counts", "features"), store.arrays[0], strict=True)
    )
    for name, change in changes.items():
        points[name] = change(
            points[name].copy() if hasattr(points[name], "copy") else points[name]
        )
    return tuple(points.values()), *store.arrays[1:]


def put(where: Any, value: Any) -> Any:
    def change(array: Any) -> Any:
        array[where] = value
        return array

    return change


BROKEN: dict[str, dict[str, Any]] = {
    "a feature too large": {"indices": put(0, 3000)},
    "a negative feature": {"indices": put(0, -1)},
    "features twice": {"indices": np.zeros_like},
    "too many entries": {"counts": put(1, 10**6)},
    "fewer than none": {"counts": put(1, -1)},
    "starts that fall": {"starts": put(1, 10**6)},
    "starts below zero": {"starts": put(0, -1)},
    "starts of others": {"starts": lambda a: a[:-1].copy()},
    "values of others": {"values": lambda a: a[:-1].copy()},
    "a term without norm": {"counts": lambda a: a[:-1].copy(), "starts": lambda a: a[:-1].copy()},
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_terms_are_refused(name: str) -> None:
    X, _ = wide_rows(40, 0)
    arrays, out = broken(**BROKEN[name]), np.empty((40, 32))
    with pytest.raises(ValueError, match=r"sparse term|differ in length"):
        _core.kernel_block(core_rows(X, np.float64), arrays, 32, kernels.Linear().core(), out)


def test_rows_without_room_are_refused() -> None:
    X, y = wide_rows(40, 0)
    kwargs: Any = {"kernel": kernels.Gaussian(1.0), "solver": BSCA(), "maintenance": Merge()}
    run = CoreRun(X, y, np.ones(len(y)), budget=5, **kwargs)
    run.terms = sparse_store(run, 6, 3)
    with pytest.raises(ValueError, match="more entries than a sparse term"):
        run.visit(np.arange(40))
    run = CoreRun(X.toarray(), y, np.ones(len(y)), budget=5, **kwargs)
    run.terms = sparse_store(run, 6)
    with pytest.raises(ValueError, match="dense rows"):
        run.visit(np.arange(40))
    unsorted = X.copy()
    unsorted.indices[: unsorted.indptr[2]] = unsorted.indices[: unsorted.indptr[2]][::-1].copy()
    run = CoreRun(unsorted, y, np.ones(len(y)), budget=5, **kwargs)
    run.terms = sparse_store(run, 6)
    with pytest.raises(ValueError, match="out of order"):
        run.visit(np.arange(40))
