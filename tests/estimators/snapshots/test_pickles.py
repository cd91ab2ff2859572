"""Pickles and files of skops name public classes only, and copies share what they can."""

import io
import pickle
import pickletools
import re
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sequences.runs import SUBJECTS, Data
from tools.frozen import frozen

from budgetsvm import BudgetSVC, polish
from budgetsvm.monitoring import Monitor, Trace, View

DATA = Data(n=60, d=2)
PRIVATE = re.compile(r"budgetsvm(\.\w+)*\._")


class Views(Monitor):
    """Keeps what it sees."""

    def begin(self, data: Any) -> None:  # noqa: ARG002
        self.views: list[View] = []

    def next_visit(self, visits: int) -> int:
        return visits + 50

    def observe(self, view: View) -> None:
        self.views.append(view)


def named(content: bytes) -> set[str]:
    """Return all strings in a pickle, modules and classes among them."""
    strings = {str(argument) for _, argument, _ in pickletools.genops(content)}
    assert any(text.startswith("budgetsvm") for text in strings)
    return strings


def trained(subject: str, way: str) -> Any:
    kind = SUBJECTS[subject]
    known = kind().get_params()
    given = {"budget": 10, "n_jobs": 1, "random_state": 0, "warm_start": True, "reservoir": 30}
    model = kind(**{name: value for name, value in given.items() if name in known})
    X, y = DATA.rows(), DATA.targets(subject)
    if way == "fit":
        return model.set_params(monitor=Trace()).fit(X, y)
    for form in (np.asarray, sparse.csr_matrix) if way == "sparse" else (np.asarray,) * 2:
        model.partial_fit(form(X), y)
    return model


@pytest.mark.parametrize("way", ["fit", "stream", "sparse"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_pickles_name_no_private_path(subject: str, way: str) -> None:
    model = trained(subject, way)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        content = pickle.dumps(model, protocol)
        assert not {text for text in named(content) if PRIVATE.search(text)}
        again = pickle.loads(content)
        assert frozen(again) == frozen(model)


@pytest.mark.parametrize("way", ["fit", "stream", "sparse"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_skops_names_no_private_path(subject: str, way: str, tmp_path: Path) -> None:
    model = trained(subject, way)
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    unknown = skops.io.get_untrusted_types(file=path)
    assert unknown
    assert all(name.startswith("budgetsvm.") for name in unknown)
    assert not [name for name in unknown if PRIVATE.search(name)]
    assert frozen(skops.io.load(path, trusted=unknown)) == frozen(model)


def test_views_and_results_name_no_private_path() -> None:
    X, y = DATA.rows(), DATA.targets("two classes")
    model = BudgetSVC(budget=10, random_state=0, monitor=Views()).fit(X, y)
    view = model.monitor_.views[-1]
    result = polish(X, y, X[:10])
    assert result.evidence is None
    for thing in (view, result):
        content = pickle.dumps(thing)
        assert not {text for text in named(content) if PRIVATE.search(text)}
    again = pickle.loads(pickle.dumps(view))
    assert frozen(again.points) == frozen(view.points)
    ours, theirs = view.estimator(), again.estimator()
    assert frozen(ours.decision_function(X)) == frozen(theirs.decision_function(X))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_copies_share_and_are_free(subject: str) -> None:
    model = trained(subject, "stream")
    before = frozen(model)
    for other in (copy(model), deepcopy(model)):
        assert type(other) is type(model)
        assert frozen(other) == before
        other.partial_fit(DATA.rows(), DATA.targets(subject))
        assert frozen(model) == before
    shared = copy(model)
    assert shared._expansion is model._expansion
    assert vars(shared) is not vars(model)


def test_records_share_arrays_with_the_model() -> None:
    model = trained("two classes", "stream")
    state = model.__getstate__()
    assert state["_expansion"]["points"] is model._expansion.points
    assert isinstance(
        model.__dict__["_reservoir"].capacity, int
    )  # the model itself has not changed


def test_a_damaged_pickle_is_refused() -> None:
    model = trained("two classes", "stream")
    state = model.__getstate__()
    for name in ("_expansion", "_reservoir"):
        for field in state[name]:
            damaged = {**state, name: {**state[name], field: "?"}}
            with pytest.raises(ValueError, match=f"a pickled BudgetSVC: {name}"):
                BudgetSVC().__setstate__(damaged)


class Own(BudgetSVC):
    """Made by a user, with a state of its own."""

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "note": 1}


def test_subclasses_have_their_say() -> None:
    X, y = DATA.rows(), DATA.targets("two classes")
    model = Own(budget=10, random_state=0).fit(X, y)
    state = model.__getstate__()
    other = Own.__new__(Own)
    other.__setstate__(state)
    assert other.note == 1
    assert frozen(other.predict(X)) == frozen(model.predict(X))


def test_functions_are_pickled_by_name() -> None:
    X, y = DATA.rows(), DATA.targets("two classes")
    kernel = np.inner  # any function that can be imported
    model = BudgetSVC(kernel=kernel, maintenance="remove", budget=10, random_state=0).fit(X, y)
    stream = io.BytesIO()
    pickle.dump(model, stream)
    again = pickle.loads(stream.getvalue())
    assert frozen(again.decision_function(X)) == frozen(model.decision_function(X))
