"""Files that are not the checkpoint of this run: an error that names them and the way out; never another model."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from estimators.checkpoints.scenarios import SCENARIOS, Breaks, Scenario, bits, broken, short_calls
from tools.frozen import frozen

import budgetsvm
from budgetsvm import BudgetSVR
from budgetsvm._common.files.records import from_bytes, to_bytes
from budgetsvm._common.records import Record
from budgetsvm._estimators.checkpoints.contents import CHECKPOINT, load_checkpoint
from budgetsvm._estimators.snapshots import snapshot_of


def left_by(scenario: Scenario, path: Path) -> bytes:
    """Return what a run leaves that was broken off."""
    with pytest.raises(Breaks):
        broken(scenario, path, after=3)
    return path.read_bytes()


def refused(scenario: Scenario, path: Path, match: str, **parameters: Any) -> None:
    """Try to go on."""
    before = path.read_bytes()
    model = scenario.model(**parameters)
    with short_calls(), pytest.raises(ValueError, match=match) as found:
        scenario.train(model, checkpoint=path)
    assert str(path) in str(found.value)
    assert "give another path or, to begin anew, delete this file" in str(found.value)
    assert path.read_bytes() == before
    assert not hasattr(model, "_expansion")


@pytest.mark.parametrize("name", ["two classes", "stream"])
@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"C": 2.0}, "C was 'scale' and is 2.0"),
        ({"budget": 31}, "budget was 30 and is 31"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"random_state": None}, "random_state|of this method"),
        ({"maintenance": "project"}, "maintenance was 'auto'"),
        ({"class_weight": {0: 1, 1: 3}}, "class_weight"),
    ],
    ids=str,
)
def test_other_parameters(name: str, changed: Any, match: str, tmp_path: Path) -> None:
    left_by(SCENARIOS[name], tmp_path / "it")
    refused(SCENARIOS[name], tmp_path / "it", match, **changed)


def other_rows(X: Any, y: Any) -> Any:
    X = X.copy()
    X[7, 1] = np.nextafter(X[7, 1], 9)
    return X, y


@pytest.mark.parametrize(
    "change",
    [
        other_rows,
        lambda X, y: (X[:-1], y[:-1]),
        lambda X, y: (X, np.r_[1 - y[:1], y[1:]]),
        lambda X, y: (X[:, ::-1], y),
        lambda X, y: (X, y, np.r_[2.0, np.ones(len(y) - 1)]),
    ],
    ids=["a digit", "a row less", "a label", "columns", "a weight"],
)
def test_other_data(change: Callable[..., Any], tmp_path: Path) -> None:
    scenario = SCENARIOS["two classes"]
    left_by(scenario, tmp_path / "it")
    other = scenario._replace(data=lambda: change(*scenario.data()))
    refused(other, tmp_path / "it", "other data: rows, targets or weights differ")


def test_the_same_data_in_another_layout(tmp_path: Path) -> None:
    scenario = SCENARIOS["two classes"]
    left_by(scenario, tmp_path / "it")
    X, y = scenario.data()
    with short_calls():
        model = scenario.model().fit(np.asfortranarray(X), y, checkpoint=tmp_path / "it")
        assert bits(model) == bits(scenario.train(scenario.model()))


@pytest.mark.parametrize(
    "change",
    [
        lambda blocks: blocks[:2],
        lambda blocks: [other_rows(*blocks[0]), *blocks[1:]],
        lambda blocks: [blocks[1], blocks[0], *blocks[2:]],
        lambda blocks: [tuple(part[:50] for part in blocks[0]), *blocks[1:]],
        lambda blocks: [(*blocks[0], np.ones(100)), *blocks[1:]],
    ],
    ids=["shorter", "a digit", "another order", "other blocks", "weights"],
)
def test_another_stream(change: Callable[..., Any], tmp_path: Path) -> None:
    scenario = SCENARIOS["stream"]
    left_by(scenario, tmp_path / "it")
    other = scenario._replace(data=lambda: change(scenario.data()))
    refused(other, tmp_path / "it", "is of another stream")


def test_of_another_method_or_estimator(tmp_path: Path) -> None:
    left_by(SCENARIOS["two classes"], tmp_path / "it")
    refused(SCENARIOS["stream"], tmp_path / "it", "not of this method")
    refused(SCENARIOS["regression"], tmp_path / "it", "estimator was BudgetSVC and is BudgetSVR")


def test_other_versions(tmp_path: Path) -> None:
    path = tmp_path / "it"
    record = from_bytes(left_by(SCENARIOS["two classes"], path), "it", CHECKPOINT)
    for change, match in (
        ({"version": 3}, "is 3, of budgetsvm .*reads 2 only"),
        ({"version": 1}, "is 1, of budgetsvm"),
        ({"library": "99.0"}, "is 99.0; this budgetsvm is"),
    ):
        path.write_bytes(b"".join(to_bytes(record | change, CHECKPOINT)))
        refused(SCENARIOS["two classes"], path, match)


def test_a_model_is_no_checkpoint_and_the_other_way_round(tmp_path: Path) -> None:
    path = tmp_path / "it"
    left_by(SCENARIOS["two classes"], path)
    with pytest.raises(ValueError, match="of another program or kind, not a model"):
        budgetsvm.load(path)
    scenario = SCENARIOS["two classes"]
    scenario.train(scenario.model()).save(path)
    refused(scenario, path, "of another program or kind, not a checkpoint")
    for content in (b"", b"a", b"x,y,label\n1,2,3\n4,5,6\n", bytes(99)):
        path.write_bytes(content)
        refused(scenario, path, "is not a checkpoint of budgetsvm")


@pytest.mark.parametrize("name", ["two classes", "stream of pairs"])
def test_every_flipped_byte_and_every_cut_is_found(name: str, tmp_path: Path) -> None:
    content = left_by(SCENARIOS[name], tmp_path / "it")
    assert load_checkpoint(content, "it").state
    for i in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[i] ^= 1 << (i % 8)
        for one in (bytes(damaged), content[:i]):
            with pytest.raises(ValueError, match=r"^it"):
                load_checkpoint(one, "it")


# ---- somebody who means no good, and can compute a checksum ----


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the ways to all that is in a record."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*path, key))


def changed(record: Record, path: tuple[Any, ...], how: Callable[[Any], Any]) -> Record:
    """Return a record in which one thing is another one."""
    record = deepcopy(record)
    inner: Any = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = how(inner[path[-1]])
    return record


def _poisoned(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
        value = value.copy()
        value.flat[-1] = np.nan
        return value
    return 10**30


def _larger(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.concatenate([value.ravel(), value.ravel(), value.ravel()[:1]])
    return value + 10**9 if type(value) is int else "x"


WAYS: list[Callable[[Any], Any]] = [
    lambda _: None,
    lambda _: -1,
    lambda _: [],
    _poisoned,
    _larger,
    lambda value: value.astype(np.int8) if isinstance(value, np.ndarray) else {"a": value},
]
# What cannot be told from the truth.
HARMLESS = {"seconds", "lost", "t", "history", "idle", "totals", "random"}


@pytest.mark.parametrize(
    "name", ["two classes", "outputs one by one", "sparse terms", "pairs, early stopping"]
)
def test_hostile_states(name: str, tmp_path: Path) -> None:
    """All that can be told from what a run would leave is refused; the rest ends in some model."""
    scenario, path = SCENARIOS[name], tmp_path / "it"
    record = from_bytes(left_by(scenario, path), "it", CHECKPOINT)
    data, count = scenario.data(), 0
    scenario = scenario._replace(data=lambda: data)
    for place in places(record["state"], ("state",)):
        for way in WAYS:
            other = changed(record, place, way)
            if frozen(other) == frozen(record):
                continue
            path.write_bytes(b"".join(to_bytes(other, CHECKPOINT)))
            try:
                refused(scenario, path, r"is damaged|\['state'\]")
                count += 1
            except pytest.fail.Exception:  # it was accepted
                assert HARMLESS & set(place), place
    assert count > 60


@pytest.mark.parametrize("place", [("terms", "coef"), ("alpha",)], ids=str)
def test_numbers_whose_sums_would_be_infinite(place: tuple[str, ...], tmp_path: Path) -> None:
    scenario, path = SCENARIOS["two classes"], tmp_path / "it"
    record = from_bytes(left_by(scenario, path), "it", CHECKPOINT)

    def huge(values: Any) -> Any:
        values = np.array(values)
        values.flat[0] = 1e300
        return values

    other = changed(record, ("state", "trainer", *place), huge)
    path.write_bytes(b"".join(to_bytes(other, CHECKPOINT)))
    refused(scenario, path, "has values too large for their squares")


@pytest.mark.parametrize("place", ["t", "lost", "history", "seconds"])
def test_what_cannot_be_known_does_no_harm(place: str, tmp_path: Path) -> None:
    scenario, path = SCENARIOS["bsgd"], tmp_path / "it"
    record = from_bytes(left_by(scenario, path), "it", CHECKPOINT)
    way = ("seconds",) if place == "seconds" else ("state", "trainer", place)
    for value in (0, 1, 10**15):
        fill = np.full((3, 9), float(value)) if place == "history" else value
        other = changed(record, way, lambda _, fill=fill: fill)
        path.write_bytes(b"".join(to_bytes(other, CHECKPOINT)))
        with short_calls():
            model = scenario.train(scenario.model(), checkpoint=path)
        assert len(model.support_vectors_) <= 30


def test_other_generators_are_refused(tmp_path: Path) -> None:
    scenario, path = SCENARIOS["two classes"], tmp_path / "it"
    record = from_bytes(left_by(scenario, path), "it", CHECKPOINT)
    place = ("state", "trainer", "position", "random", "state")
    for bits_of in (np.random.MT19937(0), np.random.Philox(0)):
        other = changed(record, place, lambda _, b=bits_of: b.state)
        path.write_bytes(b"".join(to_bytes(other, CHECKPOINT)))
        refused(scenario, path, "must be that of a Generator of PCG64")


def test_another_estimator_in_a_stream(tmp_path: Path) -> None:
    scenario, path = SCENARIOS["stream"], tmp_path / "it"
    record = from_bytes(left_by(scenario, path), "it", CHECKPOINT)
    X, y = SCENARIOS["regression"].data()
    for other in (BudgetSVR(budget=5).fit(X, y), None):
        machine = None if other is None else snapshot_of(other)
        new = changed(record, ("state", "machine"), lambda _, machine=machine: machine)
        path.write_bytes(b"".join(to_bytes(new, CHECKPOINT)))
        refused(scenario, path, "is damaged")
