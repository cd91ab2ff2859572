"""What must not matter: layout, precision, threads, instruction set, where the origin is."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracles.problems import blobs, moons, noisy_xor, sparse_rows
from scipy import sparse

from budgetsvm import BudgetSVC, _core

MAINTENANCE = ["merge", "multimerge", "project", "remove"]


def make(**options: Any) -> BudgetSVC:
    """The plain solver, unless the options say otherwise."""
    defaults = {"C": 5, "gamma": 1.0, "budget": 25, "random_state": 3, "epochs": 2, "polish": False}
    return BudgetSVC(**{**defaults, **options})


def same_model(a: BudgetSVC, b: BudgetSVC) -> None:
    """Bit by bit."""
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    np.testing.assert_array_equal(a.support_vectors_, b.support_vectors_)


# ---- layout ----


@pytest.mark.parametrize("gamma", [1.0, "scale"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_layout_does_not_matter(dtype: Any, gamma: Any, tmp_path: Path) -> None:
    """Fortran order, views, read-only and memory-mapped arrays, data frames: the same bits.

    NumPy adds up in the order of the memory, so the variance, which gamma="scale" divides by, must not be left to it.
    """
    X, y = moons(300, 0)
    X = np.ascontiguousarray(X, dtype)
    options: dict[str, Any] = {"epochs": 1, "gamma": gamma, "polish": True}
    model = make(**options).fit(X, y)
    f = model.decision_function(X)
    wide = np.zeros((600, 5), dtype)
    wide[::2, 1:4:2] = X
    np.save(tmp_path / "rows.npy", X)
    frozen = X.copy()
    frozen.flags.writeable = False
    variants = {
        "read-only": frozen,
        "memory-mapped": np.load(tmp_path / "rows.npy", mmap_mode="r"),
        "Fortran order": np.asfortranarray(X),
        "strided view": wide[::2, 1:4:2],
        "reversed view": X[::-1].copy()[::-1],
        "data frame": pd.DataFrame(X, columns=["a", "b"]),
    }
    for name, variant in variants.items():
        other = make(**options).fit(variant, pd.Series(y) if name == "data frame" else y)
        same_model(model, other)
        np.testing.assert_array_equal(other.decision_function(variant), f, err_msg=name)
        h = model.decision_function(variant.to_numpy() if name == "data frame" else variant)
        np.testing.assert_array_equal(h, f, err_msg=name)  # prediction: always the same bits


def test_byte_order_integers_and_lists() -> None:
    X, y = noisy_xor(200, 1)
    X = np.round(X * 8)
    model = make(gamma=0.02).fit(X, y)
    for variant in (X.astype(np.int16), X.astype(">f8"), X.tolist(), X.astype(np.float16)):
        np.testing.assert_allclose(
            make(gamma=0.02).fit(variant, y).decision_function(variant),
            model.decision_function(X),
            rtol=0,
            atol=1e-4,
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_index_types_of_sparse_rows_do_not_matter(dtype: Any) -> None:
    X = sparse_rows(200, 10, 2).astype(dtype)
    y = np.random.default_rng(0).integers(2, size=200)
    model = make().fit(X, y)
    for index in (np.int32, np.int64):
        other = sparse.csr_array(X)
        other.indices, other.indptr = other.indices.astype(index), other.indptr.astype(index)
        assert other.indices.dtype == index
        same_model(model, make().fit(other, y))
        np.testing.assert_array_equal(model.decision_function(other), model.decision_function(X))


@pytest.mark.parametrize("n_features", [30, 3000])
@pytest.mark.parametrize("gamma", [0.2, "scale"])
def test_zeros_that_are_written_down_do_not_matter(n_features: int, gamma: Any) -> None:
    """Of sparse rows, among dense terms and sparse ones: in a fit, and in predictions."""
    X = sparse.random(300, n_features, 0.02, "csr", random_state=0)
    written = X.copy()
    written.data[::5] = 0
    left_out = written.copy()
    left_out.eliminate_zeros()
    y = np.random.default_rng(0).integers(2, size=300)
    model, other = (make(gamma=gamma, polish=True).fit(rows, y) for rows in (written, left_out))
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
    f = model.decision_function(written)
    np.testing.assert_array_equal(model.decision_function(left_out), f)
    np.testing.assert_array_equal(other.decision_function(left_out), f)
    assert written.nnz == X.nnz  # and what was given stays as it is


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_dense_and_sparse_agree(maintenance: str) -> None:
    """One epoch: over many, rounding may send two runs different ways."""
    X = sparse_rows(250, 12, 4)
    y = np.where(X[:, [0]].toarray()[:, 0] + X[:, [1]].toarray()[:, 0] > 0, 1, 0)
    options: dict[str, Any] = {"maintenance": maintenance, "epochs": 1, "gamma": 0.2}
    for precision, tolerance in (("double", 1e-6), ("single", 1e-3)):
        a = make(precision=precision, **options).fit(X, y)
        b = make(precision=precision, **options).fit(X.toarray(), y)
        f = a.decision_function(X)
        np.testing.assert_allclose(b.decision_function(X.toarray()), f, rtol=0, atol=tolerance)
        np.testing.assert_allclose(a.decision_function(X.toarray()), f, rtol=0, atol=1e-5)


@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_precision_agrees(maintenance: str) -> None:
    """Of the arithmetic, and of the input."""
    X, y = blobs(250, 6, 5)
    X = X.astype(np.float32)
    options: dict[str, Any] = {"maintenance": maintenance, "epochs": 1, "gamma": 0.2}
    double = make(precision="double", **options).fit(X, y)
    single = make(precision="single", **options).fit(X, y)
    f = double.decision_function(X)
    np.testing.assert_allclose(single.decision_function(X), f, rtol=0, atol=2e-3)
    from_double = make(precision="double", **options).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(from_double.decision_function(X), f, rtol=0, atol=1e-9)
    same = make(precision="single", **options).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(
        same.decision_function(X), single.decision_function(X), rtol=0, atol=2e-3
    )


# ---- threads ----


def test_number_of_threads_does_not_matter_for_prediction() -> None:
    X, y = moons(400, 6)
    model = make().fit(X, y)
    many = np.tile(X, (400, 1))  # several chunks
    dense = [model.set_params(n_jobs=n).decision_function(many) for n in (1, 2, 3, None)]
    rows = sparse.csr_array(many)
    from_sparse = [model.set_params(n_jobs=n).decision_function(rows) for n in (1, 2)]
    for values in dense[1:]:
        np.testing.assert_array_equal(values, dense[0])
    np.testing.assert_array_equal(from_sparse[0], from_sparse[1])
    np.testing.assert_array_equal(dense[0], np.tile(dense[0][:400], 400))


def test_fits_in_parallel_threads_are_independent() -> None:
    problems = [moons(400, seed) for seed in range(6)]
    options = [{"maintenance": MAINTENANCE[k % 4], "random_state": k} for k in range(6)]
    sequential = [make(**o).fit(*p) for o, p in zip(options, problems, strict=True)]
    parallel: list[Any] = [None] * 6

    def fit(k: int) -> None:
        parallel[k] = make(**options[k]).fit(*problems[k])

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for a, b in zip(sequential, parallel, strict=True):
        same_model(a, b)


@pytest.mark.parametrize("polish", [True, False])
@pytest.mark.parametrize("solver", ["bsca", "bsgd"])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
def test_same_seed_same_model(maintenance: str, solver: str, polish: bool) -> None:
    X, y = moons(300, 7)
    options: dict[str, Any] = {"maintenance": maintenance, "solver": solver, "polish": polish}
    model = make(**options).fit(X, y)
    same_model(model, make(**options).fit(X, y))
    same_model(model, model.fit(X, y))  # refitting starts from scratch
    other = make(**{**options, "random_state": 4}).fit(X, y)
    assert not np.array_equal(other.dual_coef_, model.dual_coef_)


# ---- instruction set ----

SCRIPT = """
import json, sys
import numpy as np
sys.path.insert(0, {tests!r})
from oracles.problems import blobs
from budgetsvm import BudgetSVC, _core
results = {{"level": _core.level()}}
X, y = blobs(150, 7, 8)
for precision in ("single", "double"):
    for maintenance in ("merge", "project"):
        model = BudgetSVC(C=3, gamma=0.1, budget=20, epochs=1, random_state=0, precision=precision,
                          maintenance=maintenance, polish=False).fit(X, y)
        f = model.decision_function(X)
        results[precision + " " + maintenance] = [value.hex() for value in f.tolist()]
print(json.dumps(results))
"""


def run_with(level: str | None) -> dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if k != "BUDGETSVM_ISA"}
    if level:
        environment["BUDGETSVM_ISA"] = level
    script = SCRIPT.format(tests=str(Path(__file__).parents[1]))
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_instruction_sets_agree_to_rounding() -> None:
    widest, again, baseline = run_with(None), run_with(None), run_with("baseline")
    assert widest == again
    assert baseline["level"] == "baseline"
    assert widest["level"] in ("baseline", "v3", "v4")
    for name in widest:
        if name == "level":
            continue
        tolerance = 2e-3 if "single" in name else 1e-7
        values = [[float.fromhex(v) for v in run[name]] for run in (widest, baseline)]
        np.testing.assert_allclose(values[0], values[1], rtol=0, atol=tolerance, err_msg=name)
    if "BUDGETSVM_ISA" not in os.environ:
        assert widest["level"] == _core.level()


# ---- the origin ----


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["float32", "float64", "csr"])
def test_a_shift_does_not_change_the_accuracy(form: str, seed: int) -> None:
    """By 10⁴ standard deviations: norms of 10⁸ whose differences matter."""
    X, y = noisy_xor(3500, seed, flips=0.02)
    shifted = X + np.array([1e4, -1e4])
    if form == "float32":  # what the shift does to float32 data is not our doing
        shifted = shifted.astype(np.float32)
        X = shifted.astype(np.float64) - np.array([1e4, -1e4])
    if form == "csr":
        shifted = sparse.csr_array(shifted)
    accuracies = []
    for rows in (X, shifted):
        model = make(budget=60, C=1.0, epochs=5, random_state=seed).fit(rows[:1000], y[:1000])
        accuracies.append(model.score(rows[1000:], y[1000:]))
    assert accuracies[0] > 0.9
    assert abs(accuracies[1] - accuracies[0]) <= 0.003


def test_a_shift_does_not_change_the_first_steps() -> None:
    """Decision values, to what float32 data can hold after the shift."""
    X, y = moons(120, 9)
    shift = 1e4
    model = make(epochs=1, precision="double").fit(X, y)
    f = model.decision_function(X)
    for rows in (X + shift, sparse.csr_array(X + shift)):
        other = make(epochs=1).fit(rows, y)
        np.testing.assert_allclose(other.decision_function(rows), f, rtol=0, atol=2e-3)
    np.testing.assert_allclose(
        make(epochs=1).fit(X + shift, y).support_vectors_.mean(), shift, atol=2
    )
