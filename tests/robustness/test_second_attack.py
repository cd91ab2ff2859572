"""What a second attack found; each stands for its class."""

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR, maintenance
from budgetsvm._estimators.snapshots import machine_of, snapshot_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = RNG.standard_normal((120, 4))


@pytest.mark.parametrize("budget", [None, 20])
@pytest.mark.parametrize("kind", ["classes", "targets"])
def test_a_model_from_a_file_answers_bit_by_bit(kind: str, budget: int | None) -> None:
    """Whatever the memory order of its arrays was."""
    options: dict[str, Any] = {"budget": budget, "epochs": 1, "random_state": 0}
    model = (
        BudgetSVC(**options).fit(X, Y[:, 0].round())
        if kind == "classes"
        else BudgetSVR(**options).fit(X, Y)
    )
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)]
    for other in (*others, machine_of(snapshot_of(model))):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        if kind == "classes":
            np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_features_of_a_density_depend_on_the_seed_alone() -> None:
    rows = np.random.default_rng(1).standard_normal((3000, 2))
    found = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002 - the global state must not matter
        found.append(BudgetFeatures(5, random_state=0).fit(rows).components_)
    np.testing.assert_array_equal(*found)


# ---- snapshots from somebody who means no good ----


def changed(path: tuple[str, ...], value: Any) -> Any:
    snapshot = snapshot_of(BudgetSVC(budget=5, random_state=0).fit(X, Y[:, 0] > 0))
    record = snapshot["machine"]
    for key in path[:-1]:
        record[key] = dict(record[key])
        record = record[key]
    record[path[-1]] = value
    return snapshot


@pytest.mark.parametrize(
    "path",
    [
        ("parameters", "C"),
        ("parameters", "gamma"),
        ("state", "duality_gap"),
        ("state", "model", "kernel", "gamma"),
    ],
)
def test_integers_of_hundreds_of_digits(path: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=path[-1]):
        machine_of(changed(path, 10**400))


def test_an_array_of_any_size_in_no_memory() -> None:
    huge = np.lib.stride_tricks.as_strided(np.zeros(3), (1 << 40, 3), (0, 8))
    for path in (("state", "model", "points"), ("parameters", "basis")):
        with pytest.raises(ValueError, match="any size in no memory"):
            machine_of(changed(path, huge))


def test_subclasses_of_arrays() -> None:
    with pytest.raises(ValueError, match="not plain"):
        machine_of(changed(("state", "model", "points"), np.zeros((5, 3)).view(np.recarray)))


@pytest.mark.slow
def test_a_record_without_end() -> None:
    bomb: Any = 1
    for _ in range(15):
        bomb = [bomb] * 10
    with pytest.raises(ValueError, match="parts"):
        machine_of({"format": bomb})


# ---- subclasses and options of users ----


class Wider(BudgetSVC):
    """A classifier with a parameter more."""

    def __init__(self, C: float = 1.0, *, extra: int = 3, gamma: Any = "scale") -> None:
        super().__init__(C, gamma=gamma, budget=10, random_state=0)
        self.extra = extra


def test_a_subclass_with_parameters_of_its_own() -> None:
    model = clone(Wider(2.0, extra=4)).fit(X, Y[:, 0] > 0)
    assert model.get_params() == {"C": 2.0, "extra": 4, "gamma": "scale"}
    assert len(model.support_vectors_) <= 10
    assert pickle.loads(pickle.dumps(model)).extra == 4


class Counted(BudgetSVC):
    """Says in its state that it was asked for it."""

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "asked": True}


def test_copies_ask_a_subclass_for_its_state() -> None:
    assert copy.copy(Counted(budget=5).fit(X, Y[:, 0] > 0)).asked


def test_the_base_class_of_strategies_is_none() -> None:
    with pytest.raises(TypeError, match="maintenance must be one of"):
        BudgetSVC(maintenance=maintenance.Maintenance()).fit(X, Y[:, 0] > 0)


@pytest.mark.parametrize("name", ["C", "gamma", "tol", "epochs", "time_limit", "memory_limit"])
def test_parameters_of_hundreds_of_digits(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        BudgetSVC(**{name: 10**400}).fit(X, Y[:, 0] > 0)


# ---- where there is nobody to write to ----


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("closed", ["2>&-", ">&-"])
def test_closed_streams(closed: str) -> None:
    if closed == "2>&-" and np.__version__.startswith("2.0."):
        pytest.skip("NumPy 2.0 cannot be imported so")
    fit = (
        "import numpy as np; from budgetsvm import BudgetSVC; from budgetsvm.cli import main;"
        "X = np.arange(40.0).reshape(20, 2); BudgetSVC(budget=5, verbose=1).fit(X, X[:, 0] > 9);"
        "raise SystemExit(main(['info']))"
    )
    done = subprocess.run(
        f'{sys.executable} -c "{fit}" {closed}',
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", [BudgetSVC, BudgetSVR, BudgetOneClassSVM, BudgetFeatures])
def test_documentation_names_what_it_speaks_of_first(kind: Any) -> None:
    text = inspect.getdoc(kind)
    assert text is not None
    if "support_vectors_ :" in text:
        assert text.index("support_vectors_ :") < text.index("dual_coef_ :")
