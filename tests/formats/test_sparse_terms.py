"""Machines whose terms are sparse, in all formats; and LIBSVM's models that become such machines."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import budgetsvm
from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, compress, to_c, to_libsvm

WIDTH = 5000
KINDS = [
    BudgetSVC(budget=40, gamma=0.5, break_ties=False, random_state=0),
    BudgetSVC(budget=40, multi_class="ovo", gamma=0.5, break_ties=False, random_state=0),
    BudgetSVR(budget=40, gamma=0.5, random_state=0),
    BudgetOneClassSVM(budget=40, gamma=0.5, random_state=0),
    BudgetSVC(
        budget=40,
        kernel="poly",
        degree=2,
        gamma=1.0,
        coef0=1.0,
        break_ties=False,
        random_state=0,
    ),
]


def rows(seed: int, n: int = 300) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    return sparse.random_array((n, WIDTH), density=0.002, rng=rng, format="csr")


def trained(kind: object, X: sparse.csr_array) -> object:
    totals = np.asarray(X @ np.random.default_rng(0).standard_normal(WIDTH))
    classes = 3 if getattr(kind, "multi_class", "auto") == "ovo" else 2
    y = np.digitize(totals, np.quantile(totals, np.arange(1, classes) / classes))
    machine = kind.fit(X, totals if isinstance(kind, BudgetSVR) else y)  # type: ignore[attr-defined]
    assert machine._expansion.sparse_points
    return machine


def values(machine: object, X: object) -> np.ndarray:
    if isinstance(machine, BudgetSVC):
        return machine._expansion.decision(X)
    return getattr(machine, "decision_function", machine.predict)(X)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_libsvm_both_ways(kind: object, tmp_path: Path) -> None:
    X, T = rows(1), rows(2)
    machine = trained(kind, X)
    path = tmp_path / "model"
    path.write_text(to_libsvm(machine))
    again = budgetsvm.load(path)
    assert again.n_features_in_ == WIDTH
    assert again._expansion.sparse_points
    np.testing.assert_allclose(values(again, T), values(machine, T), atol=1e-5)
    # What is read is written as it was.
    path.write_text(to_libsvm(again))
    assert np.array_equal(values(budgetsvm.load(path), T), values(again, T))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_c_and_onnx_have_all_features(kind: object) -> None:
    X = rows(1)
    machine = trained(kind, X)
    assert str(WIDTH) in to_c(machine).text
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    onnx = budgetsvm.to_onnx(machine, np.zeros((1, WIDTH))).SerializeToString()
    session = runtime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
    found = session.run(None, {session.get_inputs()[0].name: X[:50].toarray()})[0]
    np.testing.assert_allclose(
        np.ravel(found), np.ravel(machine.predict(X[:50])), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_compressed_machines_stay_sparse(kind: object, with_rows: bool, tmp_path: Path) -> None:
    X = rows(1)
    machine = trained(kind, X)
    found = compress(machine, 20, X if with_rows else None)
    assert found.n_terms[1] <= 20
    assert found.estimator._expansion.sparse_points
    assert found.distance < 0.95
    budgetsvm.save(found.estimator, tmp_path / "small")
    again = budgetsvm.load(tmp_path / "small")
    assert np.array_equal(values(again, X), values(found.estimator, X))


# ---- models of LIBSVM ----

MODEL = """svm_type epsilon_svr
kernel_type {kernel}
nr_class 2
total_sv 2
rho 0.5
SV
1 1:1 {width}:2
-1 2:1 3:0
"""


@pytest.mark.parametrize("width", [2000, 2_147_000_000])
def test_few_of_many_features_take_little_memory(width: int, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text(MODEL.format(kernel="linear", width=width))
    machine = budgetsvm.load(path)
    assert machine._expansion.sparse_points
    assert machine._expansion.points.nnz == 3
    assert machine.n_features_in_ == width
    X = sparse.csr_array(([1.0, 3.0], ([0, 1], [0, width - 1])), (2, width))
    assert machine.predict(X).tolist() == [0.5, 5.5]


def test_those_that_are_not_wide_are_dense(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text(MODEL.format(kernel="linear", width=1000))
    assert not budgetsvm.load(path)._expansion.sparse_points
    assert not budgetsvm.load(path, n_features=1024)._expansion.sparse_points
    assert budgetsvm.load(path, n_features=1025)._expansion.sparse_points


def test_what_would_be_too_large_is_refused_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text(MODEL.format(kernel="linear", width=2_147_000_000))
    machine = budgetsvm.load(path)
    with pytest.raises(ValueError, match="compress knows no sparse terms, and with all 2,147"):
        compress(machine, 1)
    with pytest.raises(ValueError, match="C knows no sparse terms"):
        to_c(machine)
