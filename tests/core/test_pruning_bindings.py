"""The functions that leave out panels refuse wrong sizes, lengths and indices (see test_bindings.py)."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import _core, kernels
from budgetsvm._model.pruning import OrderedTerms

N, D, SIZE, PANELS = 12, 3, 70, 3
KERNEL = kernels.Gaussian(0.5)


def good(name: str) -> dict[str, Any]:
    """Arguments of a call that works, by name and in order."""
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((N, D)), rng.standard_normal((SIZE, D))
    terms = OrderedTerms(points, np.ones(SIZE), KERNEL)
    rows, chosen = {"rows": (X, None, None)}, {"chosen": np.arange(N)}
    model = {"terms": terms.store.arrays, "size": SIZE, "kernel": KERNEL.core()}
    starts = np.arange(N + 1, dtype=np.int64)
    numbers = (np.arange(N) % PANELS).astype(np.int32)
    panels = {"panels": (starts, numbers, np.ones((N, 32)))} | chosen
    weights, width = {"weights": np.ones(N)}, PANELS * 32
    calls: dict[str, dict[str, Any]] = {
        "pruned_decision": rows | model | {"extents": terms.extents, "out": np.zeros(N)},
        "near_panels": rows
        | {"kernel": KERNEL.core(), "extents": terms.extents, "farthest": 3.0}
        | {"out": np.zeros((N, PANELS), bool)},
        "panel_values": rows
        | model
        | {"starts": starts, "numbers": numbers, "out": np.zeros((N, 32))},
        "panel_times": panels | {"coef": np.ones(width), "out": np.zeros(N)},
        "add_panel_transposed": panels | {"v": np.ones(N), "sums": np.zeros(width)},
        "add_panel_normal": panels
        | weights
        | {"v": np.ones(width), "shift": 1.0, "sums": np.zeros(width)},
        "add_panel_gram": panels
        | weights
        | {"first": 0, "last": PANELS, "sums": np.zeros((width, width))},
        "add_panel_blocks": panels | weights | {"first": 1, "sums": np.zeros((2, 32, 32))},
    }
    return calls[name]


def put(array: Any, at: Any, value: Any) -> Any:
    array = array.copy()
    array[at] = value
    return array


def entry(index: int, change: Any) -> Any:
    return lambda group: tuple(change(e) if k == index else e for k, e in enumerate(group))


SHORT = {"short": lambda a: a[:-1].copy(), "another type": lambda a: a.astype(np.float16)}
LONG = SHORT | {"long": lambda a: np.append(a, a[-1:])}
INDEX = {
    "too large": lambda a: put(a, 2, N),
    "negative": lambda a: put(a, 2, -1),
    "far too large": lambda a: put(a, 2, 2**62),
}
PANEL = {
    "number too large": entry(1, lambda a: put(a, 3, PANELS)),
    "number negative": entry(1, lambda a: put(a, 3, -1)),
    "fewer numbers": entry(1, lambda a: a[:-1].copy()),
    "fewer values": entry(2, lambda a: a[:-1].copy()),
    "narrow values": entry(2, lambda a: a[:, :-1].copy()),
    "no starts": entry(0, lambda a: a[:0].copy()),
    "starts beyond": entry(0, lambda a: put(a, -1, N + 1)),
    "starts far beyond": entry(0, lambda a: put(a, -1, 2**62)),
    "starts negative": entry(0, lambda a: put(a, 0, -1)),
    "starts fall": entry(0, lambda a: put(a, 3, 9)),
}
EXTENTS = {
    "fewer highs": entry(1, lambda a: a[:0].copy()),
    "another number of features": entry(1, lambda a: a[:, :-1].copy()),
    "narrow": lambda b: (b[0][..., :-1].copy(), b[1][..., :-1].copy(), b[2], b[3]),
    "fewer features": lambda b: (b[0][:, :-1].copy(), b[1][:, :-1].copy(), b[2], b[3]),
    "short distances": entry(2, lambda a: a[:-1].copy()),
    "short weights": entry(3, lambda a: a[:-1].copy()),
    "none": lambda b: tuple(a[:0].copy() for a in b),
    "of another type": lambda b: tuple(a.astype(np.float32) for a in b),
}
ROWS = {
    "another number of features": lambda _: (np.zeros((N, D + 1)), None, None),
    "one less": lambda r: (r[0][:-1].copy(), None, None),
    "chosen too large": lambda r: (r[0], np.full(N, N), None),
}
OTHER = {"of dot products": lambda _: kernels.Linear().core(), "unknown": lambda k: ("?", *k[1:])}
SIZES = {"negative": lambda _: -1, "beyond the capacity": lambda _: 97, "none": lambda _: 0}
WRONG: dict[str, dict[str, dict[str, Any]]] = {
    "pruned_decision": {
        "rows": ROWS,
        "size": SIZES,
        "kernel": OTHER,
        "extents": EXTENTS,
        "out": LONG,
    },
    "near_panels": {"rows": ROWS, "kernel": OTHER, "extents": EXTENTS}
    | {"out": {"few": lambda a: a[:-1].copy(), "many panels": lambda _: np.zeros((N, 33), bool)}},
    "panel_values": {"rows": ROWS, "size": SIZES, "kernel": OTHER, "starts": LONG}
    | {"numbers": LONG | {"too large": lambda a: put(a, 3, PANELS)}}
    | {"out": {"narrow": lambda a: a[:, :-1].copy(), "few": lambda a: a[:-1].copy()}},
    "panel_times": {"panels": PANEL, "chosen": INDEX | LONG, "out": LONG}
    | {"coef": {"short": lambda a: a[:-1].copy()}},
    "add_panel_transposed": {"panels": PANEL, "chosen": INDEX | LONG, "v": LONG, "sums": SHORT},
    "add_panel_normal": {"panels": PANEL, "chosen": INDEX, "weights": LONG, "v": LONG}
    | {"sums": LONG},
    "add_panel_gram": {"panels": PANEL, "chosen": INDEX, "weights": LONG}
    | {"sums": {"narrow": lambda a: a[:, :-1].copy(), "small": lambda a: a[:-1, :-1].copy()}},
    "add_panel_blocks": {
        "panels": {case: change for case, change in PANEL.items() if case != "number too large"},
        "chosen": INDEX,
        "weights": LONG,
        "first": {"negative": lambda _: -1, "far too large": lambda _: 2**31 - 1},
        "sums": {
            "narrow": lambda a: a[:, :, :-1].copy(),
            "not of panels": lambda a: a[:, :-1, :-1].copy(),
            "empty": lambda a: a[:, :0, :0].copy(),
        },
    },
}
CASES = [
    (name, argument, case)
    for name, arguments in WRONG.items()
    for argument, cases in arguments.items()
    for case in cases
]


@pytest.mark.parametrize("name", WRONG)
def test_right_arguments(name: str) -> None:
    getattr(_core, name)(*good(name).values())
    assert set(WRONG[name]) <= set(good(name))


@pytest.mark.parametrize(("name", "argument", "case"), CASES)
def test_wrong_arguments(name: str, argument: str, case: str) -> None:
    arguments = good(name)
    arguments[argument] = WRONG[name][argument][case](arguments[argument])
    out = next(reversed(arguments))
    before = arguments[out].copy()
    with pytest.raises((ValueError, TypeError)):
        getattr(_core, name)(*arguments.values())
    np.testing.assert_array_equal(arguments[out], before)  # nothing was done


def test_no_number_is_a_reason_to_leave_nothing_out() -> None:
    """Extents that overflow lead nowhere out of bounds."""
    arguments = good("pruned_decision")
    arguments["extents"] = tuple(np.full_like(a, np.nan) for a in arguments["extents"])
    plain = np.zeros(N)
    _core.decision(*list(arguments.values())[:4], plain)
    _core.pruned_decision(*arguments.values())
    np.testing.assert_allclose(arguments["out"], plain, rtol=1e-12)
