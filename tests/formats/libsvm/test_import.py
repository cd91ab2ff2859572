"""Models of LIBSVM predict here as they do there."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tools.peers import libsvm

import budgetsvm
from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR, cli
from budgetsvm._formats.libsvm.pairs import pair_coefficients
from budgetsvm._formats.libsvm.read import read_libsvm
from budgetsvm._model.expansion import KernelExpansion

X, Y = libsvm.two_classes()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kernel", libsvm.KERNELS)
@pytest.mark.parametrize("kind", ["-s 0", "-s 1 -n 0.3"])
@pytest.mark.parametrize(("label", "other"), [(1, -1), (5, 3), (3, 5)])
def test_two_classes(tmp_path: Path, kernel: str, kind: str, label: int, other: int) -> None:
    """Whichever label comes first."""
    y, sign = np.where(Y == 1, label, other), np.sign(label - other)
    path = libsvm.train(tmp_path / "a", X, y, f"{kind} {libsvm.KERNELS[kernel]}")
    labels, values = libsvm.predict(path, X)
    machine = budgetsvm.load(path)
    assert isinstance(machine, BudgetSVC)
    assert machine.kernel == kernel
    assert_array_equal(machine.predict(X[:, : machine.n_features_in_]), labels)
    found = machine.decision_function(X[:, : machine.n_features_in_])
    assert_allclose(found, sign * values[:, 0], rtol=1e-9, atol=1e-9 * abs(values).max())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", libsvm.KERNELS)
@pytest.mark.parametrize("kind", ["-s 3 -p 0.2", "-s 4 -n 0.4"])
def test_regression(tmp_path: Path, kernel: str, kind: str) -> None:
    y = 50 + 20 * np.sin(X[:, 0])
    path = libsvm.train(tmp_path / "a", X, y, f"{kind} -c 10 {libsvm.KERNELS[kernel]}")
    machine = budgetsvm.load(path, n_features=X.shape[1])
    assert isinstance(machine, BudgetSVR)
    assert_allclose(machine.predict(X), libsvm.predict(path, X)[0], rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "sigmoid"])
def test_one_class(tmp_path: Path, kernel: str) -> None:
    path = libsvm.train(tmp_path / "a", X, Y, f"-s 2 -n 0.2 {libsvm.KERNELS[kernel]}")
    labels, values = libsvm.predict(path, X)
    machine = budgetsvm.load(path, n_features=X.shape[1])
    assert isinstance(machine, BudgetOneClassSVM)
    clear = abs(values[:, 0]) > 1e-12  # zero is inside here, and outside there
    assert_array_equal(machine.predict(X)[clear], labels[clear])
    assert_allclose(machine.decision_function(X), values[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", libsvm.KERNELS)
@pytest.mark.parametrize("count", [3, 6])
def test_several_classes(tmp_path: Path, kernel: str, count: int) -> None:
    """A value for every pair of classes, in LIBSVM's order; and an estimator, where there is one of pairs."""
    rows, y = libsvm.classes(count)
    path = libsvm.train(tmp_path / "a", rows, y, libsvm.KERNELS[kernel])
    labels, values = libsvm.predict(path, rows)
    model = read_libsvm(path.read_bytes(), "a")
    coef = pair_coefficients(model.coef, model.counts)
    expansion = KernelExpansion(model.kernel, model.points, coef, -model.rho, None)
    assert_allclose(expansion.decision(rows), values, rtol=1e-9, atol=1e-9 * abs(values).max())
    machine = budgetsvm.load(path)
    assert_array_equal(machine.classes_, np.unique(y))
    assert_array_equal(machine.predict(rows), labels)
    machine.decision_function_shape = "ovo"
    first, second = np.triu_indices(count, 1)
    ranks = np.searchsorted(machine.classes_, model.labels)
    for pair, (a, b) in enumerate(zip(ranks[first], ranks[second], strict=True)):
        own = np.flatnonzero((first == min(a, b)) & (second == max(a, b)))[0]
        sign = 1 if a < b else -1
        assert_allclose(sign * machine.decision_function(rows)[:, own], values[:, pair], atol=1e-9)


@pytest.mark.parametrize("kind", ["-s 0 -b 1", "-s 3 -b 1", "-s 2 -b 1"])
def test_probabilities_are_left_out(tmp_path: Path, kind: str) -> None:
    path = libsvm.train(tmp_path / "a", X, Y, kind)
    assert "prob" in path.read_text()
    with pytest.warns(UserWarning, match="probabilities is left out"):
        machine = budgetsvm.load(path, n_features=X.shape[1])
    values = libsvm.predict(path, X)[1]
    found = machine.predict(X) if "-s 3" in kind else machine.decision_function(X)
    assert_allclose(found, values[:, 0], rtol=1e-9, atol=1e-9)


def test_goes_on_as_any_estimator(tmp_path: Path) -> None:
    """It can be saved, trained further, and fitted anew."""
    machine = budgetsvm.load(libsvm.train(tmp_path / "a", X, Y, "-g 1"), n_features=X.shape[1])
    machine.save(tmp_path / "b.bsvm")
    again = budgetsvm.load(tmp_path / "b.bsvm", n_features=X.shape[1])
    assert_array_equal(again.decision_function(X), machine.decision_function(X))
    machine.set_params(budget=20).partial_fit(X, Y)
    assert len(machine.support_vectors_) == 20
    assert machine.fit(X, Y).score(X, Y) > 0.9
    with pytest.raises(ValueError, match=r"is for 4 features, and n_features=5"):
        budgetsvm.load(tmp_path / "b.bsvm", n_features=5)


def test_features_that_no_support_vector_has(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Of a wider row, all features count: the command line sees how wide the rows are."""
    path = libsvm.train(tmp_path / "a", X[:, :2], Y, "-g 1")
    rows = tmp_path / "rows"
    rows.write_text("1 1:0.5 2:0.5\n-1 2:0.25 5:1.5\n")
    wide = np.array([[0.5, 0.5, 0, 0, 0], [0, 0.25, 0, 0, 1.5]])
    expected = libsvm.predict(path, wide)[1][:, 0]
    assert cli.main(["predict", "-q", "--decision", str(rows), str(path)]) == 0
    assert_allclose(np.array(capsys.readouterr().out.split(), float), expected, atol=1e-9)
    rows.write_text("1 1:0.5\n")  # and narrower ones
    assert cli.main(["predict", "-q", "--decision", str(rows), str(path)]) == 0
    expected = libsvm.predict(path, np.array([[0.5, 0.0]]))[1][:, 0]
    assert_allclose(np.array(capsys.readouterr().out.split(), float), expected, atol=1e-9)
    assert cli.main(["evaluate", str(rows), str(path)]) == 0
    assert cli.main(["info", str(path)]) == 0
    assert "BudgetSVC" in capsys.readouterr().out
