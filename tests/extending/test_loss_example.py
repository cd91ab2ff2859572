"""The loss that docs/losses.md adds: its Python side, and its C++ side, compiled, agree with each other and with SciPy."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from extending.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from scipy.optimize import minimize_scalar

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "src" / "core"
LOSS = SquaredEpsilonInsensitive(epsilon=0.3)
SLACK = np.linspace(-3, 3, 241) + 1e-3


def test_derivatives() -> None:
    h = 1e-6
    rise = (LOSS.value(SLACK + h) - LOSS.value(SLACK - h)) / (2 * h)
    np.testing.assert_allclose(LOSS.slope(SLACK, 0.0), rise, atol=1e-8)
    away = SLACK[abs(abs(SLACK) - LOSS.epsilon) > 1e-3]
    rise = (LOSS.slope(away + h, 0.0) - LOSS.slope(away - h, 0.0)) / (2 * h)
    np.testing.assert_allclose(LOSS.curvature(away, 0.0), rise, atol=1e-6)


def test_conjugate() -> None:
    for share in (-2.0, -0.1, 0.0, 0.4, 3.0):
        found = minimize_scalar(
            lambda u, share=share: float(LOSS.value(np.float64(u)) - share * u),
            bounds=(-5, 5),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert LOSS.conjugate(np.float64(share)) == pytest.approx(-found.fun, abs=1e-8)


def test_distance_and_unsettled() -> None:
    assert LOSS.distance(np.array([0.0, 0.2, 1.0])) == pytest.approx([0.3, 0.1, 0.0])
    rows = LOSS.unsettled(np.array([0.0, 1.0, 0.0]), np.array([0.1, 0.1, 0.5]), np.ones(3))
    assert rows.tolist() == [False, True, True]
    assert LOSS.core() == ("squared_epsilon_insensitive", 0.3)


def compiled(folder: Path) -> Path:
    """Return the program that tells what the struct says."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = folder / "loss_steps"
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{CORE}", f"-I{HERE}"]
    subprocess.run([*command, HERE / "loss_steps.cpp", "-o", program], check=True)
    return program


def best_step(alpha: float, u: float, curvature: float, C: float) -> float:
    """Return the maximum of the dual along a coordinate."""

    def negative(new: float) -> float:
        step = new - alpha
        conjugate = C * float(LOSS.conjugate(np.float64(new / C)))
        return conjugate - u * step + 0.5 * curvature * step**2

    found = [
        minimize_scalar(negative, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        for bounds in ((-50, 0), (0, 50))
    ]
    return min([*found, 0.0], key=negative)


def test_steps_of_the_core(tmp_path: Path) -> None:
    cases = [
        (share * C, u, curvature, C)
        for C in (0.1, 1.0, 5.0)
        for share in (-0.5, 0.0, 0.7)
        for u in (-2.0, -0.31, 0.1, 0.5, 3.0)
        for curvature in (0.3, 1.0)
    ]
    lines = "".join(" ".join(map(str, (*case, LOSS.epsilon))) + "\n" for case in cases)
    done = subprocess.run(
        [compiled(tmp_path)], input=lines, capture_output=True, text=True, check=True
    )
    said = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    slack = np.array([u for _, u, _, _ in cases])
    assert said[:, 0] == pytest.approx([best_step(*case) for case in cases], abs=1e-6)
    assert said[:, 1] == pytest.approx(LOSS.value(slack))
    assert said[:, 2] == pytest.approx(LOSS.slope(slack, 0.0))
