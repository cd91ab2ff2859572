"""What tells one run from another: its parameters as texts, and a digest of its data.

A stream is summed up as it is read, checkpoint or not, and by SHA-256 alone that took one percent of the time of training
on it. So words of 64 bits are first multiplied by odd numbers, another one for each place, and added up modulo 2^64: one
word that differs always shows, since odd numbers have inverses, and several do but for once in 2^64 times. Nobody is
fooled here but those who want to be.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._common.random_states import random_record, random_source
from budgetsvm._common.records import Fields

# The model does not depend on these.
_NO_MATTER = ("n_jobs", "verbose", "monitor", "warm_start")
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_LONGEST = 200  # text of a parameter
_PIECE = 1 << 22  # bytes that are copied at once, of an array that is not in one piece
_WORDS = 1 << 16  # that are added up: they stay in a cache of the processor


class Digest:
    """A sum of all that was added."""

    def __init__(self) -> None:
        self._sum = sha256()

    def add(self, value: Any) -> None:
        """Add an array, sparse rows, a data frame, a list; or None."""
        if value is None:
            self._sum.update(b"None")
        elif sparse.issparse(value):
            rows = value.tocsr()
            self._sum.update(f"sparse {rows.shape}".encode())
            for part in (rows.data, rows.indices, rows.indptr):
                self._add_array(part)
        else:
            self._add_array(np.asarray(value))

    def text(self) -> str:
        """Return the digits of all so far."""
        return self._sum.hexdigest()

    def _add_array(self, array: NDArray[Any]) -> None:
        self._sum.update(f"{array.dtype.str} {array.shape}".encode())
        if array.dtype.hasobject:
            self._sum.update(repr(array.tolist()).encode())
            return
        array = array.reshape(1) if array.ndim == 0 else array
        step = max(1, int(len(array) * _PIECE // max(1, array.nbytes)))
        whole = array.flags.c_contiguous
        for start in range(0, len(array), max(1, len(array)) if whole else step):
            piece = array[start:] if whole else array[start : start + step]
            self._add_bytes(np.ascontiguousarray(piece).reshape(-1).view(np.uint8))

    def _add_bytes(self, values: NDArray[np.uint8]) -> None:
        whole = len(values) // 8 * 8
        words, factors = values[:whole].view(np.uint64), _factors()
        for start in range(0, len(words), _WORDS):
            some = words[start : start + _WORDS]
            self._sum.update((some * factors[: len(some)]).sum(dtype=np.uint64).tobytes())
        self._sum.update(values[whole:].data)


@cache
def _factors() -> NDArray[np.uint64]:
    """Return odd numbers without a pattern, the same for ever: SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = np.arange(1, _WORDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


def parameter_texts(machine: Any, others: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of an estimator that its model depends on, and others of the call."""
    given = machine.get_params(deep=False) | dict(others)
    texts = {name: _text(value) for name, value in given.items() if name not in _NO_MATTER}
    return {"estimator": type(machine).__name__} | texts


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Say which parameters differ."""
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return ", ".join(
        f"{name} was {before.get(name, 'not there')} and is {now.get(name, 'not there')}"
        for name in names[:5]
    )


def _text(value: Any) -> str:
    """Return a text for a value, the same in every process; functions go by their names."""
    if isinstance(value, np.random.Generator | np.random.RandomState):
        record = random_record(value)
        random_source(Fields(record, "random_state"))  # says so if it could not be made again
        return f"{record['type']} {_short(json.dumps(record, default=np.ndarray.tolist))}"
    if sparse.issparse(value) or isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        digest = Digest()
        digest.add(value)
        return f"values {digest.text()[:16]}"
    text = _ADDRESS.sub("", repr(value))
    return text if len(text) <= _LONGEST else f"{text[:20]}... {_short(text)}"


def _short(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
