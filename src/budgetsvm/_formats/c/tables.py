"""Numbers as C has them, and points of terms in fewer bits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Array: TypeAlias = NDArray[Any]
Storage: TypeAlias = Literal["float32", "float16", "int8"]
_PER_LINE = 8


@dataclass(frozen=True, eq=False)
class StoredPoints:
    """Points as they are stored, what they are then, and C that makes `z` of feature k of term j."""

    values: NDArray[np.float64]
    codes: _Array
    decode: str
    kind: str = "float"  #: of the codes
    others: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    functions: str = ""

    def some(self, kept: NDArray[np.int64]) -> "StoredPoints":
        """Return some of the points."""
        return replace(self, values=self.values[kept], codes=self.codes[kept])

    @property
    def n_bytes(self) -> int:
        """How much memory the tables take."""
        return self.codes.nbytes + sum(one.nbytes for one in self.others.values())

    def tables(self) -> list[str]:
        """Return the definitions."""
        others = [table("float", name, values) for name, values in self.others.items()]
        return [table(self.kind, "Z", self.codes), *others, self.functions]


def stored_points(points: NDArray[np.float64], storage: Storage) -> StoredPoints:
    """Return points in so many bits."""
    if storage == "float32":
        kept: _Array = in_single(points, "the points")
        return StoredPoints(kept.astype(float), kept, "@Z[j][k]")
    if storage == "float16":
        return _halves(points)
    return _bytes(points)


def _halves(points: NDArray[np.float64]) -> StoredPoints:
    with np.errstate(over="ignore"):
        halves = points.astype(np.float16)
    if not np.isfinite(halves).all():
        message = (
            f"the points have values up to {abs(points).max():g}, and float16 ends at 65504: scale the features, or "
            "use int8 or float32"
        )
        raise ValueError(message)
    values, codes = halves.astype(float), halves.view(np.uint16)
    return StoredPoints(values, codes, "@half(@Z[j][k])", "unsigned short", functions=_HALF)


_HALF = """/* What 16 bits of IEEE 754 stand for. */
static inline float @half(unsigned short bits)
{
    const int exponent = (bits >> 10) & 31;
    const float fraction = (float)(bits & 1023) * (1.0f / 1024.0f);
    float value = exponent == 0 ? fraction * (1.0f / 16384.0f) : 1.0f + fraction;
    int i;
    for (i = exponent; i > 15; --i) value *= 2.0f;
    for (i = exponent; i > 0 && i < 15; ++i) value *= 0.5f;
    return (bits & 32768) ? -value : value;
}"""


def _bytes(points: NDArray[np.float64]) -> StoredPoints:
    """Of every feature, 255 steps from the least value to the largest."""
    least, largest = points.min(axis=0), points.max(axis=0)
    middle = in_single((least + largest) / 2, "the points")
    step = in_single((largest - least) / 254, "the points")
    wide = np.where(step > 0, step, 1).astype(float)
    codes = np.clip(np.round((points - middle) / wide), -127, 127).astype(np.int8)
    values = middle.astype(float) + codes * step.astype(float)
    decode = "@middle[k] + @step[k] * (float)@Z[j][k]"
    return StoredPoints(values, codes, decode, "signed char", {"step": step, "middle": middle})


def in_single(values: _Array, what: str) -> NDArray[np.float32]:
    """Return numbers in single precision, in which they must be finite."""
    with np.errstate(over="ignore"):
        single = np.asarray(values).astype(np.float32)
    if not np.isfinite(single).all():
        message = f"{what} have values too large for single precision: scale the data first"
        raise ValueError(message)
    return single


def table(kind: str, name: str, values: _Array) -> str:
    """Return the definition of an array of one or two dimensions."""
    shape = "".join(f"[{n}]" for n in values.shape)
    head = f"static const {kind} @{name}{shape} = "
    if values.ndim == 1:
        return head + "{\n" + _rows(values) + "\n};"
    return head + "{\n" + ",\n".join("  {\n" + _rows(row) + "\n  }" for row in values) + "\n};"


def _rows(values: _Array) -> str:
    texts = [number(value) for value in values]
    lines = (", ".join(texts[i : i + _PER_LINE]) for i in range(0, len(texts), _PER_LINE))
    return ",\n".join(f"    {line}" for line in lines)


def number(value: Any) -> str:
    """Return a number of C: an integer, or a float with all digits of single precision."""
    if isinstance(value, np.integer | int):
        return str(int(value))
    text = f"{float(np.float32(value)):.9g}"
    return (text if any(c in text for c in ".e") else f"{text}.0") + "f"


def string(text: str) -> str:
    """Return a string of C, whatever is in it: bytes of UTF-8, and no trigraphs."""
    plain = set(range(32, 127)) - set(b'"\\?@')  # @ has a meaning of its own, see functions.py
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def joined(lines: Iterable[str]) -> str:
    """Return paragraphs with empty lines between them."""
    return "\n\n".join(line for line in lines if line) + "\n"
