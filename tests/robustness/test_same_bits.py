"""The same seed gives the same bits: whatever the number of threads, and the memory that is free."""

import itertools
from typing import Any

import numpy as np
import pytest
from sequences.runs import SUBJECTS, Data
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_limits
from tools.frozen import frozen

from budgetsvm import BudgetFeatures, BudgetSVC
from budgetsvm._common import memory

MACHINES = [subject for subject in SUBJECTS if subject != "features"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _bits(model: Any) -> Any:
    named = ("support_vectors_", "dual_coef_", "intercept_", "objective_", "duality_gap_")
    return frozen({name: getattr(model, name) for name in named})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("memory_limit", [1.0, 1e4, 1e5, 1e6, 1e9])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("subject", MACHINES)
def test_threads_change_nothing(subject: str, form: Any, memory_limit: float) -> None:
    data = Data(n=900, d=3, form=form)
    X, y = data.rows(), data.targets(subject)
    found = []
    for threads in (1, 2, 3, 7):
        model = SUBJECTS[subject](
            budget=30, gamma=1.0, memory_limit=memory_limit, max_passes=40, random_state=0
        )
        found.append(_bits(model.set_params(n_jobs=threads).fit(X, y)))
    assert all(bits == found[0] for bits in found)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_threads_change_nothing_for_many_rows(loss: str) -> None:
    X, y = make_moons(20_000, noise=0.3, random_state=0)
    model = BudgetSVC(C=10.0, gamma=2.0, budget=40, loss=loss, epochs=1, random_state=0)
    for limit in (2e5, 3e6, 1e9):
        model.set_params(memory_limit=limit)
        found = [_bits(model.set_params(n_jobs=threads).fit(X, y)) for threads in (1, 2, 3)]
        assert found[0] == found[1] == found[2]


def test_very_many_threads_change_nothing() -> None:
    X, y = make_moons(3000, noise=0.3, random_state=0)
    model = BudgetSVC(gamma=2.0, budget=40, random_state=0, n_jobs=1)
    one = _bits(model.fit(X, y))
    assert _bits(model.set_params(n_jobs=100_000).fit(X, y)) == one


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_threads_of_blas_change_nothing(precision: Any) -> None:
    """Also in what a fitted machine answers: not our threads alone, those of BLAS as well."""
    X = np.random.default_rng(0).standard_normal((20_000, 20))
    options: dict[str, Any] = {"gamma": 0.05, "precision": precision, "random_state": 0}
    features = BudgetFeatures(300, basis="random", **options).fit(X)
    model = BudgetSVC(budget=60, epochs=1, **options).fit(X, np.clip(X[:, 0].round(), -1, 1))
    found = []
    for blas, ours in itertools.product((1, 2), (1, 2)):
        with threadpool_limits(blas, "blas"):
            answers = [
                features.set_params(n_jobs=ours).transform(X),
                model.set_params(n_jobs=ours).decision_function(X),
            ]
        found.append(frozen(answers))
    assert all(bits == found[0] for bits in found)


@pytest.mark.parametrize("subject", MACHINES)
def test_free_memory_changes_nothing(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the machine's memory, where /proc says so; the default limit must not make the parts."""
    data = Data(n=3000, d=3)
    X, y = data.rows(), data.targets(subject)
    model = SUBJECTS[subject](budget=40, gamma=1.0, max_passes=40, random_state=0)
    found = []
    for free in (1e4, 1e6, 64e9):
        # Where a limit is found elsewhere by now, this changes nothing, and says so.
        monkeypatch.setattr(memory, "_machine", lambda free=free: free, raising=False)
        found.append(_bits(model.fit(X, y)))
    assert found[0] == found[1] == found[2]
