"""A damaged snapshot is refused, or does no harm: neither at once nor later."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sequences.runs import SUBJECTS, Data
from tools.frozen import frozen

from budgetsvm._estimators.snapshots import machine_of, snapshot_of

FIRST, SECOND = Data(n=40, d=2), Data(n=30, d=2, seed=1)
CASES = [(subject, way) for subject in SUBJECTS for way in ("fit", "stream", "sparse")]

ODD = [None, True, -1, 0, 1, 2**31, 2**70, 0.5, -1.0, 1e300, 1e-300, float("nan"), float("inf")]
ODD += ["", "rbf", "scale", "callable", "os.system", [], [1], {}, {"name": "rbf"}, np.zeros(3)]
ODD += [np.zeros((2, 2)), np.array("x"), np.array(3), np.arange(4), np.array(["a", "b"]), "\ud800"]


@cache
def _original(case: tuple[str, str]) -> tuple[Any, Any]:
    """Return a snapshot and what its estimator predicts."""
    subject, way = case
    kind = SUBJECTS[subject]
    own = {"warm_start": True} if "warm_start" in kind().get_params() else {}
    model = kind(budget=8, n_jobs=1, random_state=np.random.RandomState(0), **own)
    data = Data(n=40, d=2, form="csr") if way == "sparse" else FIRST
    train = model.fit if way == "fit" else model.partial_fit
    train(data.rows(), data.targets(subject))
    return snapshot_of(model), _answers(model)


def _answers(model: Any) -> Any:
    method = "transform" if hasattr(model, "transform") else "predict"
    return frozen(getattr(model, method)(SECOND.rows()))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to everything that is in a snapshot."""
    found = [path] if path else []
    items: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    return found + [p for key, one in items for p in _paths(one, (*path, key))]


def _holder(snapshot: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        snapshot = snapshot[key]
    return snapshot


def _loaded(snapshot: Any) -> Any:
    """Return the estimator of a snapshot, or None if it is refused, and rightly."""
    try:
        return machine_of(snapshot)
    except ValueError as error:
        assert len(str(error)) > 10  # noqa: PT017
        return None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_every_field_is_needed(case: tuple[str, str]) -> None:
    snapshot, _ = _original(case)
    assert _loaded(deepcopy(snapshot)) is not None
    for path in _paths(snapshot):
        damaged = deepcopy(snapshot)
        holder = _holder(damaged, path)
        if isinstance(holder, dict):
            del holder[path[-1]]
            assert _loaded(damaged) is None, path
            holder[path[-1]] = None  # at the end, and not what it was
            holder["more"] = 1
            assert _loaded(damaged) is None, path


def _unaligned(array: Any) -> Any:
    room = np.zeros(array.nbytes + 1, np.uint8)
    room[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return room[1:].view(array.dtype).reshape(array.shape)


HOW: dict[str, Callable[[Any], Any]] = {
    "shorter": lambda a: np.atleast_1d(a)[:-1],
    "longer": lambda a: np.concatenate([np.atleast_1d(a), np.atleast_1d(a)[:1]]),
    "flat": np.ravel,
    "deeper": lambda a: a[np.newaxis],
    "turned": np.transpose,
    "empty": lambda a: np.atleast_1d(a)[:0],
    "swapped": lambda a: a.astype(a.dtype.newbyteorder()),
    "text": lambda a: a.astype(str),
    "objects": lambda a: a.astype(object),
    "complex": lambda a: a.astype(complex),
    "single": lambda a: a.astype(np.float32),
    "double": lambda a: a.astype(np.float64),
    "unaligned": _unaligned,
}
# Arrays that say nothing of what an estimator predicts, or whose other shape is just another one.
FREE = {"basis", "dual", "validation_scores", "classes", "points"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_arrays_of_other_shapes_and_types(case: tuple[str, str]) -> None:
    snapshot, answers = _original(case)
    arrays = [
        path
        for path in _paths(snapshot)
        if isinstance(_holder(snapshot, path)[path[-1]], np.ndarray)
    ]
    assert len(arrays) > 3
    for path in arrays:
        for how, change in HOW.items():
            damaged = deepcopy(snapshot)
            holder = _holder(damaged, path)
            if holder[path[-1]].dtype.kind == "U" and how in ("complex", "single", "double"):
                continue
            holder[path[-1]] = change(holder[path[-1]])
            model = _loaded(damaged)
            if model is not None and path[-1] not in FREE:
                assert _answers(model) == answers, (path, how)


@pytest.mark.slow
@settings(max_examples=400)
@given(draw=st.data(), case=st.sampled_from(CASES))
def test_any_change_of_a_value(draw: Any, case: tuple[str, str]) -> None:
    snapshot = deepcopy(_original(case)[0])
    path = draw.draw(st.sampled_from(_paths(snapshot)))
    holder = _holder(snapshot, path)
    value = holder[path[-1]]
    if isinstance(value, np.ndarray) and value.size and draw.draw(st.booleans()):
        numbers = [-1, 0, 1, 2, 1e300, -1e200, np.nan, np.inf, 2**62, -(2**31)]
        value = value.copy()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            where = draw.draw(st.integers(0, value.size - 1))
            number = np.array(draw.draw(st.sampled_from(numbers)))
            value.ravel()[where] = number.astype(value.dtype)
        holder[path[-1]] = value
    else:
        holder[path[-1]] = deepcopy(draw.draw(st.sampled_from(ODD)))
    model = _loaded(snapshot)
    if model is not None:
        _use(model, case[0])


def _use(model: Any, subject: str) -> None:
    """Do all that can be done with an estimator: it may complain, but no more than that."""
    # Parameters may ask for any amount of work: that is not damage.
    usual = {"epochs": "auto", "budget": 8, "max_passes": 50, "time_limit": None, "n_jobs": 1}
    model.set_params(**{k: v for k, v in usual.items() if k in model.get_params()})
    calls = [
        lambda: _answers(model),
        lambda: model.partial_fit(SECOND.rows(), SECOND.targets(subject)),
        getattr(model, "polish_now", list),
        lambda: _answers(model),
        lambda: snapshot_of(model),
        lambda: model.fit(SECOND.rows(), SECOND.targets(subject)),
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls:
            with suppress(ValueError, TypeError):
                call()
