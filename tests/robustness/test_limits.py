"""Limits that cannot be met, input in other shapes, and the trial of phase 1."""

import resource
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from oracles.certificates import check_primal
from scipy import sparse
from sequences.runs import SUBJECTS, Data
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetFeatures, BudgetSVC, polish

MACHINES = [subject for subject in SUBJECTS if subject != "features"]


# ---- a tolerance beyond the precision ----


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("tol", [1e-7, 1e-9])
def test_single_precision_names_double_where_it_is_not_enough(loss: str, tol: float) -> None:
    X, y = make_moons(400, noise=0.2, random_state=0)
    model = BudgetSVC(
        C=100.0, gamma=1.0, loss=loss, tol=tol, precision="single", budget=50, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    if model.converged_:
        assert not caught
        check_primal(model, X, y)
        return
    assert [one.category for one in caught] == [ConvergenceWarning]
    assert "double" in str(caught[0].message)


@pytest.mark.parametrize("classes", [2, 3])
def test_automatic_precision_reaches_a_small_tolerance(classes: int) -> None:
    X, y = make_moons(400, noise=0.2, random_state=0)
    labels = y if classes == 2 else y + (X[:, 0] > 1)
    model = BudgetSVC(C=100.0, gamma=1.0, tol=1e-7, budget=50, random_state=0)
    model.set_params(time_limit=20).fit(X, labels)  # it takes a blink, or goes on for minutes
    assert model.converged_
    check_primal(model, X, labels)


# ---- memory ----

_LIMITED = """
import resource
import numpy as np
from sklearn.datasets import make_moons
from budgetsvm import BudgetSVC
X, y = make_moons(60_000, noise=0.2, random_state=0)
model = BudgetSVC(gamma=100.0, budget=500, epochs=0.2, random_state=0, n_jobs=1)
model.set_params(budget=20).fit(X, y).set_params(budget=500)  # all libraries are there now
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)
print(model.fit(X, y).score(X, y) > 0.9)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
def test_the_default_limit_respects_that_of_the_process() -> None:
    assert hasattr(resource, "RLIMIT_AS")
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "True", done.stderr[-2000:]


# ---- shapes of input ----


@pytest.mark.parametrize("subject", MACHINES)
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_may_be_lists(subject: str, weighted: bool) -> None:
    data = Data(n=100, d=2, weights="wide" if weighted else "none")
    parts = [data.rows(), data.targets(subject), data.sample_weight()][: 3 if weighted else 2]
    made = (SUBJECTS[subject](budget=10, random_state=0, n_jobs=1) for _ in range(2))
    tuples, lists = (
        model.fit_stream([kind(parts)] * 2) for model, kind in zip(made, (tuple, list), strict=True)
    )
    np.testing.assert_array_equal(tuples.dual_coef_, lists.dual_coef_)


def test_rows_alone_may_be_nested_lists() -> None:
    data = Data(n=100, d=2)
    made = [SUBJECTS["one class"](budget=10, random_state=0, n_jobs=1) for _ in range(2)]
    for model, block in zip(made, (data.rows(), data.rows().tolist()), strict=True):
        model.fit_stream([block, block])
    np.testing.assert_array_equal(made[0].dual_coef_, made[1].dual_coef_)


@pytest.mark.parametrize("task", ["classification", "regression", "density"])
def test_features_take_weights(task: Any) -> None:
    data = Data(n=200, d=2, weights="zeros")
    X, w = data.rows(), data.sample_weight()
    y = {"classification": "two classes", "regression": "one target"}.get(task, "")
    y = data.targets(y)
    kept = w > 0
    model = BudgetFeatures(10, task=task, gamma=1.0, random_state=0)
    weighted = model.fit(X, y, sample_weight=w).transform(X)
    left_out = model.fit(X[kept], None if y is None else y[kept], sample_weight=w[kept]).transform(
        X
    )
    np.testing.assert_array_equal(weighted, left_out)
    with pytest.raises(ValueError, match="weight"):
        model.fit(X, y, sample_weight=-w)


@pytest.mark.parametrize("classes", [2, 3])
def test_polish_takes_sparse_points(classes: int) -> None:
    data = Data(n=200, d=2)
    X, y = data.rows(), data.targets("two classes" if classes == 2 else "three classes")
    for rows in (X, sparse.csr_array(X)):
        dense = polish(rows, y, X[:20], C=10, gamma=1.0, random_state=0)
        found = polish(rows, y, sparse.csr_matrix(X[:20]), C=10, gamma=1.0, random_state=0)
        np.testing.assert_array_equal(found.coef, dense.coef)
        assert found.primal == dense.primal


# ---- the trial of phase 1 ----


def test_the_trial_of_gradient_descent_has_no_reason_to_begin_anew() -> None:
    """Where terms suffice for C, beginning anew with a smaller C makes P larger: it is not to happen."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6000, 4))
    noise = 0.1 * rng.standard_normal(6000)
    y = np.sin(3 * X[:, 0]) + np.sin(3 * X[:, 1]) * X[:, 2] + noise > 0.6
    model = BudgetSVC(C=32.0, gamma=2.0, budget=200, solver="bsgd", n_jobs=1)
    adapted, plain = (
        np.mean(
            [model.set_params(epochs=e, random_state=s).fit(X, y).objective_[0] for s in range(3)]
        )
        for e in ("auto", 2)
    )
    assert adapted < 1.02 * plain
