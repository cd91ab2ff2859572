"""Values of all kinds, and fitted models, as digests: a bit that changes anywhere changes the digest.

Modules and private attributes play no part in it: classes count by their name alone, so that a digest stays
what it is when code moves from one file to another.
"""

from collections.abc import Iterable
from hashlib import sha256
from inspect import isfunction
from typing import Any

import numpy as np
from scipy import sparse

#: What is known of a result, by name: the digest of each part.
Parts = dict[str, str]

ANSWERS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "transform",
    "score_samples",
)
_TIMES = {"seconds"}  # no two runs have them in common


def parts_of(model: Any, X: Any) -> Parts:
    """Return the digests of all public fitted attributes of a model, and of its answers for some rows."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    parts = {name: digest(getattr(model, name)) for name in names if hasattr(model, name)}
    answers = [name for name in ANSWERS if hasattr(model, name)]
    return parts | {f"{name}()": digest(getattr(model, name)(X)) for name in answers}


def digest(value: Any) -> str:
    """Return the digest of a value."""
    return sha256(_encoded(value)).hexdigest()


def digest_of_parts(parts: Parts) -> str:
    """Return one digest for all parts, whatever their order."""
    return digest(sorted(parts.items()))


def _encoded(value: Any) -> bytes:
    """Return bytes that are equal for two values if, and only if, the values are; NaN equals itself."""
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return _encoded_array(value)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return _tagged(repr(value), [])
    if isinstance(value, dict):
        return _encoded_names("dict", value)
    if isinstance(value, list | tuple):
        return _tagged(type(value).__name__, map(_encoded, value))
    if isfunction(value):
        return _tagged(f"function {value.__qualname__}", [])
    if not hasattr(value, "__dict__"):  # its repr may be an address
        raise TypeError(f"there is no digest for {type(value).__qualname__}")
    public = {name: one for name, one in vars(value).items() if not name.startswith("_")}
    return _encoded_names(type(value).__qualname__, public)


def _encoded_array(values: Any) -> bytes:
    if sparse.issparse(values):
        rows = values.tocsr()
        parts = (rows.data, rows.indices, rows.indptr)
        return _tagged(f"sparse {values.format} {values.shape}", map(_encoded_array, parts))
    tag = f"array {values.dtype.str} {values.shape}"
    if values.dtype == object:  # whose bytes are addresses
        return _tagged(tag, map(_encoded, values.ravel().tolist()))
    return _tagged(tag, [values.tobytes()])  # in C order, however they are laid out


def _encoded_names(tag: str, values: dict[Any, Any]) -> bytes:
    """Encode named values but for times; the order in which they were set does not matter."""
    named = sorted((repr(name), one) for name, one in values.items() if name not in _TIMES)
    return _tagged(tag, [part for name, one in named for part in (name.encode(), _encoded(one))])


def _tagged(tag: str, parts: Iterable[bytes]) -> bytes:
    """Join parts with their lengths, so that no two lists of parts give the same bytes."""
    pieces = [tag.encode(), *parts]
    return b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)
