"""The state of an object as something that can be compared bit for bit."""

from typing import Any

import numpy as np
from scipy import sparse

_TIMES = {"seconds"}  # keys of what no two runs have in common


def frozen(value: Any) -> Any:
    """Return nested tuples that are equal if, and only if, two objects have the same bits in them."""
    if isinstance(value, np.ndarray):
        objects = value.dtype == object
        content = tuple(map(frozen, value.ravel().tolist())) if objects else value.tobytes()
        return ("array", value.dtype.str, value.shape, content)
    if sparse.issparse(value):
        matrix = value.tocsr()
        parts = (matrix.data, matrix.indices, matrix.indptr)
        return ("sparse", matrix.shape, *map(frozen, parts))
    if isinstance(value, float | np.floating):  # NaN is to be equal to itself
        return (type(value).__name__, np.float64(value).tobytes())
    if isinstance(value, dict):
        items = [(str(key), frozen(one)) for key, one in value.items() if key not in _TIMES]
        return ("dict", tuple(sorted(items, key=lambda item: item[0])))
    if isinstance(value, list | tuple | set | frozenset):
        return (type(value).__name__, tuple(map(frozen, value)))
    return _frozen_object(value)


def _frozen_object(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        return ("generator", frozen(value.bit_generator.state))
    if isinstance(value, np.random.RandomState):
        return ("generator", frozen(value.get_state(legacy=False)))
    if value is None or isinstance(value, bool | int | str | bytes | complex | np.generic):
        return (type(value).__name__, value)
    if callable(value) and hasattr(value, "__qualname__"):
        return ("function", value.__qualname__)
    if hasattr(value, "__dict__"):
        # What a file has of it: how a value is laid out in memory is its own affair.
        return (type(value).__qualname__, frozen(value.__getstate__()))
    return (type(value).__qualname__, repr(value))


def differences(before: Any, after: Any) -> list[str]:
    """Return the names of what differs in two frozen dictionaries."""
    one, other = dict(before[1]), dict(after[1])
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
