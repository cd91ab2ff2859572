"""Merging terms with a row of coefficients each: where, and all options of Merge, one reduction at a time."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import reference
from oracles.problems import blobs
from tools.trainers import new_trainer

from budgetsvm import BudgetSVC, _core, kernels
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.settings import Settings
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ClassTargets
from budgetsvm.losses import Hinge
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA

GAUSSIAN, PLAIN = kernels.Gaussian(0.6), reference.Kernel("rbf", 0.6)
OPTIONS: dict[str, Merge] = {
    "table": Merge(),
    "golden": Merge(search="golden"),
    "same-sign": Merge(partners="same-sign"),
    "three": Merge(n_terms=3),
    "four of the same sign": Merge(n_terms=4, partners="same-sign"),
    "three, golden": Merge(n_terms=3, search="golden"),
}
# What rounding of points and rows may do, relative to (Σ|β|)².
ROUNDING = {np.float32: 1e-6, np.float64: 1e-13}


def plain_of(merge: Merge) -> reference.JointMerge:
    return reference.JointMerge(
        merge.n_terms, merge.partners == "same-sign", merge.search == "golden"
    )


class Terms:
    """Terms with rows of coefficients, for the core."""

    def __init__(self, rows: Any, points: Any, dtype: Any = np.float64) -> None:
        sizes = np.linalg.norm(rows, axis=1)
        self.store = TermStore.of(np.asarray(points, dtype), sizes, GAUSSIAN, 0)
        self.coef = np.zeros((self.store.capacity, rows.shape[1]))
        self.coef[: len(rows)] = rows

    def reduce(self, merge: Merge, budget: int) -> float:
        self.store.size, degradation = _core.joint_reduce(
            self.store.arrays, self.store.size, self.coef, GAUSSIAN.core(), merge.core(), budget
        )
        return degradation

    @property
    def state(self) -> tuple[Any, Any]:
        return self.coef[: self.store.size].copy(), self.store.points().astype(float)


def random_terms(rng: Any, size: int, n_outputs: int = 3, spread: float = 1.0) -> tuple[Any, Any]:
    """Rows of all directions, over two orders of magnitude."""
    rows = rng.standard_normal((size, n_outputs)) * 10 ** rng.uniform(-2, 0, (size, 1))
    return rows, spread * rng.standard_normal((size, 3))


def distance(before: tuple[Any, Any], after: tuple[Any, Any]) -> float:
    """‖w_before − w_after‖² from the full kernel matrix, summed over the outputs."""
    rows, points = np.vstack([before[0], -after[0]]), np.vstack([before[1], after[1]])
    return float(np.vdot(rows, PLAIN(points, points) @ rows))


def split(before: tuple[Any, Any], after: tuple[Any, Any]) -> tuple[list[int], Any]:
    """Which terms are gone, and what is new: a list of one row and its point, or none."""
    old, left = (
        [row.tobytes() + z.tobytes() for row, z in zip(*terms, strict=True)]
        for terms in (before, after)
    )
    gone = [j for j, term in enumerate(old) if term not in left]
    new = [(after[0][j], after[1][j]) for j, term in enumerate(left) if term not in old]
    return gone, new


def cheapest_fold(plain: reference.JointMerge, before: Any, a: int, partners: Any) -> list[Any]:
    """What the partners may become, folded in any order: near-ties may be taken as they come."""
    rows, points = before
    orders = ([a, *order] for order in itertools.permutations(partners))
    return [plain.fold(rows[order], points[order], PLAIN) for order in orders]


# ---- where to merge ----


def rows_degradation(rho: Any, t: Any, L: Any, h: Any) -> Any:
    """‖Δw‖² / |β_b|² from its definition, for two rows in a plane."""
    a, b, kappa = np.exp(-L * (1 - h) ** 2), np.exp(-L * h**2), np.exp(-L)
    before = rho**2 + 1 + 2 * t * rho * kappa
    return before - ((rho * a) ** 2 + b**2 + 2 * t * rho * a * b)


RATIOS = [1e-4, 0.1, 0.4, 0.8, 0.99, 1.0]
COSINES = [-1.0, -0.999, -0.9, -0.6, -0.2, 0.0, 0.3, 0.7, 0.95, 1.0]
DISTANCES = np.geomspace(1e-4, 40, 20)


@pytest.mark.parametrize(("iterations", "excess"), [(4, 0.02), (40, 1e-5)])
def test_merge_points_are_the_best(iterations: int, excess: float) -> None:
    """Everywhere in the cube; a few iterations are enough to choose a partner."""
    rho, t, L = (a.ravel() for a in np.meshgrid(RATIOS, COSINES, DISTANCES, indexing="ij"))
    found = np.array([_core.joint_merge_point(*x, iterations) for x in zip(rho, t, L, strict=True)])
    reach = 1 / np.sqrt(2 * L)
    grid = np.concatenate([np.linspace(-1.3, 0, 800), np.linspace(0, 1, 800)])[:, np.newaxis]
    costs = rows_degradation(rho, t, L, np.where(grid < 0, grid * reach, grid))
    best, rounding = costs.min(axis=0), 1e-14 * (1 + rho**2)
    assert (found[:, 1] <= (1 + excess) * best + rounding).all()
    at_found = rows_degradation(rho, t, L, found[:, 0])
    np.testing.assert_allclose(found[:, 1], at_found, rtol=1e-6, atol=1e-14)


@given(st.floats(1e-3, 1), st.floats(1e-4, 30), st.sampled_from([-1.0, 1.0]))
def test_parallel_rows_are_single_coefficients(rho: float, L: float, sign: float) -> None:
    h, degradation = _core.joint_merge_point(rho, sign, L)
    expected = _core.merge_point(sign * rho, L)
    assert degradation == pytest.approx(expected[2], rel=1e-5, abs=1e-13)
    if not (rho > 0.9 and sign * L > 1):  # next to the tie of two equal maxima
        assert h == pytest.approx(expected[0], abs=1e-3 * (1 + abs(expected[0])))


@pytest.mark.parametrize("L", [0.0, 1e-300, -1e-9, 650.0, 1e6, np.inf])
def test_merge_points_at_the_ends(L: float) -> None:
    for t in (-1.0, 0.0, 0.7):
        h, degradation = _core.joint_merge_point(0.5, t, L)
        assert h == 0
        assert degradation == pytest.approx(0.25 if L > 1 else 0.0, abs=1e-8)


def test_the_reference_finds_the_best_merge_point() -> None:
    rho, t, L = (a.ravel() for a in np.meshgrid(RATIOS, COSINES, DISTANCES, indexing="ij"))
    h = reference.joint_merge(rho, t, L)
    grid = np.linspace(-1, 1, 1001)[:, np.newaxis] * (1 / np.sqrt(2 * L) + 1)
    best = rows_degradation(rho, t, L, grid).min(axis=0)
    assert (rows_degradation(rho, t, L, h) <= best * (1 + 1e-9) + 1e-14).all()


def test_golden_section_finds_what_newton_finds() -> None:
    cube = itertools.product(
        [1e-2, 0.1, 0.4, 0.8, 0.99], np.linspace(-1, 1, 21), np.geomspace(1e-3, 30, 15)
    )
    for rho, t, L in cube:
        _, newton = _core.joint_merge_point(rho, t, L, 60)
        _, golden = _core.joint_merge_point(rho, t, L, golden=True)
        assert golden == pytest.approx(newton, rel=1e-3, abs=1e-13)


def test_golden_section_is_that_of_the_reference() -> None:
    for rho, t, L in itertools.product([0.1, 0.5, 0.9], [-0.95, -0.3, 0.2, 0.9], [0.05, 0.7, 3.0]):
        h, _ = _core.joint_merge_point(rho, t, L, golden=True)
        arrays = (np.array([value]) for value in (rho, t, L))
        assert h == pytest.approx(reference.golden_joint_merge(*arrays)[0], abs=3e-6)


# ---- one reduction ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPTIONS)
def test_degradation_is_the_distance_in_feature_space(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    for size, spread, n_outputs in itertools.product((2, 3, 7, 40), (0.05, 0.5, 2.0), (2, 5)):
        rows, points = random_terms(rng, size, n_outputs, spread)
        terms = Terms(rows, points, dtype)
        before = terms.state
        degradation = terms.reduce(OPTIONS[name], size - 1)
        scale = float(np.linalg.norm(rows, axis=1).sum()) ** 2
        expected = distance(before, terms.state)
        assert degradation == pytest.approx(expected, rel=1e-3, abs=ROUNDING[dtype] * scale)
        assert degradation >= 0
        norms = np.linalg.norm(terms.state[0], axis=1)
        np.testing.assert_allclose(terms.store.coef[: terms.store.size], norms, rtol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPTIONS)
def test_reductions_agree_with_the_reference(name: str, dtype: Any) -> None:
    rng, merge = np.random.default_rng(2), OPTIONS[name]
    plain = plain_of(merge)
    for trial in range(30):
        size, spread = int(rng.integers(3, 15)), (0.3, 1.0)[trial % 2]
        terms = Terms(*random_terms(rng, size, 3, spread), dtype)
        before = terms.state
        terms.reduce(merge, size - 1)
        a = int(np.argmin(np.linalg.norm(before[0], axis=1)))
        allowed = plain.candidates(before[0], a)
        gone, new = split(before, terms.state)
        partners = [j for j in gone if j != a]
        assert a in gone
        assert set(partners) <= set(allowed)
        assert len(partners) == min(merge.n_terms - 1, len(allowed))
        assert len(new) == (len(partners) > 0)
        if partners:
            _check_choice(plain, before, a, partners)
            rows, points = before
            folds = cheapest_fold(plain, before, a, partners)
            scale = max(float(abs(rows[gone]).max()), 1e-300)
            tolerance = 2e-3 if dtype == np.float32 else 1e-4
            apart = [
                abs(row - new[0][0]).max() / scale + abs(z - new[0][1]).max() for row, z in folds
            ]
            assert min(apart) <= tolerance * (1 + float(abs(points).max()))


def _check_choice(plain: reference.JointMerge, before: Any, a: int, partners: list[int]) -> None:
    """The partners are the cheapest, or nearly so."""
    rows, points = before
    pairs = replace(plain, n_terms=2)
    costs = {
        j: pairs.degradation(rows[[a, j]], points[[a, j]], PLAIN) for j in plain.candidates(rows, a)
    }
    least = sum(sorted(costs.values())[: len(partners)])
    rounding = 1e-6 * float(np.linalg.norm(rows[a])) ** 2
    assert sum(costs[j] for j in partners) <= 1.05 * least + rounding


@pytest.mark.slow
def test_golden_section_asks_all_terms() -> None:
    """The nearest sixteen are not always enough; by golden section the best of all is found."""
    rng, plain = np.random.default_rng(3), reference.JointMerge(golden=True)
    for _ in range(20):
        terms = Terms(*random_terms(rng, 50, 3, 1.0))
        before = terms.state
        terms.reduce(Merge(search="golden"), 49)
        a = int(np.argmin(np.linalg.norm(before[0], axis=1)))
        gone, _ = split(before, terms.state)
        _check_choice(plain, before, a, [j for j in gone if j != a])


@pytest.mark.parametrize("n_terms", [2, 3])
@pytest.mark.parametrize("search", ["table", "golden"])
def test_without_a_partner_of_the_same_sign_the_term_is_removed(search: Any, n_terms: int) -> None:
    rows = np.array([[0.1, 0.0], [-1.0, 0.3], [-2.0, -0.5]])
    terms = Terms(rows, np.arange(9.0).reshape(3, 3) / 9)
    merge = Merge(n_terms=n_terms, search=search, partners="same-sign")
    assert terms.reduce(merge, 2) == pytest.approx(0.01)
    np.testing.assert_array_equal(np.sort(terms.state[0], axis=0), np.sort(rows[1:], axis=0))


def test_orthogonal_rows_count_as_the_same_sign() -> None:
    terms = Terms(np.array([[0.1, 0.0], [0.0, 1.0]]), np.array([[0.0, 0, 0], [0.2, 0, 0]]))
    terms.reduce(Merge(partners="same-sign"), 1)
    assert terms.state[0][0, 0] > 0.09  # merged, not removed


@pytest.mark.parametrize("name", OPTIONS)
def test_a_single_output_is_merged_as_in_merge_hpp(name: str) -> None:
    """One column of coefficients: both ways lead to the same terms."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        rows, points = random_terms(rng, 12, 1)
        joint = Terms(rows, points)
        single = TermStore.of(points, rows[:, 0], GAUSSIAN, 0)
        merge = OPTIONS[name].core()
        expected = _core.reduce(single.arrays, 12, GAUSSIAN.core(), merge, 11)
        degradation = joint.reduce(OPTIONS[name], 11)
        size, cost = expected
        assert joint.store.size == size
        assert degradation == pytest.approx(cost, rel=0.05, abs=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_duplicates_cost_nothing(name: str) -> None:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((6, 3)) + 2
    terms = Terms(rows, np.zeros((6, 3)))
    assert terms.reduce(OPTIONS[name], 1) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(terms.state[0].sum(axis=0), rows.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("name", OPTIONS)
def test_opposite_rows_on_one_point_cancel(name: str) -> None:
    rows = np.array([[1.0, -2.0], [-1.0, 2.0], [3.0, 4.0]])
    terms = Terms(rows, np.array([[0.0, 0, 0], [0, 0, 0], [50, 50, 50]]))
    degradation = terms.reduce(OPTIONS[name], 2)
    assert np.isfinite(terms.state[0]).all()
    assert degradation >= 0


# ---- in the solvers, and for an estimator ----


@pytest.mark.parametrize("budget", [1, 2, 5, 20])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_solver_keeps_the_budget(name: str, budget: int) -> None:
    X, _ = blobs(120, 3, 1)
    labels = np.random.default_rng(0).integers(3, size=120).astype(np.int32)
    settings = Settings(GAUSSIAN, BSCA(), OPTIONS[name], budget)
    targets = ClassTargets(np.ones(120), Hinge(), labels, 3, False)
    problem = Problem(Rows(X, np.float64, None), targets)
    trainer = new_trainer(JointTrainer, settings, problem, np.random.default_rng(0))
    trainer.visit(np.arange(120))
    assert 1 <= trainer.terms.size <= budget
    assert np.isfinite(trainer.coef).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "option", [{"n_terms": 3}, {"n_terms": 5}, {"search": "golden"}, {"partners": "same-sign"}]
)
def test_every_option_acts_for_any_number_of_outputs(option: Any, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (n_classes > 2) * (X[:, 0] > 1)
    assert len(np.unique(y)) == n_classes
    models = [
        BudgetSVC(
            budget=40, gamma=0.5, C=1.0, maintenance=merge, polish=False, epochs=2, random_state=0
        ).fit(X, y)
        for merge in (Merge(), Merge(**option), Merge(**option))
    ]
    values = [model.decision_function(X) for model in models]
    np.testing.assert_array_equal(values[1], values[2])
    assert not np.array_equal(values[0], values[1])
    # Multi-merge makes one term of heavy ones, too: without a polish that costs much (docs/theory.md).
    assert models[1].score(X, y) > (0.6 if "n_terms" in option else 0.85)
