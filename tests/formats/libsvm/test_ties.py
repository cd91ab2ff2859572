"""Where several classes win equally many pairs: the same label as LIBSVM's, whichever label it saw first."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tools.peers import libsvm
from tools.peers.compiled import Compiled

import budgetsvm
from budgetsvm import BudgetSVC, to_c, to_libsvm, to_onnx
from budgetsvm._problem.pair_targets import first_winners, head_to_head, near_head_to_head, votes

ROWS = np.zeros((1, 2))


def constant(values: Any, labels: Any) -> bytes:
    """Return a model of LIBSVM whose pairs have these values, whatever the row is."""
    k = len(labels)
    counts = ["1", *["0"] * (k - 1)]
    return "\n".join(
        [
            "svm_type c_svc\nkernel_type rbf\ngamma 1",
            f"nr_class {k}\ntotal_sv 1",
            f"rho {' '.join(f'{-value:g}' for value in values)}",
            f"label {' '.join(map(str, labels))}",
            f"nr_sv {' '.join(counts)}",
            f"SV\n{'0 ' * (k - 1)}2:0\n",
        ]
    ).encode()


CASES = [
    *((values, (7, -2, 30)) for values in product((-1, 0, 2), repeat=3)),
    *((np.random.default_rng(seed).choice([-1, 0, 1, 3], 6), (4, 9, 1, -3)) for seed in range(20)),
]


def test_ties_of_models_from_libsvm(tmp_path: Path) -> None:
    """Read, saved, and written again."""
    path, again = tmp_path / "a", tmp_path / "b"
    tied = 0
    for values, labels in CASES:
        path.write_bytes(constant(values, labels))
        expected = libsvm.predict(path, ROWS)[0]
        machine = budgetsvm.load(path)
        assert_array_equal(machine.predict(ROWS), expected)
        machine.save(again)
        assert_array_equal(budgetsvm.load(again).predict(ROWS), expected)
        again.write_text(to_libsvm(machine))
        assert_array_equal(libsvm.predict(again, ROWS)[0], expected)
        assert_array_equal(budgetsvm.load(again).predict(ROWS), expected)
        tied += machine.set_params(break_ties=True).predict(ROWS)[0] != expected[0]
    assert tied > 5  # or else nothing is shown


@pytest.mark.slow
@pytest.mark.parametrize("break_ties", ["head_to_head", True, False])
def test_ties_on_other_runtimes(tmp_path: Path, break_ties: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "a"
    for number, (values, labels) in enumerate(CASES[::5]):
        path.write_bytes(constant(values, labels))
        machine = budgetsvm.load(path).set_params(break_ties=break_ties)
        expected = machine.predict(ROWS)
        onnx = to_onnx(machine, ROWS).SerializeToString()
        session = runtime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
        assert_array_equal(session.run(None, {session.get_inputs()[0].name: ROWS})[0], expected)
        folder = tmp_path / str(number)
        folder.mkdir()
        codes = Compiled(folder, to_c(machine).text).predict(ROWS)
        assert_array_equal(machine.classes_[codes], expected)


@pytest.mark.slow
def test_ties_of_models_from_here(tmp_path: Path) -> None:
    """LIBSVM has the same label for every row of a model with break_ties=False, and others are told of."""
    rows, y = libsvm.classes(6, 400)
    machine = BudgetSVC(1e-3, gamma=0.5, budget=20, random_state=0, break_ties=False).fit(rows, y)
    path = tmp_path / "a"
    path.write_text(to_libsvm(machine))
    grid = np.random.default_rng(0).uniform(-5, 5, (3000, 3))
    labels, values = libsvm.predict(path, grid)
    clear = abs(values).min(axis=1) > 1e-6  # rounding must not decide a pair
    assert_array_equal(machine.predict(grid)[clear], labels[clear])
    for rule in (True, "head_to_head"):
        by_values = machine.set_params(break_ties=rule).predict(grid)
        assert (by_values != labels)[clear].any()  # there are ties among them
        with pytest.warns(UserWarning, match="LIBSVM takes the first of them"):
            assert to_libsvm(machine) == path.read_text()
    assert machine.set_params(break_ties=False).fit(rows, y)._tie_order is None


def test_the_rule_itself() -> None:
    """Class by class, in the words of LIBSVM's source."""
    rng = np.random.default_rng(0)
    for n_classes in (3, 5):
        values = rng.integers(-1, 2, (200, n_classes * (n_classes - 1) // 2)).astype(float)
        for order in (None, rng.permutation(n_classes)):
            found = first_winners(values, n_classes, order)
            for row, winner in zip(values, found, strict=True):
                assert winner == _by_libsvm(row, n_classes, order)


def test_head_to_head_in_plain_words() -> None:
    """Classes that win most pairs are compared by their values against each other alone."""
    rng, others = np.random.default_rng(0), 0
    for n_classes in (3, 5, 8):
        values = rng.standard_normal((300, n_classes * (n_classes - 1) // 2))
        found = head_to_head(values, n_classes)
        for row, winner in zip(values, found, strict=True):
            square = np.zeros((n_classes, n_classes))
            square[np.triu_indices(n_classes, 1)] = row
            square -= square.T
            wins = (square > 0).sum(axis=1)
            tied = np.flatnonzero(wins == wins.max())
            assert winner == tied[square[np.ix_(tied, tied)].sum(axis=1).argmax()]
        others += (found != votes(values, n_classes).argmax(axis=1)).sum()
    assert others > 50  # the sums of all values say something else


def test_two_tied_classes_are_decided_by_their_pair(tmp_path: Path) -> None:
    # Of (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3): the first two win two pairs each, and 1 beats 0.
    values = np.array([[-0.1, 9.0, 9.0, 0.1, -0.1, 0.1]])
    assert head_to_head(values, 4)[0] == 1
    assert votes(values, 4).argmax() == first_winners(values, 4, None)[0] == 0
    path = tmp_path / "a"
    path.write_bytes(constant(values[0], (2, 4, 6, 8)))
    machine = budgetsvm.load(path)
    expected = {False: 2, True: 2, BudgetSVC().break_ties: 4}
    for rule, label in expected.items():
        machine.set_params(break_ties=rule)
        assert machine.predict(ROWS)[0] == label
        assert machine.classes_[machine.decision_function(ROWS).argmax()] == label


def test_where_rounding_may_decide_among_three() -> None:
    """The pairs of three classes in a circle, all of which win two, and a fourth that wins none."""
    circle = [1.0, -1.0, 5.0, 1.0, 5.0, 5.0]  # 0 beats 1 beats 2 beats 0
    two = [0.001, 1.0, -1.0, 1.0, 1.0, 1.0]
    values = np.array([circle, circle, two])
    values[:2, 0] += [1e-4, 0.5]  # of which one is less than errors are
    errors = np.full((1, 6), 1e-3)
    assert near_head_to_head(values, 4, errors).tolist() == [True, False, False]
    assert near_head_to_head(values, 4, np.full((3, 6), 1e-9)).tolist() == [False] * 3


def _by_libsvm(row: Any, n_classes: int, order: Any) -> int:
    order = np.arange(n_classes) if order is None else order
    square = np.zeros((n_classes, n_classes))
    square[np.triu_indices(n_classes, 1)] = row
    square -= square.T
    wins = np.zeros(n_classes, int)
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            wins[i if square[order[i], order[j]] > 0 else j] += 1
    return int(order[int(wins.argmax())])
