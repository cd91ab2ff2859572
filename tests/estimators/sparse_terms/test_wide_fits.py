"""Estimators on wide sparse data: terms stay sparse, and are those that dense terms would be."""

import pickle
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles.problems import wide_rows
from scipy import sparse

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, kernels, polish
from budgetsvm._estimators import machine
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._learn import trainer
from budgetsvm._model.snapshot import UPGRADES
from budgetsvm._problem.points import sparse_pays

Values = Callable[[Any, Any], Any]


def decision(model: Any, X: Any) -> Any:
    return model.predict(X) if isinstance(model, BudgetSVR) else model.decision_function(X)


def fitted(make: Callable[[], Any], X: Any, y: Any, monkeypatch: Any, *, dense: bool) -> Any:
    """Fit with the terms forced to be dense, or as they are, but with room for anything."""
    with monkeypatch.context() as patch:
        patch.setattr(trainer, "entry_room", lambda X: X.shape[1])
        if dense:
            patch.setattr(machine, "sparse_pays", lambda *_: False)
        model = make().fit(X, y)
    assert sparse.issparse(model.support_vectors_) == (not dense)
    return model


MACHINES: dict[str, Callable[[], Any]] = {
    "exact": lambda: BudgetSVC(budget=300, random_state=0),
    "both phases": lambda: BudgetSVC(budget=30, gamma=0.2, random_state=0),
    "single": lambda: BudgetSVC(budget=30, gamma=0.2, precision="single", random_state=0),
    "double": lambda: BudgetSVC(budget=30, gamma=0.2, precision="double", random_state=0),
    "phase 1": lambda: BudgetSVC(budget=30, gamma=0.2, polish=False, random_state=0),
    "no budget": lambda: BudgetSVC(budget=None, gamma=0.2, epochs=3, random_state=0),
    "bsgd": lambda: BudgetSVC(budget=30, gamma=0.2, solver="bsgd", polish=False, random_state=0),
    "project": lambda: BudgetSVC(budget=30, gamma=0.2, maintenance="project", random_state=0),
    "remove": lambda: BudgetSVC(
        budget=30, kernel="laplacian", gamma=0.1, maintenance="remove", random_state=0
    ),
    "linear": lambda: BudgetSVC(budget=30, kernel="linear", maintenance="remove", random_state=0),
    "poly": lambda: BudgetSVC(
        budget=30, kernel="poly", gamma=0.1, coef0=1, maintenance="project", random_state=0
    ),
    "sigmoid": lambda: BudgetSVC(
        budget=30, kernel="sigmoid", gamma=0.05, maintenance="remove", random_state=0
    ),
    "random": lambda: BudgetSVC(budget=30, basis="random", random_state=0),
    "intercept": lambda: BudgetSVC(budget=30, gamma=0.2, fit_intercept=True, random_state=0),
    "regression": lambda: BudgetSVR(budget=30, gamma=0.2, random_state=0),
    "one class": lambda: BudgetOneClassSVM(budget=30, gamma=0.2, random_state=0),
    "narrow": lambda: BudgetSVC(budget=30, gamma=1e4, precision="double", random_state=0),
}


@pytest.mark.parametrize("name", MACHINES)
def test_sparse_and_dense_terms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide_rows(250, 0)
    models = [fitted(MACHINES[name], X, y, monkeypatch, dense=dense) for dense in (False, True)]
    values = [decision(model, X) for model in models]
    scale = abs(values[1]).max()
    np.testing.assert_allclose(values[0] / scale, values[1] / scale, atol=0.02)
    np.testing.assert_array_equal(decision(models[0], X.toarray()), values[0])
    assert len(models[0].dual_coef_[0]) <= (models[0].budget or 10**9)
    if hasattr(models[1], "objective_"):
        np.testing.assert_allclose(models[0].objective_, models[1].objective_, rtol=0.02)


@pytest.mark.parametrize("joint", ["ovr", "weston-watkins"])
@pytest.mark.parametrize("budget", [20, None])
def test_several_outputs(joint: str, budget: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = wide_rows(250, 1)
    y = np.random.default_rng(0).integers(0, 3, 250)
    named = {} if joint == "ovr" else {"multi_class": joint}
    if budget is None and joint != "ovr":
        pytest.skip("needs a budget")

    def make() -> Any:
        return BudgetSVC(budget=budget, gamma=0.2, epochs=2, random_state=0, **named)

    values = [fitted(make, X, y, monkeypatch, dense=d).decision_function(X) for d in (False, True)]
    np.testing.assert_allclose(values[0], values[1], atol=0.03 * abs(values[1]).max())


def test_when_terms_are_sparse() -> None:
    gaussian = kernels.Gaussian(1.0)
    X, _ = wide_rows(100, 0)
    assert sparse_pays(X, gaussian)
    assert not sparse_pays(X.toarray(), gaussian)
    assert not sparse_pays(X, kernels.Callback(lambda X, Z: X @ Z.T))
    assert not sparse_pays(X[:, :1024], gaussian)
    assert not sparse_pays(sparse.random_array((100, 3000), density=0.05, format="csr"), gaussian)
    long = sparse.lil_array(X)
    long[3, :1000] = 1.0
    assert not sparse_pays(sparse.csr_array(long), gaussian)


def test_a_kernel_function_has_dense_terms() -> None:
    X, y = wide_rows(60, 0)
    model = BudgetSVC(budget=10, kernel=lambda X, Z: X @ Z.T, maintenance="remove", random_state=0)
    assert isinstance(model.fit(X, y).support_vectors_, np.ndarray)


def test_files_are_small_and_say_the_same() -> None:
    X, y = wide_rows(300, 2, d=100_000)
    for model in (BudgetSVC(budget=50, random_state=0), BudgetFeatures(budget=50, random_state=0)):
        model.fit(X, y)
        ask = model.transform if isinstance(model, BudgetFeatures) else model.decision_function
        data = pickle.dumps(model)
        assert len(data) < 100_000
        again, opened = pickle.loads(data), machine_of(snapshot_of(model))
        for other in (again, opened):
            said = (
                other.transform(X)
                if isinstance(other, BudgetFeatures)
                else other.decision_function(X)
            )
            np.testing.assert_array_equal(said, ask(X))


def test_version_two_had_dense_points() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    snapshot = snapshot_of(BudgetSVC(budget=10, random_state=0).fit(X, X[:, 0] > 0))
    assert isinstance(snapshot["machine"]["state"]["model"]["points"], np.ndarray)
    again = machine_of(snapshot | {"version": 2})
    assert 2 in UPGRADES
    assert again.predict(X).shape == (60,)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("indices", np.full(10**3, 7, np.int32), "indices"),
        ("indptr", np.array([0, 5]), "indptr"),
        ("width", 0, "width"),
        ("data", np.array([np.nan]), "data"),
    ],
)
def test_damaged_snapshots(field: str, value: Any, message: str) -> None:
    X, y = wide_rows(100, 2)
    snapshot = snapshot_of(BudgetSVC(budget=20, random_state=0).fit(X, y))
    snapshot["machine"]["state"]["model"]["points"][field] = value
    with pytest.raises(ValueError, match=message):
        machine_of(snapshot)


@pytest.mark.parametrize("order", ["sparse, dense", "dense, sparse", "sparse, full"])
def test_blocks_of_any_kind(order: str) -> None:
    X, y = wide_rows(300, 3)
    full = np.random.default_rng(0).standard_normal((300, 3000))
    blocks = {"sparse": X, "dense": X.toarray(), "full": full}
    model, named = BudgetSVC(budget=25, random_state=0, gamma=0.2), order.split(", ")
    for name in (*named, *named):
        model.partial_fit(blocks[name], y, classes=[-1, 1])
        assert model.support_vectors_.shape[0] <= 25
    assert sparse.issparse(model.support_vectors_) == (order == "sparse, dense")
    model.polish_now()
    np.testing.assert_allclose(
        model.decision_function(X), model.decision_function(X.toarray()), atol=1e-3
    )


def test_unusual_matrices() -> None:
    X, y = wide_rows(200, 4)
    usual = BudgetSVC(budget=20, random_state=0).fit(X, y).decision_function(X)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for other in (wide, _split_in_two(X), X.tocsc(), sparse.csr_matrix(X)):
        model = BudgetSVC(budget=20, random_state=0).fit(other, y)
        np.testing.assert_allclose(model.decision_function(other), usual, atol=1e-4)


def _split_in_two(X: Any) -> Any:
    """Return the same matrix with every entry twice, each half of it, and in falling order."""
    rows = [
        np.repeat(X.indices[a:b][::-1], 2) for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]
    data = [
        np.repeat(X.data[a:b][::-1] / 2, 2) for a, b in zip(X.indptr, X.indptr[1:], strict=False)
    ]
    return sparse.csr_array(
        (np.concatenate(data), np.concatenate(rows), 2 * X.indptr), shape=X.shape
    )


def test_more_features_than_can_be_counted() -> None:
    X = sparse.csr_array(([1.0, 2.0], ([0, 1], [5, 3 * 10**9 - 1])), shape=(2, 3 * 10**9))
    with pytest.raises(ValueError, match="X has 3000000000 features"):
        BudgetSVC().fit(X, [0, 1])


def test_very_many_features() -> None:
    X, y = wide_rows(200, 12)
    far = sparse.csr_array((X.data, X.indices * 600_000, X.indptr), shape=(200, 1_800_000_000))
    models = [BudgetSVC(budget=20, gamma=0.2, random_state=0).fit(rows, y) for rows in (X, far)]
    values = models[0].decision_function(X)
    np.testing.assert_allclose(
        models[1].decision_function(far), values, atol=0.05 * abs(values).max()
    )


@pytest.mark.parametrize("budget", [1, 2, 5000])
def test_extreme_budgets(budget: int) -> None:
    X, y = wide_rows(150, 5)
    model = BudgetSVC(budget=budget, random_state=0).fit(X, y)
    assert model.support_vectors_.shape[0] <= min(budget, 150)


def test_nothing_but_zeros_and_duplicates() -> None:
    X = sparse.csr_array((40, 5000))
    y = np.arange(40) % 2
    BudgetSVC(budget=5, random_state=0).fit(X, y).predict(X)
    same = sparse.csr_array(([1.0] * 40, ([*range(40)], [7] * 40)), shape=(40, 5000))
    model = BudgetSVC(budget=5, random_state=0).fit(same, y)
    assert np.isfinite(model.decision_function(same)).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_change_no_bit(n_jobs: int) -> None:
    X, y = wide_rows(600, 6)
    models = [BudgetSVC(budget=40, n_jobs=n, random_state=0).fit(X, y) for n in (1, n_jobs)]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))


def test_warm_start_and_a_smaller_budget() -> None:
    X, y = wide_rows(300, 7)
    model = BudgetSVC(budget=40, warm_start=True, gamma=0.2, random_state=0).fit(X, y)
    terms = model.support_vectors_.toarray()
    model.set_params(C=2.0).fit(X, y)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), terms)
    model.set_params(budget=20).partial_fit(X, y)
    assert sparse.issparse(model.support_vectors_)
    assert model.support_vectors_.shape[0] <= 20


@pytest.mark.parametrize("form", [sparse.csr_array, lambda Z: Z.toarray()])
def test_given_points(form: Any) -> None:
    X, y = wide_rows(200, 8)
    found = polish(X, y, form(X[5:25]), gamma=0.2)
    assert sparse.issparse(found.points)
    assert found.converged
    dense = polish(X.toarray(), y, form(X[5:25]), gamma=0.2)
    assert isinstance(dense.points, np.ndarray)
    assert found.primal == pytest.approx(dense.primal, rel=0.02)


@pytest.mark.slow
def test_cluster_centres(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = wide_rows(400, 9)

    def make() -> Any:
        return BudgetSVC(budget=12, gamma=0.1, basis="kmeans", random_state=0)

    models = [fitted(make, X, y, monkeypatch, dense=dense) for dense in (False, True)]
    assert 1 < models[0].support_vectors_.shape[0] <= 12
    assert models[0].objective_[0] < 1.1 * models[1].objective_[0]


@pytest.mark.parametrize("n_features", [100_000, 1_000_000])
def test_memory(n_features: int) -> None:
    X, y = wide_rows(200, 10, d=n_features)
    model = BudgetSVC(budget=50, random_state=0)
    tracemalloc.start()
    try:
        model.fit(X, y)
        model.predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * n_features  # dense terms: 50 * 4 * n_features for a copy of them


def test_monitors_see_sparse_points() -> None:
    from budgetsvm.monitoring import Trace

    X, y = wide_rows(200, 11)
    model = BudgetSVC(budget=20, gamma=0.2, random_state=0, monitor=Trace()).fit(X, y)
    assert len(model.monitor_) > 1
