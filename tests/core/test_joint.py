"""Several outputs with one set of terms in phase 1: against plain NumPy, step by step."""

from typing import Any

import numpy as np
import pytest
from oracles import reference
from oracles.problems import blobs, moons, sparse_rows, weights
from scipy import sparse
from tools.core.joint_problems import (
    GAMMA,
    MAINTENANCE,
    SOLVERS,
    N,
    apart,
    make_trainer,
    outputs_of,
)
from tools.trainers import new_trainer

from budgetsvm import kernels
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.output_trainer import OutputTrainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.targets import ClassTargets, ManyTargets, SingleTarget
from budgetsvm.losses import Hinge, Logistic, Loss, SquaredHinge
from budgetsvm.solvers import BSGD


def plain_of(trainer: JointTrainer, kernel: reference.Kernel) -> reference.Joint:
    """The same problem in plain NumPy."""
    targets, X = trainer.problem.targets, trainer.problem.rows.X
    X = X.toarray() if sparse.issparse(X) else X
    X = X.astype(trainer.terms.dtype).astype(float)
    loss, epsilon = targets.loss.core()
    if isinstance(targets, ManyTargets):
        return reference.Joint(kernel, X, None, targets.values, targets.box, loss, epsilon)
    assert isinstance(targets, ClassTargets)
    values = np.full((len(X), targets.count), targets.loss.target)
    return reference.Joint(
        kernel, X, targets.labels, values, targets.box, loss, epsilon, targets.coupled
    )


def degradation_of(before: Any, after: Any, kernel: reference.Kernel) -> float:
    """‖Δw‖² of two lists (rows, points), from the definition and summed over the outputs."""
    rows, points = np.vstack([before[0], -after[0]]), np.vstack([before[1], after[1]])
    return float(np.vdot(rows, kernel(points, points) @ rows))


def visit_and_compare(
    trainer: JointTrainer, plain: reference.Joint, i: int, *, tolerance: float, excess: float
) -> bool:
    """One visit by both, from the same state. Returns whether there was maintenance."""
    bsgd = isinstance(trainer.settings.solver, BSGD)
    t, size = trainer.t, trainer.terms.size
    stored = 1 / max(1, t) if bsgd else 1.0
    rows, points = trainer.coef[:size] * stored, trainer.terms.points().astype(float)
    bias = trainer.bias * stored
    f = plain.kernel(plain.X[i], points)[0] @ rows + (bias if len(bias) else 0.0)
    alpha = trainer.alpha[i].astype(float)
    steps, _, mistakes, merges, degradation, loss, _ = trainer.visit(np.array([i]))
    q = float(plain.kernel(plain.X[i], plain.X[i])[0, 0]) + (len(bias) > 0)
    if bsgd:
        row = plain.bsgd(i, f, t + 1, q)
        rows, bias = rows * (t / (t + 1)), bias * (t / (t + 1))
    else:
        row, new = plain.bsca(i, f, alpha, q)
        np.testing.assert_allclose(trainer.alpha[i], new, atol=tolerance * plain.C[i])
    assert bool(steps) == row.any()
    if len(bias):
        scale = trainer.t if bsgd else 1
        np.testing.assert_allclose(trainer.bias / scale, bias + row, atol=tolerance)
    if steps:
        rows, points = np.vstack([rows, row]), np.vstack([points, plain.X[i]])
    cost = float(degradation) if merges else None
    _compare_terms(trainer, plain.kernel, (rows, points), cost, tolerance=tolerance, excess=excess)
    if not plain.coupled:
        slack = plain.targets[i] - plain.signs(i) * f
        values = trainer.problem.targets.loss.value(slack)
        assert loss == pytest.approx(values.sum(), abs=10 * tolerance)
    if plain.labels is not None and np.ptp(np.partition(f, -2)[-2:]) > 10 * tolerance:
        assert mistakes == (f.argmax() != plain.labels[i])
    return bool(merges)


def _compare_terms(
    trainer: JointTrainer,
    kernel: reference.Kernel,
    before: tuple[Any, Any],
    degradation: float | None,
    *,
    tolerance: float,
    excess: float,
) -> None:
    """The terms must be what one of the reductions leads to, and it must be as cheap as the best."""
    size, bsgd = trainer.terms.size, isinstance(trainer.settings.solver, BSGD)
    scale, budget = 1 / trainer.t if bsgd else 1.0, trainer.settings.budget or 0
    own = trainer.coef[:size] * scale, trainer.terms.points().astype(float)
    norms = np.linalg.norm(trainer.coef[:size], axis=1)
    np.testing.assert_allclose(trainer.terms.coef[:size], norms, rtol=1e-9)
    assert (degradation is not None) == (len(before[0]) > budget)
    if degradation is None:
        assert apart(*own, *before) <= tolerance
        return
    name = trainer.settings.maintenance.core()[0]
    outcomes = reference.joint_reductions(*before, kernel, name)
    distances = [apart(*own, *outcome) for outcome in outcomes]
    chosen = int(np.argmin(distances))
    assert distances[chosen] <= tolerance
    costs = [degradation_of(before, outcome, kernel) for outcome in outcomes]
    rounding = 10 * tolerance * tolerance + 1e-12 * float(abs(before[0]).sum()) ** 2
    assert costs[chosen] <= (1 + excess) * min(costs) + rounding
    assert degradation == pytest.approx(costs[chosen], rel=1e-3, abs=rounding)


def run_and_compare(
    trainer: JointTrainer,
    plain: reference.Joint,
    visits: int,
    tolerance: float = 1e-5,
    excess: float = 0.03,
) -> int:
    """Visit points one by one; returns how often there was maintenance."""
    order = np.random.default_rng(5).integers(N, size=visits)
    order = order[np.append(True, np.diff(order) != 0)]  # a second visit would find rounding errors
    merges = [
        visit_and_compare(trainer, plain, int(i), tolerance=tolerance, excess=excess) for i in order
    ]
    assert trainer.terms.size <= trainer.settings.budget
    return sum(merges)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize(
    ("kind", "solver"),
    [
        ("classes", "bsca"),
        ("classes", "bsgd"),
        ("coupled", "bsca"),
        ("coupled", "bsgd"),
        ("regression", "bsca"),
        ("regression", "bsgd"),
    ],
)
def test_visits_agree_with_the_reference(
    kind: str, solver: str, maintenance: str, bias: bool
) -> None:
    targets = outputs_of(kind, None, 2.0 if solver == "bsca" else 2.0 / N)
    trainer = make_trainer(targets, solver=solver, maintenance=maintenance, bias=bias)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 80) >= 30


@pytest.mark.sampled(2)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()])
def test_other_losses_agree_with_the_reference(loss: Loss, solver: str) -> None:
    targets = outputs_of("classes", loss, 2.0 if solver == "bsca" else 2.0 / N)
    trainer = make_trainer(targets, solver=solver, bias=True)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 80) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "coupled"])
def test_sparse_rows_and_single_precision(kind: str) -> None:
    for X, dtype in (
        (sparse_rows(N, 6, 4, 0.6), np.float64),
        (sparse_rows(N, 6, 4, 0.6), np.float32),
        (blobs(N, 4, 3, 0.6)[0], np.float32),
    ):
        trainer = make_trainer(outputs_of(kind, None, 2.0), X=X, dtype=dtype)
        plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
        tolerance = 1e-5 if dtype == np.float64 else 1e-3
        assert run_and_compare(trainer, plain, 50, tolerance) >= 15


@pytest.mark.parametrize("maintenance", ["project", "remove"])
def test_other_kernels_agree_with_the_reference(maintenance: str) -> None:
    kernel = kernels.Laplacian(0.5)
    trainer = make_trainer(
        outputs_of("classes", None, 2.0), maintenance=maintenance, kernel=kernel, budget=6
    )
    plain = plain_of(trainer, reference.Kernel("laplacian", 0.5))
    assert run_and_compare(trainer, plain, 80) >= 40


@pytest.mark.slow
def test_many_terms_only_near_partners() -> None:
    """Sixteen candidates of thirty: the best of them costs not much more than the best of all."""
    trainer = make_trainer(outputs_of("classes", None, 2.0), budget=30)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 70, excess=0.5) >= 20


def test_the_comparison_notices_a_small_difference() -> None:
    trainer = make_trainer(outputs_of("classes", None, 2.0))
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA * (1 + 1e-3)))
    with pytest.raises(AssertionError):
        run_and_compare(trainer, plain, 60)


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("kind", ["classes", "coupled", "regression"])
@pytest.mark.parametrize("budget", [1, 2, 5])
def test_small_budgets(budget: int, kind: str, maintenance: str) -> None:
    trainer = make_trainer(outputs_of(kind, None, 2.0), maintenance=maintenance, budget=budget)
    trainer.visit(np.arange(N))
    assert trainer.terms.size == budget
    assert np.isfinite(trainer.coef).all()
    assert (abs(trainer.alpha) <= trainer.problem.targets.box[:, np.newaxis] * (1 + 1e-6)).all()


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_length_of_a_call_does_not_matter(solver: str, maintenance: str) -> None:
    results = []
    for length in (1, 7, 3 * N):
        targets = outputs_of("classes", None, 2.0 if solver == "bsca" else 2.0 / N)
        trainer = make_trainer(targets, solver=solver, maintenance=maintenance, bias=True)
        order = np.concatenate([np.random.default_rng(k).permutation(N) for k in range(3)])
        parts = [trainer.visit(order[k : k + length]) for k in range(0, len(order), length)]
        counts = np.sum(parts, axis=0)[:6]
        f = trainer.coef[: trainer.terms.size], trainer.terms.points(), trainer.bias
        results.append((counts, f))
    for counts, f in results[1:]:
        np.testing.assert_allclose(counts, results[0][0], rtol=1e-5)
        for found, expected in zip(f, results[0][1], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * abs(expected).max())


# ---- two outputs of opposite sign are one ----


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_classes_are_a_binary_problem(solver: str, maintenance: str, bias: bool) -> None:
    """The rows are (−β, β): merging and all else is as for β alone, up to near-ties of partners."""
    X, y = moons(60, 4, noise=0.3)
    box = (3.0 if solver == "bsca" else 3.0 / 60) * weights(60, 1)
    labels = (y > 0).astype(np.int32)
    joint = make_trainer(
        ClassTargets(box, Hinge(), labels, 2),
        X=X,
        solver=solver,
        maintenance=maintenance,
        bias=bias,
        budget=20,
    )
    problem = Problem(joint.problem.rows, SingleTarget.of_labels(y, box))
    single = new_trainer(OutputTrainer, joint.settings, problem, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(60)[:48]
    counts, expected = (np.array(trainer.visit(order)[:6]) for trainer in (joint, single))
    rows = joint.coef[: joint.terms.size]
    np.testing.assert_allclose(rows[:, 0], -rows[:, 1], atol=1e-9)
    np.testing.assert_allclose(counts[[0, 2, 3]], expected[[0, 2, 3]])
    assert counts[3] >= 5
    np.testing.assert_allclose(counts[4:], 2 * expected[4:], rtol=2e-2)
    models = [
        KernelExpansion(
            joint.settings.kernel, terms.points(), coef[:, np.newaxis].T, np.zeros(1), None
        ).decision(X)
        for terms, coef in (
            (joint.terms, rows[:, 1]),
            (single.terms, single.terms.coef[: single.terms.size]),
        )
    ]
    np.testing.assert_allclose(*models, atol=2e-2 * abs(models[1]).max())
    if bias:
        np.testing.assert_allclose(joint.bias, [-1, 1] * single.bias, rtol=1e-2)


def test_two_coupled_classes_are_a_binary_problem_with_half_the_steps() -> None:
    """f_1 − f_0 is to exceed 1: α moves both outputs, so that k(x, x) counts twice."""
    X, y = moons(60, 4, noise=0.3)
    labels = (y > 0).astype(np.int32)
    joint = make_trainer(ClassTargets(np.full(60, 0.5), Hinge(), labels, 2, True), X=X, budget=59)
    problem = Problem(joint.problem.rows, SingleTarget.of_labels(y, np.full(60, 1.0)))
    single = new_trainer(OutputTrainer, joint.settings, problem, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(60)[:50]
    joint.visit(order)
    single.visit(order)
    np.testing.assert_allclose(2 * joint.alpha.sum(axis=1), single.alpha, atol=1e-6)
