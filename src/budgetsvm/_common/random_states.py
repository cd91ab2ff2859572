"""Sources of random numbers as plain records, which go on where the originals are."""

from typing import Any

import numpy as np

from budgetsvm._common.records import Fields, Record

_BIT_GENERATORS: dict[str, Any] = {
    one.__name__: one
    for one in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}
# Where a generator is in a buffer of so many numbers: NumPy reads there without a further look.
_POSITIONS = {"MT19937": (("state", "pos"), 624), "Philox": (("buffer_pos",), 4)}


def random_record(source: np.random.Generator | np.random.RandomState) -> Record:
    """Return the state of a generator."""
    if isinstance(source, np.random.Generator):
        return {"type": "Generator", "state": source.bit_generator.state}
    return {"type": "RandomState", "state": source.get_state(legacy=False)}


def random_source(fields: Fields) -> np.random.Generator | np.random.RandomState:
    """Make a generator from its record."""
    kind = fields.choice("type", ("Generator", "RandomState"))
    state = fields.take("state")
    fields.end()
    name = state.get("bit_generator") if isinstance(state, dict) else None
    if not (isinstance(name, str) and name in _BIT_GENERATORS):
        fields.fail("state", f"must be that of one of {', '.join(_BIT_GENERATORS)}")
    _check_position(name, state, fields)
    bits = _BIT_GENERATORS[name](0)
    generator = np.random.Generator(bits) if kind == "Generator" else np.random.RandomState(bits)
    try:
        if isinstance(generator, np.random.Generator):
            bits.state = state
        else:
            generator.set_state(state)
        same = _equal(random_record(generator)["state"], state)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError):
        same = False
    if not same:
        fields.fail("state", f"is not one that a {name} can have")
    return generator


def source_like(
    own: np.random.Generator | np.random.RandomState, fields: Fields
) -> np.random.Generator | np.random.RandomState:
    """Make a generator from its record, which must be of the same kind as another one."""
    where = fields.where
    found = random_source(fields)
    kinds = [(type(one), random_record(one)["state"]["bit_generator"]) for one in (found, own)]
    if kinds[0] != kinds[1]:
        message = f"{where} must be that of a {kinds[1][0].__name__} of {kinds[1][1]}"
        raise ValueError(message)
    return found


def put_back(own: Any, before: Any) -> None:
    """Let a generator go on from where another one of its kind is."""
    if isinstance(own, np.random.Generator):
        own.bit_generator.state = before.bit_generator.state
    else:
        own.set_state(before.get_state(legacy=False))


def _check_position(name: str, state: Any, fields: Fields) -> None:
    keys, most = _POSITIONS.get(name, ((), 0))
    for key in keys:
        state = state.get(key) if isinstance(state, dict) else None
    if keys and not (type(state) is int and 0 <= state <= most):
        fields.fail("state", "has a position outside of its buffer")


def _equal(one: Any, other: Any) -> bool:
    """Whether two states are the same, types included."""
    if isinstance(one, dict):
        same = isinstance(other, dict) and one.keys() == other.keys()
        return same and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray):
        same = isinstance(other, np.ndarray) and one.dtype == other.dtype
        return same and np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)
