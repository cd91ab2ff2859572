"""The core's solvers against the plain NumPy ones, step by step."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import blobs, moons, noisy_xor
from scipy.optimize import linear_sum_assignment
from tools.core.runs import MAINTENANCE, SOLVERS, CoreRun, data, dense, iid, make_pair

from budgetsvm import BudgetSVC, kernels
from budgetsvm.maintenance import Project
from budgetsvm.solvers import BSCA, BSGD


class Follow:
    """Lets the reference take the core's choice where it is as good as the best one.

    The core ranks partners by a table: where two are nearly as cheap it may take the other one, or
    fold them in another order. It may also break ties of |β| differently, as its sums are rounded
    differently. `wanted` are the terms that the core dropped in this visit, in the order to try.
    """

    def __init__(self, wanted: Sequence[int], tolerance: float) -> None:
        self.wanted, self.tolerance = list(wanted), tolerance
        self.followed = 0

    def __call__(self, candidates: Sequence[int], costs: Any) -> int:
        limit = costs.min() * (1 + self.tolerance) + 1e-15
        best = reference.argmin(candidates, costs)
        tied = {j for j, cost in zip(candidates, costs, strict=True) if cost <= limit}
        choice = next((j for j in self.wanted if j in tied), best)
        self.followed += choice != best
        return choice


def dropped(before: Any, after: Any) -> set[int]:
    """Rows of `before` that do not occur in `after`, bit by bit."""
    left = {row.tobytes() for row in after}
    return {j for j, row in enumerate(before) if row.tobytes() not in left}


def distance(model: reference.Model, coef: Any, points: Any) -> float:
    """How far two sets of terms are apart, whatever their order."""
    if len(model) != len(coef):
        return np.inf
    beta, z = reference.split(model, points.shape[1])
    scale = max(abs(beta).max(initial=0), 1e-300)
    apart = abs(points[:, np.newaxis] - z).max(axis=2)
    # where a term is light its place matters as little
    apart = apart * np.minimum(1, abs(coef) / scale)[:, np.newaxis]
    apart = np.maximum(apart, abs(coef[:, np.newaxis] - beta) / scale)
    return float(apart[linear_sum_assignment(apart)].max(initial=0))


def sum_duplicates(coef: Any, points: Any) -> tuple[Any, Any]:
    """One term per point. How a projection splits a coefficient over equal points is its affair."""
    unique, which = np.unique(points, axis=0, return_inverse=True)
    return np.bincount(which.ravel(), coef, len(unique)), unique


def visit_and_compare(
    core: CoreRun, plain: Any, i: int, *, probes: Any, tolerance: float, tie: float
) -> tuple[bool, int]:
    """One visit by both, from the same state; everything must agree. Returns (step?, near-ties)."""
    terms, point = core.terms, plain.X[i]
    before = np.column_stack([terms.coef[: terms.size], terms.points()])
    plain.model = list(zip(core.coef, terms.points(), strict=True))
    plain.alpha = core.alpha
    alpha = core.alpha_stored[i]
    steps, _, _, merges, degradation, _ = core.visit(i)
    if isinstance(core.solver, BSGD):
        inserted = core.y[i] * len(core.y) * core.C[i]
    else:
        inserted = core.y[i] * (core.alpha_stored[i] - alpha)
    before = np.vstack([before, [inserted, *point]])
    after = np.column_stack([terms.coef[: terms.size], terms.points()])
    if isinstance(core.maintenance, Project):  # changes all coefficients, but no point
        before[:, 0] = after[:, 0] = 0
    gone = dropped(before, after) if merges else set()
    stepped, followed = _visit_like_the_core(
        core, plain, i, gone=gone, tie=tie, tolerance=tolerance
    )
    assert stepped == bool(steps)
    np.testing.assert_allclose(core.alpha, plain.alpha, rtol=tolerance, atol=tolerance * plain.C[i])
    f = core.decision(probes)
    expected = reference.decision(plain.model, plain.kernel, dense(probes))
    np.testing.assert_allclose(f, expected, rtol=0, atol=tolerance * (1 + abs(expected).max()))
    norm = float(abs(core.coef).sum()) ** 2 * plain.kernel(terms.points(), terms.points()).max()
    rounding = (1e-7 if core.maintenance.core()[1] else 1e-12) * (1 + norm)
    assert degradation == pytest.approx(plain.degradation, rel=100 * tolerance, abs=rounding)
    return stepped, followed


def _visit_like_the_core(
    core: CoreRun, plain: Any, i: int, *, gone: set[int], tie: float, tolerance: float
) -> tuple[bool, int]:
    """Visit by the reference, with the core's choices among near-ties; the terms must agree."""
    model, alpha, t = plain.model, plain.alpha, plain.t
    for wanted in itertools.permutations(sorted(gone)):
        plain.model, plain.alpha, plain.t = list(model), alpha.copy(), t
        choose, pick = Follow(wanted, 1e-9), Follow(wanted, tie)
        stepped = plain.visit(i, choose, pick)
        coef, points = core.coef, core.terms.points()
        reached = plain.model
        if isinstance(core.maintenance, Project):
            coef, points = sum_duplicates(coef, points)
            split = reference.split(reached, points.shape[1])
            reached = list(zip(*sum_duplicates(*split), strict=True))
        apart = distance(reached, coef, points)
        if apart <= tolerance:
            return stepped, pick.followed
    raise AssertionError(f"visit {core.t}: terms differ by {apart:.1e}")


def run_and_compare(
    core: CoreRun, plain: Any, order: Any, tolerance: float = 1e-9, tie: float = 0.03
) -> int:
    """Visit points one by one; returns the number of steps. Near-ties must be the exception."""
    probes = core.X[::7]
    results = []
    for i in order:
        plain.model = list(zip(core.coef, core.terms.points(), strict=True))
        # A point visited again before the model has changed has margin 1 up to rounding: whether
        # δ is 0 or 1e-17 is then a matter of luck.
        if abs(plain.margin(i) - 1) > 1e-10:
            results.append(
                visit_and_compare(core, plain, int(i), probes=probes, tolerance=tolerance, tie=tie)
            )
        assert core.budget is None or core.terms.size <= core.budget
    steps = sum(step for step, _ in results)
    assert len(results) >= 0.9 * len(order)
    assert sum(followed for _, followed in results) <= 0.1 * steps
    return steps


# ---- agreement, step by step ----


@pytest.mark.sampled(4)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_steps_agree_with_the_reference(solver: str, maintenance: str, form: str) -> None:
    X, y = data(form)
    golden = MAINTENANCE[maintenance][0].core()[1]
    core, plain = make_pair(X, y, kernel="rbf", solver=solver, maintenance=maintenance, budget=12)
    steps = run_and_compare(core, plain, iid(len(y), 450), 1e-5 if golden else 1e-9)
    assert steps >= 300


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kernel", "maintenance"),
    [
        ("laplacian", "project"),
        ("laplacian", "remove"),
        ("poly", "project"),
        ("poly", "remove"),
        ("linear", "project"),
        ("linear", "remove"),
        ("sigmoid", "remove"),  # not positive definite: projection has no meaning
    ],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_other_kernels_agree_with_the_reference(solver: str, kernel: str, maintenance: str) -> None:
    X, y = data("dense")
    core, plain = make_pair(X, y, kernel=kernel, solver=solver, maintenance=maintenance, budget=4)
    tolerance = 1e-6 if maintenance == "project" else 1e-9  # the ridge of unequal k(z, z)
    assert run_and_compare(core, plain, iid(len(y), 450), tolerance) >= 150


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_budget(solver: str, kernel: str, form: str) -> None:
    """SCA and kernel Pegasos: one term per training point at most."""
    X, y = data(form)
    core, plain = make_pair(X, y, kernel=kernel, solver=solver, maintenance="remove", budget=None)
    assert run_and_compare(core, plain, iid(len(y), 400)) >= 150
    assert core.terms.size <= len(y)
    np.testing.assert_allclose(
        core.coef, [plain.y[i] * core.alpha[i] for i in plain.owner], rtol=1e-9, atol=1e-12
    )


def test_comparison_notices_a_small_difference() -> None:
    """The comparison itself can fail: here because gamma is not quite the same."""
    X, y = data("dense")
    core, plain = make_pair(X, y, kernel="rbf", solver="bsca", maintenance="merge", budget=12)
    run_and_compare(core, plain, iid(len(y), 40))
    core.kernel = kernels.Gaussian(0.15 * (1 + 1e-4))
    with pytest.raises(AssertionError):
        run_and_compare(core, plain, iid(len(y), 5))


# ---- blocks ----


@pytest.mark.parametrize("maintenance", [*MAINTENANCE, None])
@pytest.mark.parametrize("solver", SOLVERS)
def test_block_length_does_not_matter(solver: str, maintenance: str | None) -> None:
    """The same visits, in one call or in many, with the same point twice in a block."""
    X, y = noisy_xor(120, 8)
    budget = None if maintenance is None else 12
    order = np.concatenate([np.random.default_rng(k).permutation(len(y)) for k in range(4)])
    assert len(np.unique(order[:300])) < 300  # points come more than once in a block
    results = []
    for length in (1, 2, 7, 300, len(order)):
        core, _ = make_pair(
            X, y, kernel="rbf", solver=solver, maintenance=maintenance or "remove", budget=budget
        )
        counts = np.sum(
            [core.visit(order[k : k + length]) for k in range(0, len(order), length)], axis=0
        )
        results.append((core.terms.size, core.decision(X), core.alpha, counts))
    for size, f, alpha, counts in results[1:]:
        assert size == results[0][0]
        # A projection's factor is kept in a block; golden section ends where it is sure of six digits.
        tolerance = {"project": 1e-6, "golden": 1e-5, "paper": 1e-5}.get(maintenance or "", 1e-9)
        np.testing.assert_allclose(f, results[0][1], rtol=0, atol=tolerance)
        np.testing.assert_allclose(alpha, results[0][2], rtol=0, atol=tolerance)
        np.testing.assert_array_equal(counts[:4], results[0][3][:4])
        np.testing.assert_allclose(counts[4:], results[0][3][4:], rtol=max(1e-6, tolerance))


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_point_visited_again_and_again(solver: str) -> None:
    """A block of one point: the later visits see what the earlier ones did."""
    X, y = blobs(5, 2, 0)
    for budget in (None, 1, 3):
        core, plain = make_pair(
            X,
            y,
            kernel="rbf",
            solver=solver,
            maintenance="merge" if budget else "remove",
            budget=budget,
        )
        core.visit([2] * 6)
        for _ in range(6):
            plain.visit(2)
        expected = reference.decision(plain.model, plain.kernel, X)
        np.testing.assert_allclose(core.decision(X), expected, rtol=1e-9)
        np.testing.assert_allclose(core.alpha, plain.alpha, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("budget", [1, 2, 3, 33])
def test_size_never_exceeds_the_budget(budget: int, maintenance: str, dtype: Any) -> None:
    X, y = moons(150, 2)
    core = CoreRun(
        X,
        y,
        np.ones(150),
        kernel=kernels.Gaussian(2.0),
        solver=BSCA(),
        maintenance=MAINTENANCE[maintenance][0],
        budget=budget,
        dtype=dtype,
    )
    sizes = []
    for i in iid(len(y), 150):
        core.visit(i)
        sizes.append(core.terms.size)
    assert max(sizes) == budget
    assert np.isfinite(core.coef).all()
    assert np.isfinite(core.terms.points()).all()


# ---- terms of coefficient zero ----


def test_terms_that_cancel_are_dropped_first() -> None:
    """A term of coefficient zero costs nothing to remove, whatever the strategy."""
    X = np.array([[0.0], [1.0], [2.0]])
    y = np.ones(3)
    for maintenance in ("merge", "same-sign", "golden", "merge-3", "project", "remove"):
        core = CoreRun(
            X,
            y,
            np.ones(3),
            kernel=kernels.Gaussian(1.0),
            solver=BSCA(),
            maintenance=MAINTENANCE[maintenance][0],
            budget=2,
        )
        core.visit([0, 1])
        core.terms.coef[0] = 0.0
        before = core.coef[1]
        *_, merges, degradation, _ = core.visit(2)
        assert (merges, degradation) == (1, pytest.approx(0, abs=1e-15))
        assert core.terms.size == 2
        assert before in core.coef


def test_weight_zero_terms_are_not_kept_by_the_estimator() -> None:
    """Without a budget α_i can return to 0; such terms are not support vectors."""
    X, y = moons(200, 1, noise=0.1)
    model = BudgetSVC(C=5, gamma=2.0, budget=None, epochs=30, random_state=0).fit(X, y)
    assert (model.dual_coef_ != 0).all()
    assert len(model.support_vectors_) < model.history_[-1]["size"]


def test_permutations_cover_all_orders_of_multimerge() -> None:
    """Folding is pairwise and in order of cost: another order gives another term."""
    rng = np.random.default_rng(1)
    members = [(b, rng.standard_normal(2)) for b in (0.1, 0.7, -0.5)]
    kernel = reference.Kernel("rbf", 0.5)
    folded = [
        reference.Merge(3).fold([members[0], *rest], kernel)[0]
        for rest in itertools.permutations(members[1:])
    ]
    assert abs(folded[0] - folded[1]) > 1e-6
