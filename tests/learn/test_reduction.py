"""A model that exceeds its budget is reduced to it by maintenance."""

from typing import Any

import numpy as np
import pytest
from oracles import reference

from budgetsvm import _core, kernels
from budgetsvm._learn.learn import reduce_to_budget
from budgetsvm._learn.settings import Settings
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA

GAUSSIAN, PLAIN = kernels.Gaussian(0.5), reference.Kernel("rbf", 0.5)
STRATEGIES: dict[str, Maintenance] = {
    "merge": Merge(),
    "golden": Merge(search="golden"),
    "same-sign": Merge(partners="same-sign"),
    "multi-merge": Merge(n_terms=4),
    "project": Project(),
    "remove": Remove(),
}


def random_model(
    size: int, outputs: int, kernel: kernels.Kernel = GAUSSIAN, dtype: Any = np.float64
) -> KernelExpansion:
    rng = np.random.default_rng(size)
    points = rng.standard_normal((size, 3)).astype(dtype)
    coef, bias = rng.standard_normal((outputs, size)), rng.standard_normal(outputs)
    return KernelExpansion(kernel, points, coef, bias, np.ones(3))


def settings(maintenance: Maintenance, budget: int | None, kernel: Any = GAUSSIAN) -> Settings:
    return Settings(kernel, BSCA(), maintenance, budget)


def distance(before: KernelExpansion, after: KernelExpansion) -> float:
    """‖Δw‖², summed over the outputs."""
    rows = np.hstack([before.coef, -after.coef]).T
    points = np.vstack([before.points, after.points]).astype(float)
    return float(np.vdot(rows, PLAIN(points, points) @ rows))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("budget", [None, 64, 65, 1000])
def test_a_model_within_its_budget_stays_as_it_is(budget: int | None, outputs: int) -> None:
    model = random_model(64, outputs)
    assert reduce_to_budget(model, settings(Merge(), budget)) is model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("budget", [1, 2, 10, 63])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_budget_is_met(name: str, budget: int, outputs: int, dtype: Any) -> None:
    model = random_model(64, outputs, dtype=dtype)
    coef = model.coef.copy()
    reduced = reduce_to_budget(model, settings(STRATEGIES[name], budget))
    fewest = budget - 3 if name == "multi-merge" else budget
    assert max(1, fewest) <= len(reduced) <= budget
    assert reduced.points.dtype == dtype
    assert reduced.coef.shape == (outputs, len(reduced))
    assert np.isfinite(reduced.coef).all()
    np.testing.assert_array_equal(reduced.bias, model.bias)
    np.testing.assert_array_equal(model.coef, coef)  # the old model is still there


@pytest.mark.parametrize("outputs", [1, 3])
def test_better_maintenance_keeps_more(outputs: int) -> None:
    model = random_model(64, outputs)
    far = {
        name: distance(model, reduce_to_budget(model, settings(STRATEGIES[name], 32)))
        for name in ("merge", "project", "remove")
    }
    assert far["merge"] < 0.7 * far["remove"]
    assert far["project"] < 0.7 * far["remove"]


@pytest.mark.parametrize("name", ["merge", "project", "remove"])
def test_outputs_that_are_alike_are_reduced_as_one(name: str) -> None:
    """Three times the same output: terms and coefficients as of one alone."""
    one = random_model(40, 1)
    three = KernelExpansion(GAUSSIAN, one.points, np.repeat(one.coef, 3, axis=0), np.zeros(3), None)
    reduced, alike = (
        reduce_to_budget(model, settings(STRATEGIES[name], 39)) for model in (one, three)
    )
    probes = np.random.default_rng(0).standard_normal((50, 3))
    expected = reduced.decision(probes + 1) - one.bias
    np.testing.assert_allclose(alike.decision(probes), np.repeat(expected, 3, axis=1), atol=1e-4)


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("maintenance", [Project(), Remove()])
def test_other_kernels(maintenance: Maintenance, outputs: int) -> None:
    for kernel in (
        kernels.Laplacian(0.5),
        kernels.Polynomial(2, 0.5, 1.0),
        kernels.Callback(lambda X, Z: np.exp(-0.5 * ((X[:, None] - Z) ** 2).sum(axis=2))),
    ):
        model = random_model(20, outputs, kernel)
        reduced = reduce_to_budget(model, settings(maintenance, 12, kernel))
        assert len(reduced) == 12


def test_merging_needs_the_gaussian_kernel() -> None:
    model = random_model(20, 1, kernels.Linear())
    with pytest.raises(ValueError, match="Gaussian"):
        reduce_to_budget(model, settings(Merge(), 10))


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_call_is_a_bounded_amount_of_work(outputs: int) -> None:
    """Some hundred reductions; the degradations add up to what the calls say together."""
    model = random_model(1000, outputs)
    sizes = np.linalg.norm(model.coef, axis=0) if outputs > 1 else model.coef[0]
    terms = TermStore.of(model.points, sizes, GAUSSIAN, 0)
    rows = np.zeros((terms.capacity, outputs))
    rows[:1000] = model.coef.T
    calls, how = 0, (GAUSSIAN.core(), Remove().core(), 10)
    while terms.size > 10:
        before = terms.size
        if outputs > 1:
            terms.size, lost = _core.joint_reduce(terms.arrays, terms.size, rows, *how)
        else:
            terms.size, lost = _core.reduce(terms.arrays, terms.size, *how)
        assert before - 200 <= terms.size < before
        assert lost == pytest.approx(np.sort(sizes**2)[1000 - before : 1000 - terms.size].sum())
        calls += 1
    assert calls >= 5


def test_terms_of_weight_zero_go_first() -> None:
    model = random_model(30, 1)
    model.coef[0, ::2] = 0
    reduced = reduce_to_budget(model, settings(Merge(), 15))
    np.testing.assert_array_equal(np.sort(reduced.coef[0]), np.sort(model.coef[0, 1::2]))
