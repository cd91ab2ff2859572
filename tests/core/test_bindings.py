"""Every function of the core refuses every wrong size, length and index, and nothing crashes.

Each case changes one argument of a call that works. Run under the address sanitizer as well
(``make sanitize-memory PYTEST_ARGS="tests/test_bindings.py"``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetsvm import _core, kernels
from budgetsvm._model.term_store import TermStore
from budgetsvm.maintenance import Merge, Project, Remove

N, D, SIZE, BUDGET, OUTPUTS = 12, 3, 5, 6, 3
GAUSSIAN = kernels.Gaussian(0.5)
LONG = 2**31  # no int32


def rows(kind: str = "dense") -> Any:
    X = np.random.default_rng(0).standard_normal((N, D))
    if kind == "dense":
        return X, None, None
    starts = np.arange(N + 1, dtype=np.int64) * D
    return (X.ravel(), np.tile(np.arange(D, dtype=np.int32), N), starts), None, None


def store(size: int = SIZE, capacity: int = BUDGET + 1) -> TermStore:
    points = np.random.default_rng(1).standard_normal((size, D))
    return TermStore.of(points, np.linspace(-1, 1, size) + 0.05, GAUSSIAN, capacity)


def problem(slots: int = 0, bias: int = 0) -> list[Any]:
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    return [
        ("hinge", 0.0),
        np.arange(N),
        np.ones(N),
        y,
        np.ones(1),
        np.ones(N),
        np.zeros(N),
        np.full(slots, -1, np.int32),
        np.zeros(bias),
    ]


def wanted(classes: bool = True) -> list[Any]:
    labels = (np.arange(N) % OUTPUTS).astype(np.int32) if classes else np.empty(0, np.int32)
    targets = np.ones((1, 1)) if classes else np.ones((N, OUTPUTS))
    loss = ("hinge", 0.0) if classes else ("epsilon_insensitive", 0.1)
    return [loss, False, labels, targets, np.ones(N), np.zeros((N, OUTPUTS), np.float32)]


def good(name: str) -> dict[str, Any]:
    """Arguments of a call that works, by name and in order."""
    terms, block = store(), np.ones((N, 4))
    common = {"kernel": GAUSSIAN.core(), "maintenance": Merge().core()}
    model = {"terms": terms.arrays, "size": SIZE}
    coef = {"coef": np.ones((terms.capacity, OUTPUTS))}
    visits = {"rows": rows(), "problem": problem(), **model, "budget": BUDGET, **common}
    chosen = {"block": block, "chosen": np.arange(N)}
    evaluated = {"rows": rows(), **model, "kernel": common["kernel"]}
    joint = {"rows": rows(), "order": np.arange(N), "diagonal": np.ones(N), "wanted": wanted()}
    joint |= model | coef | {"bias": np.zeros(OUTPUTS), "budget": BUDGET} | common
    linear = {key: np.ones(N) for key in ("curvature", "y", "targets", "box", "alpha")}
    calls: dict[str, dict[str, Any]] = {
        "bsca": visits | {"batch": (4, 1)},
        "bsgd": visits | {"batch": (4, 1), "t": 0, "n_total": float(N)},
        "joint": joint | {"t": 0, "n_total": 0.0},
        "reduce": model | common | {"budget": SIZE - 1},
        "joint_reduce": model | coef | common | {"budget": SIZE - 1},
        "decision": evaluated | {"out": np.zeros(N)},
        "kernel_block": evaluated | {"out": np.zeros((N, SIZE))},
        "times": chosen | {"coef": np.ones(4), "out": np.zeros(N)},
        "add_transposed_times": chosen | {"v": np.ones(N), "sums": np.zeros(4)},
        "add_normal_times": chosen | {"weights": np.ones(N), "v": np.ones(4), "sums": np.zeros(4)},
        "ascend": {"loss": ("hinge", 0.0), "rows": block, **linear, "w": np.ones(4)}
        | {"order": np.arange(N), "upper": 1.0, "lower": -1.0},
    }
    return calls[name]


FUNCTIONS = [
    "bsca",
    "bsgd",
    "joint",
    "reduce",
    "joint_reduce",
    "decision",
    "kernel_block",
    "times",
    "add_transposed_times",
    "add_normal_times",
    "ascend",
]


def call(name: str, arguments: dict[str, Any]) -> Any:
    return getattr(_core, name)(*arguments.values())


def replaced(group: Any, index: int, value: Any) -> Any:
    """A tuple with one entry replaced."""
    return tuple(value if k == index else entry for k, entry in enumerate(group))


# ---- the wrong arguments: name -> what it becomes, from what it was ----

Change = Callable[[Any], Any]
KERNEL: dict[str, Change] = {
    "unknown kernel": lambda k: replaced(k, 0, "cosine"),
    "negative gamma": lambda k: replaced(k, 1, -1.0),
    "infinite gamma": lambda k: replaced(k, 1, np.inf),
    "gamma nan": lambda k: replaced(k, 1, np.nan),
    "infinite coef0": lambda k: replaced(k, 2, np.inf),
    "degree 0": lambda k: replaced(k, 3, 0),
    "negative degree": lambda k: replaced(k, 3, -3),
    "degree beyond int": lambda k: replaced(k, 3, LONG),
    "no function": lambda _: ("callable", 1.0, 0.0, 1, None),
    "too few entries": lambda k: k[:-1],
}
MAINTENANCE: dict[str, Change] = {
    "unknown maintenance": lambda m: replaced(m, 0, "forget"),
    "one term": lambda m: replaced(m, 3, 1),
    "no terms": lambda m: replaced(m, 3, 0),
    "negative terms": lambda m: replaced(m, 3, -2),
    "terms beyond int": lambda m: replaced(m, 3, LONG),
}
SIZES: dict[str, Change] = {
    "negative": lambda _: -1,
    "beyond the capacity": lambda _: 33,
    "far beyond the capacity": lambda _: 10**6,
    "beyond int": lambda _: LONG,
}
TERMS: dict[str, Change] = {
    "panels of one lane": lambda t: replaced(t, 0, np.zeros((32, D, 1))),
    "fewer panels": lambda t: replaced(t, 0, t[0][:0].copy()),
    "short norms": lambda t: replaced(t, 1, t[1][:-1].copy()),
    "short coef": lambda t: replaced(t, 2, t[2][:-1].copy()),
    "norms of another type": lambda t: replaced(t, 1, t[1].astype(np.float32)),
    "coef of another type": lambda t: replaced(t, 2, t[2].astype(np.float32)),
    "more panels than int32 can count": lambda t: replaced(t, 0, np.zeros((2**27, 0, 32))),
    "read-only coef": lambda t: replaced(t, 2, frozen(t[2])),
}
ROWS: dict[str, Change] = {
    "another number of features": lambda _: (np.zeros((N, D + 1)), None, None),
    "one row less": lambda r: (r[0][:-1].copy(), None, None),
    "not contiguous": lambda r: (np.asfortranarray(r[0]), None, None),
    "of integers": lambda r: (r[0].astype(int), None, None),
    "chosen too large": lambda r: (r[0], np.append(np.arange(N - 1), N), None),
    "chosen negative": lambda r: (r[0], np.append(np.arange(N - 1), -1), None),
    "chosen too many": lambda r: (r[0], np.zeros(N + 1, np.int64), None),
    "chosen int32": lambda r: (r[0], np.arange(N, dtype=np.int32), None),
    "centre too short": lambda r: (r[0], None, np.zeros(D - 1)),
    "centre too long": lambda r: (r[0], None, np.zeros(D + 1)),
}


def frozen(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def sparse_with(index: int, change: Change) -> Change:
    """Sparse rows, one of whose arrays is changed."""

    def make(_: Any) -> Any:
        matrix = list(rows("sparse")[0])
        matrix[index] = change(matrix[index].copy())
        return tuple(matrix), None, None

    return make


def put(at: int, value: int) -> Change:
    def change(array: Any) -> Any:
        array[at] = value
        return array

    return change


ROWS |= {
    "sparse: starts decrease": sparse_with(2, put(3, 0)),
    "sparse: starts negative": sparse_with(2, put(0, -3)),
    "sparse: starts beyond the values": sparse_with(2, put(N, N * D + 1)),
    "sparse: starts far beyond": sparse_with(2, put(N, 2**62)),
    "sparse: start overflows": sparse_with(2, put(2, -(2**62))),
    "sparse: no starts": sparse_with(2, lambda a: a[:0]),
    "sparse: feature too large": sparse_with(1, put(7, D)),
    "sparse: feature far too large": sparse_with(1, put(7, 2**31 - 1)),
    "sparse: feature negative": sparse_with(1, put(-1, -1)),
    "sparse: fewer indices": sparse_with(1, lambda a: a[:-1].copy()),
    "sparse: fewer values": sparse_with(0, lambda a: a[:-1].copy()),
    "sparse: a centre": lambda _: (rows("sparse")[0], None, np.zeros(D)),
    "sparse: chosen too large": lambda _: (rows("sparse")[0], np.full(N, N), None),
}


def entry(index: int, change: Change) -> Change:
    """One entry of a tuple is changed."""
    return lambda group: replaced(group, index, change(group[index]))


def shorter(array: Any) -> Any:
    return array[:-1].copy()


def longer(array: Any) -> Any:
    return np.append(array, array[-1:]).astype(array.dtype)


PROBLEM: dict[str, Change] = {
    "unknown loss": entry(0, lambda _: ("0-1", 0.0)),
    "negative epsilon": entry(0, lambda _: ("hinge", -1.0)),
    "epsilon nan": entry(0, lambda _: ("hinge", np.nan)),
    "order too short": entry(1, shorter),
    "order too large": entry(1, put(3, N)),
    "order negative": entry(1, put(3, -1)),
    "diagonal too short": entry(2, shorter),
    "y too short": entry(3, shorter),
    "y too long": entry(3, longer),
    "no target": entry(4, lambda _: np.empty(0)),
    "two targets": entry(4, lambda _: np.ones(2)),
    "box too short": entry(5, shorter),
    "alpha too short": entry(6, shorter),
    "alpha too long": entry(6, longer),
    "slots with a budget": entry(7, lambda _: np.full(N, -1, np.int32)),
    "two biases": entry(8, lambda _: np.zeros(2)),
}
WANTED: dict[str, Change] = {
    "unknown loss": entry(0, lambda _: ("0-1", 0.0)),
    "coupled targets": lambda _: replaced(wanted(classes=False), 1, True),
    "coupled by another loss": lambda w: replaced(replaced(w, 0, ("logistic", 0.0)), 1, True),
    "labels too short": entry(2, shorter),
    "label too large": entry(2, put(4, OUTPUTS)),
    "label negative": entry(2, put(4, -1)),
    "no target": entry(3, lambda _: np.ones((1, 0))),
    "two targets": entry(3, lambda _: np.ones((2, 1))),
    "targets too short": lambda _: replaced(wanted(classes=False), 3, np.ones((N - 1, OUTPUTS))),
    "targets too narrow": lambda _: replaced(wanted(classes=False), 3, np.ones((N, 1))),
    "box too short": entry(4, shorter),
    "alpha too short": entry(5, shorter),
    "no outputs": entry(5, lambda _: np.zeros((N, 0), np.float32)),
    "fewer outputs": entry(5, lambda a: a[:, :-1].copy()),
}
BATCH: dict[str, Change] = {
    "no points": lambda _: (0, 1),
    "negative points": lambda _: (-4, 1),
    "too many points": lambda _: (2**31 - 1, 1),
    "no threads": lambda _: (4, 0),
    "negative threads": lambda _: (4, -1),
}
BUDGETS: dict[str, Change] = {
    "negative": lambda _: -1,
    "below the size": lambda _: SIZE - 1,
    "far below the size": lambda _: 1,
    "the capacity": lambda _: 32,
    "beyond the capacity": lambda _: 1000,
    "beyond int": lambda _: LONG,
}
RATES: dict[str, dict[str, Change]] = {
    "t": {"negative": lambda _: -1},
    "n_total": {"negative": lambda _: -1.0, "nan": lambda _: np.nan, "infinite": lambda _: np.inf},
}
VECTOR: dict[str, Change] = {"short": shorter, "long": longer, "integers": lambda a: a.astype("i2")}
INDICES: dict[str, Change] = {
    "too large": put(2, N),
    "negative": put(2, -1),
    "very negative": put(2, -(2**63)),
    "int32": lambda a: a.astype(np.int32),
}
NARROW: dict[str, Change] = {"narrow": lambda a: a[:, :-1].copy(), "few": lambda a: a[:-1].copy()}

WITH_TERMS: dict[str, dict[str, Change]] = {"terms": TERMS, "size": SIZES, "kernel": KERNEL}
WRONG: dict[str, dict[str, dict[str, Change]]] = {
    "bsca": WITH_TERMS | {"rows": ROWS, "problem": PROBLEM, "maintenance": MAINTENANCE}
    | {"batch": BATCH, "budget": BUDGETS | {"none, without slots": lambda _: 0}},
    "joint": WITH_TERMS | {"rows": ROWS, "order": INDICES | {"short": shorter}}
    | {"diagonal": VECTOR, "wanted": WANTED, "coef": NARROW, "bias": VECTOR}
    | {"budget": BUDGETS | {"none": lambda _: 0}, "maintenance": MAINTENANCE}
    | {"n_total": RATES["n_total"]},
    "reduce": WITH_TERMS | {"maintenance": MAINTENANCE}
    | {"budget": {"negative": lambda _: -1, "beyond int": lambda _: LONG}},
    "joint_reduce": WITH_TERMS | {"coef": NARROW | {"no outputs": lambda a: a[:, :0].copy()}}
    | {"maintenance": MAINTENANCE, "budget": {"negative": lambda _: -1}},
    "decision": WITH_TERMS | {"rows": ROWS, "out": VECTOR},
    "kernel_block": WITH_TERMS
    | {"rows": ROWS, "out": NARROW | {"wide": lambda _: np.zeros((N, SIZE + 2))}},
    "times": {"chosen": INDICES | {"short": shorter}, "coef": VECTOR, "out": VECTOR},
    "add_transposed_times": {"chosen": INDICES, "v": VECTOR, "sums": VECTOR},
    "add_normal_times": {"chosen": INDICES, "weights": VECTOR, "v": VECTOR, "sums": VECTOR},
    "ascend": {"order": INDICES, "w": VECTOR}
    | dict.fromkeys(("curvature", "y", "targets", "box", "alpha"), VECTOR)
    | {"loss": {"unknown": lambda _: ("0-1", 0.0), "epsilon": lambda _: ("hinge", -0.1)}},
}  # fmt: skip
WRONG["bsgd"] = WRONG["bsca"] | RATES | {"n_total": RATES["n_total"] | {"none": lambda _: 0.0}}
NOT_WRONG = {("joint_reduce", "coef", "narrow")}  # one output less is another model

CASES = [
    (function, argument, case)
    for function, arguments in WRONG.items()
    for argument, cases in arguments.items()
    for case in cases
    if (function, argument, case) not in NOT_WRONG
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_arguments(name: str) -> None:
    """What the cases below change does work."""
    call(name, good(name))
    assert set(WRONG) == set(FUNCTIONS)
    assert set(WRONG[name]) <= set(good(name))


@pytest.mark.parametrize(("function", "argument", "case"), CASES)
def test_wrong_arguments(function: str, argument: str, case: str) -> None:
    arguments = good(function)
    arguments[argument] = WRONG[function][argument][case](arguments[argument])
    before = [array.copy() for array in arrays_of(arguments)]
    with pytest.raises((ValueError, TypeError)):
        call(function, arguments)
    for array, old in zip(arrays_of(arguments), before, strict=True):
        np.testing.assert_array_equal(array, old)  # nothing was done


def arrays_of(arguments: Any) -> list[Any]:
    """All arrays of some size in nested tuples."""
    if isinstance(arguments, np.ndarray):
        return [arguments] if arguments.size < 10**6 else []
    if isinstance(arguments, dict):
        arguments = tuple(arguments.values())
    if not isinstance(arguments, (tuple, list)):
        return []
    return [array for part in arguments for array in arrays_of(part)]


@pytest.mark.parametrize("feature", [-1, D, 2**31 - 1, -(2**31)])
def test_features_of_sparse_rows_at_hand(feature: int) -> None:
    """Those that are chosen, and no others."""
    matrix, _, _ = rows("sparse")
    matrix[1][2 * D + 1] = feature  # of row 2
    arguments = good("decision") | {"out": np.zeros(3)}
    call("decision", arguments | {"rows": (matrix, np.array([1, 3, 0]), None)})
    with pytest.raises(ValueError, match="index of a feature"):
        call("decision", arguments | {"rows": (matrix, np.array([1, 2, 0]), None)})


@pytest.mark.parametrize("slot", [-2, SIZE, 31, 10**6, -(2**31)])
def test_slots_without_a_budget(slot: int) -> None:
    """They name terms that there are."""
    terms = store(capacity=SIZE + N)
    arguments = good("bsca") | {"terms": terms.arrays, "budget": 0, "problem": problem(slots=N)}
    call("bsca", arguments)
    arguments["problem"] = problem(slots=N)
    arguments["problem"][7][4] = slot
    with pytest.raises(ValueError, match="slot of a training point"):
        call("bsca", arguments)


def test_slots_of_points_that_are_not_visited_do_not_matter() -> None:
    terms = store(capacity=SIZE + N)
    X, _, _ = rows()
    own = problem(slots=N)
    own[1], own[2] = np.array([2]), np.ones(1)
    own[7][4] = 10**6
    arguments = good("bsca") | {"terms": terms.arrays, "budget": 0, "problem": own}
    call("bsca", arguments | {"rows": (X[[2]], None, None)})


def test_without_a_budget_there_must_be_room_for_all_visits() -> None:
    arguments = good("bsca") | {"budget": 0, "problem": problem(slots=N)}
    arguments |= {"terms": store(32 - N + 1).arrays, "size": 32 - N + 1}
    with pytest.raises(ValueError, match="no room"):
        call("bsca", arguments)


@pytest.mark.parametrize("maintenance", [Merge(), Project(), Remove()])
@pytest.mark.parametrize("size", [0, 1, BUDGET - 1, BUDGET])
@pytest.mark.parametrize("function", ["bsca", "bsgd", "joint"])
def test_sizes_up_to_the_budget_are_right(function: str, size: int, maintenance: Any) -> None:
    terms = store(size)
    arguments = good(function) | {"terms": terms.arrays, "size": size}
    new_size, *_ = call(function, arguments | {"maintenance": maintenance.core()})
    assert size <= new_size <= BUDGET
