"""Greedy coordinate ascent on a working set: the same as in plain NumPy, up to the optimum, for every loss."""

from typing import Any

import numpy as np
import pytest
from oracles.judge import Machine, features
from tools.core.losses import LOSSES, core_step, epsilon_of

from budgetsvm import _core
from budgetsvm.losses import EpsilonInsensitive, Loss


def problem(loss: Loss, n: int = 25, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    targets = np.full(n, loss.target)
    if isinstance(loss, EpsilonInsensitive):
        y, targets = np.ones(n), X[:, 0] + 0.3 * rng.standard_normal(n)
    return {"gram": K, "y": y, "targets": targets, "box": rng.uniform(0.5, 2.0, n)}


def violation(loss: Loss, alpha: float, u: float, C: float) -> float:
    """How far a gradient is from what it may be, loss by loss."""
    match loss.name:
        case "hinge":
            gradient, size, bound = u, alpha, C
        case "squared_hinge":
            gradient, size, bound = u - alpha / (2 * C), alpha, np.inf
        case "logistic":
            gradient, size, bound = 1 / (1 + np.exp(-u)) - alpha / C, alpha, C
        case _:
            side = -1 if alpha < 0 or (alpha == 0 and u < 0) else 1
            gradient, size, bound = side * u - epsilon_of(loss), side * alpha, C
    if size <= 0:
        return max(0.0, gradient)
    return max(0.0, -gradient) if size >= bound else abs(gradient)


def plain_climb(loss: Loss, given: dict[str, Any], steps: int) -> tuple[Any, Any]:
    K, y, targets, C = (given[name] for name in ("gram", "y", "targets", "box"))
    alpha, f = np.zeros(len(y)), np.zeros(len(y))
    for _ in range(steps):
        u = targets - y * f
        promise = [
            violation(loss, *one) / np.sqrt(K[i, i])
            for i, one in enumerate(zip(alpha, u, C, strict=True))
        ]
        i = int(np.argmax(promise))
        new = core_step(loss, alpha[i], u[i], K[i, i], C[i])
        f = f + (new - alpha[i]) * y[i] * K[i]
        alpha[i] = new
    return alpha, f


def climb(loss: Loss, given: dict[str, Any], precision: float, steps: int) -> tuple[Any, ...]:
    alpha, f = np.zeros(len(given["y"])), np.zeros(len(given["y"]))
    result = _core.climb(
        loss.core(), *given.values(), alpha=alpha, f=f, precision=precision, most_steps=steps
    )
    return alpha, f, *result


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_steps_are_those_of_the_plain_version(name: str, dtype: Any) -> None:
    given = problem(LOSSES[name])
    given["gram"] = given["gram"].astype(dtype)
    alpha, f, steps, _ = climb(LOSSES[name], given, 0.0, 40)
    given["gram"] = given["gram"].astype(np.float64)
    expected = plain_climb(LOSSES[name], given, 40)
    assert steps == 40
    np.testing.assert_allclose(alpha, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(f, expected[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_it_finds_the_optimum(name: str) -> None:
    loss, given = LOSSES[name], problem(LOSSES[name])
    alpha, f, _, worst = climb(loss, given, 1e-9, 100_000)
    K, y = given["gram"], given["y"]
    assert worst <= 1e-9
    np.testing.assert_allclose(f, K @ (alpha * y), atol=1e-9)
    G = features(K)
    judge = Machine(loss.name, G, y, given["targets"], given["box"], epsilon_of(loss))
    judge.check(alpha, G.T @ (alpha * y), 1e-6)


def test_it_stops_when_it_is_told_to() -> None:
    loss, given = LOSSES["hinge"], problem(LOSSES["hinge"])
    assert climb(loss, given, 0.0, 0)[2] == 0
    assert climb(loss, given, 0.0, 7)[2] == 7
    _, _, steps, worst = climb(loss, given, 0.5, 1000)
    assert 0 < steps < 1000
    assert 0 < worst <= 0.5
    assert climb(loss, given, 10.0, 1000)[2] == 0


def test_rows_that_the_kernel_does_not_see_go_to_their_bounds() -> None:
    given = problem(LOSSES["hinge"]) | {"gram": np.zeros((25, 25))}
    alpha, f, steps, _ = climb(LOSSES["hinge"], given, 1e-9, 1000)
    assert steps == 25
    assert not f.any()
    np.testing.assert_array_equal(alpha, given["box"])


@pytest.mark.parametrize("wrong", ["gram", "y", "targets", "box"])
def test_wrong_lengths_are_refused(wrong: str) -> None:
    given = problem(LOSSES["hinge"])
    given[wrong] = np.ascontiguousarray(given[wrong][:-1])
    with pytest.raises(ValueError, match="differ in length"):
        climb(LOSSES["hinge"], given, 0.1, 10)
    with pytest.raises(ValueError, match="precision"):
        climb(LOSSES["hinge"], problem(LOSSES["hinge"]), np.nan, 10)
