"""What a model keeps is what it has learned: nothing uninitialised, nothing of the data, nothing in advance."""

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse
from sequences.runs import SUBJECTS, Data
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import scale
from tools.frozen import frozen

from budgetsvm import BudgetSVC, BudgetSVR
from budgetsvm.monitoring import Trace

MACHINES = [subject for subject in SUBJECTS if subject != "features"]
FORMS = {"dense": np.asarray, "sparse": sparse.csr_array, "float32": np.float32}


def _dirty_memory() -> None:
    """Leave something behind in memory that is then free."""
    for size in (10**3, 10**4, 10**5, 10**6):
        np.full(size, np.pi)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("subject", MACHINES)
def test_equal_models_pickle_alike(subject: str, form: str) -> None:
    data = Data(n=60, d=2)
    pickles = []
    for _ in range(3):
        _dirty_memory()
        model = SUBJECTS[subject](budget=10, n_jobs=1, random_state=0)
        model.partial_fit(FORMS[form](data.rows()), data.targets(subject))
        model.history_ = []  # has the seconds of every epoch
        pickles.append(pickle.dumps(model))
    assert pickles[0] == pickles[1] == pickles[2]


def test_a_pickle_is_no_larger_than_what_was_seen() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = BudgetSVC(budget=20, random_state=0).partial_fit(scale(X), y)
    assert len(pickle.dumps(model)) < 1.1 * (X.nbytes + 16 * len(y)) + 20_000
    without = model.set_params(reservoir=0).fit(scale(X), y)
    assert len(pickle.dumps(without)) < 20_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("subject", MACHINES)
def test_a_reservoir_takes_memory_for_what_is_in_it(subject: str, form: str) -> None:
    data = Data(n=60, d=2)
    X, y = FORMS[form](data.rows()), data.targets(subject)
    model = SUBJECTS[subject](budget=10, reservoir=10**10, n_jobs=1, random_state=0)
    for _ in range(3):
        model.partial_fit(X, y)
    model.polish_now()
    small = SUBJECTS[subject](budget=10, reservoir=180, n_jobs=1, random_state=0)
    for _ in range(3):
        small.partial_fit(X, y)
    assert frozen(small.polish_now().dual_coef_) == frozen(model.dual_coef_)


@pytest.mark.parametrize("mmap_mode", ["r", "c", None])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_model_from_a_mapped_file_goes_on(tmp_path: Path, subject: str, mmap_mode: Any) -> None:
    first, second = Data(n=60, d=2), Data(n=60, d=2, seed=1)
    model = SUBJECTS[subject](budget=10, n_jobs=1, random_state=0)
    model.partial_fit(first.rows(), first.targets(subject))
    path = tmp_path / "model"
    joblib.dump(model, path)
    loaded = joblib.load(path, mmap_mode=mmap_mode)
    for one in (model, loaded):
        for _ in range(2):
            one.partial_fit(second.rows(), second.targets(subject))
        if subject != "features":
            one.polish_now()
    name = "components_" if subject == "features" else "dual_coef_"
    assert frozen(np.array(getattr(loaded, name))) == frozen(np.array(getattr(model, name)))


@pytest.mark.parametrize("subject", ["two classes", "three classes", "one target"])
def test_a_model_that_was_watched_keeps_no_rows(subject: str) -> None:
    data = Data(n=20_000, d=3)
    X, y = data.rows(), data.targets(subject)
    model = SUBJECTS[subject](budget=10, epochs=1, random_state=0)
    plain = len(pickle.dumps(model.fit(X, y)))
    watched = model.set_params(monitor=Trace(effort=1e5)).fit(X, y)
    assert len(pickle.dumps(watched)) < plain + 20_000
    again = pickle.loads(pickle.dumps(watched))
    np.testing.assert_array_equal(again.monitor_["primal"], watched.monitor_["primal"])


def test_a_fit_keeps_nothing_per_row() -> None:
    X, y = make_moons(5000, noise=0.2, random_state=0)
    for model in (BudgetSVC(budget=10, random_state=0), BudgetSVR(budget=10, random_state=0)):
        assert len(pickle.dumps(model.fit(X, y))) < 10_000
