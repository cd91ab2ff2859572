"""What is left out of a model's terms is less than rounding errors, wherever a row is."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._model import expansion
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.pruning import OrderedTerms, may_prune, near_together, ordered_if_it_pays
from budgetsvm._problem.rows import Rows

KINDS = {"rbf": kernels.Gaussian, "laplacian": kernels.Laplacian}
GAMMAS = {"rbf": [0.5, 8.0, 60.0], "laplacian": [0.5, 4.0, 20.0]}


def one_hot_rows(n: int, seed: int) -> Any:
    """Clouds, with a column of zeros and ones for each of them as well."""
    rng = np.random.default_rng(seed)
    cloud = rng.integers(12, size=n)
    centres = np.random.default_rng(99).uniform(-2, 2, (12, 4))
    return np.column_stack([centres[cloud] + 0.2 * rng.standard_normal((n, 4)), np.eye(12)[cloud]])


def rows_everywhere(seed: int = 1) -> Any:
    """Rows near the terms, between them, and so far away that all values are tiny, or zero."""
    X, rng = one_hot_rows(700, seed), np.random.default_rng(seed)
    X[300:500] += 0.7 * rng.standard_normal((200, X.shape[1]))
    X[500:600] += 3 * rng.standard_normal((100, X.shape[1]))
    X[600:] *= 30
    return X


def model_of(name: str, gamma: float, dtype: Any, size: int = 1500) -> KernelExpansion:
    rng = np.random.default_rng(2)
    points, coef = one_hot_rows(size, 3).astype(dtype), rng.standard_normal((1, size)) ** 3
    return KernelExpansion(KINDS[name](gamma), points, coef, np.zeros(1), None)


def pruned(model: KernelExpansion, X: Any) -> Any:
    terms = OrderedTerms(model.points, model.coef[0], model.kernel)
    out, rows = np.empty(X.shape[0]), Rows(X, model.points.dtype.type, None)
    source, store = rows.source(slice(0, len(out))), terms.store
    _core.pruned_decision(source, store.arrays, store.size, terms.kernel, terms.extents, out)
    return out


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "gamma"), [(k, g) for k in GAMMAS for g in GAMMAS[k]])
def test_as_exact_as_with_all_terms(name: str, gamma: float, dtype: Any, form: str) -> None:
    model, X = model_of(name, gamma, dtype), rows_everywhere().astype(dtype).astype(np.float64)
    given = sparse.csr_array(X) if form == "csr" else X
    plain, ours = model.decision(given)[:, 0], pruned(model, given)
    K = model.kernel.matrix(X, model.points.astype(np.float64))
    exact, sizes = K @ model.coef[0], K @ abs(model.coef[0])
    roundoff = float(np.finfo(dtype).eps) / 2
    tiny = 1500 * abs(model.coef).max() * float(np.finfo(dtype).tiny)
    bound = roundoff * np.maximum(1, gamma * model.kernel.norms(X)) * sizes
    # What is left out, and another order of the sums; then that all values have rounding errors.
    assert (abs(ours - plain) <= (1 + 1e-3) * bound + 8 * roundoff * sizes + tiny).all()
    assert (abs(ours - exact) <= 20 * bound + 8 * roundoff * sizes + tiny).all()
    far = np.flatnonzero(K.max(axis=1) < 1e-6)
    assert len(far) > 50  # where small values decide
    sure = abs(exact) > 40 * bound + tiny
    np.testing.assert_array_equal(np.sign(ours)[sure], np.sign(exact)[sure])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KINDS)
def test_a_panel_that_is_not_near_has_no_value_that_counts(name: str, dtype: Any) -> None:
    model, X = model_of(name, 4.0, dtype), rows_everywhere().astype(dtype).astype(np.float64)
    terms = OrderedTerms(model.points, model.coef[0], model.kernel)
    K = model.kernel.matrix(X, model.points[terms.order].astype(np.float64))
    lanes = terms.store.lanes
    padded = np.zeros((len(X), terms.n_panels * lanes))
    padded[:, : K.shape[1]] = K
    largest = padded.reshape(len(X), terms.n_panels, lanes).max(axis=2)
    for form in (X, sparse.csr_array(X)):
        near = terms.near(Rows(form, dtype, None), slice(0, len(X)), 1e-6)
        assert (largest[~near] <= 1e-6).all()
        assert near[:300].mean() < 0.5
        some = np.array([5, 3, 699, 3])
        np.testing.assert_array_equal(terms.near(Rows(form, dtype, None), some, 1e-6), near[some])


@pytest.mark.parametrize("n", [1, 31, 64, 65, 1000])
def test_every_term_has_a_place(n: int) -> None:
    for points in (one_hot_rows(n, 0), np.ones((n, 3)), np.zeros((n, 1)), np.full((n, 2), 1e150)):
        np.testing.assert_array_equal(np.sort(near_together(points, 32)), np.arange(n))


@pytest.fixture
def few_rows_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "_MANY_ROWS", 100)


@pytest.mark.usefixtures("few_rows_do")
def test_a_model_decides_by_its_terms_alone() -> None:
    narrow, wide = model_of("rbf", 60.0, np.float32), model_of("rbf", 0.1, np.float32)
    assert narrow._pruned is not None
    assert wide._pruned is None
    assert model_of("rbf", 60.0, np.float32, 500)._pruned is None  # too few to gain anything
    linear = KernelExpansion(kernels.Linear(), narrow.points, narrow.coef, np.zeros(1), None)
    assert linear._pruned is None
    X = rows_everywhere()
    np.testing.assert_array_equal(narrow.decision(X)[:, 0], pruned(narrow, X))


@pytest.mark.usefixtures("few_rows_do")
def test_threads_and_neighbours_do_not_change_a_value() -> None:
    model, X = model_of("rbf", 60.0, np.float32), np.tile(rows_everywhere(), (20, 1))
    values = model.decision(X)
    np.testing.assert_array_equal(values, model.decision(X, 3))
    np.testing.assert_array_equal(values[37:500], model.decision(X[37:500]))
    np.testing.assert_array_equal(values[:700], values[700:1400])


@pytest.mark.usefixtures("few_rows_do")
def test_nothing_but_the_model_is_pickled() -> None:
    model = model_of("rbf", 60.0, np.float32)
    before = pickle.dumps(model)
    values = model.decision(rows_everywhere())
    assert "_pruned" in vars(model)
    assert len(pickle.dumps(model)) == len(before)
    np.testing.assert_array_equal(pickle.loads(before).decision(rows_everywhere()), values)


def test_rows_out_of_reach() -> None:
    model = model_of("rbf", 60.0, np.float32)
    X = np.array([1e10, 1e30, 3e38, 1e154])[:, np.newaxis] * np.ones(16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(pruned(model, X), 0)


def test_coefficients_of_zero() -> None:
    model = model_of("rbf", 60.0, np.float64)
    model.coef[0, 100:] = 0
    X = rows_everywhere()
    np.testing.assert_allclose(pruned(model, X), model.decision(X)[:, 0], rtol=1e-9, atol=1e-300)
    model.coef[:] = 0
    np.testing.assert_array_equal(pruned(model, X), 0)


def test_a_look_ends_it_where_all_values_count() -> None:
    points = one_hot_rows(2000, 0)
    rows = Rows(points, np.float64, None)
    assert not may_prune(rows, points, kernels.Gaussian(0.05), 1e-9)
    assert may_prune(rows, points, kernels.Gaussian(60.0), 1e-9)
    assert not may_prune(rows, points, kernels.Polynomial(3, 1.0, 1.0), 1e-9)
    assert ordered_if_it_pays(points, np.ones(2000), kernels.Gaussian(0.05)) is None


@pytest.mark.usefixtures("few_rows_do")
def test_public_attributes_keep_their_order() -> None:
    X = one_hot_rows(3000, 5)
    y = np.where(np.sin(20 * X[:, 0]) > 0, 1, -1)
    model = BudgetSVC(budget=1100, gamma=60.0, basis="random", random_state=0).fit(X, y)
    assert model._expansion._pruned is not None
    K = kernels.Gaussian(60.0).matrix(X, np.asarray(model.support_vectors_))
    values = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-3)
