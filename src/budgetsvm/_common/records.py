"""Plain records, from which private parts of a model are made again; what a record says is checked first.

A record may come from a damaged file, or from somebody who means no good: nothing in it is believed.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, ClassVar, NoReturn, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Record: TypeAlias = dict[str, Any]

_Value = TypeVar("_Value")

#: What is counted fits into the 64 bits of the core, with room for more.
LARGEST_COUNT = 1 << 60
_LARGEST_INTEGER = 1 << 1000  # a float has room for 2^1023


class Fields:
    """The fields of a record: each is checked when it is read, and in the end all must have been."""

    def __init__(self, record: Any, where: str) -> None:
        self.where = where  #: for messages
        if not isinstance(record, Mapping):
            message = f"{where} must be a dict, not a {type(record).__name__}"
            raise ValueError(message)
        self._left = dict(record)

    def fail(self, name: str, problem: str) -> NoReturn:
        """Say what is wrong with a field."""
        message = f"{self.where}[{name!r}] {problem}"
        raise ValueError(message)

    def take(self, name: str) -> Any:
        """Return a field as it is."""
        if name not in self._left:
            message = f"{self.where} lacks the field {name!r}"
            raise ValueError(message)
        return self._left.pop(name)

    def inside(self, name: str) -> "Fields":
        """Return the fields of a record in this one."""
        return Fields(self.take(name), f"{self.where}[{name!r}]")

    def has_array(self, name: str) -> bool:
        """Whether a field is an array, and not a record, say."""
        return isinstance(self._left.get(name), np.ndarray)

    def has_record(self, name: str) -> bool:
        """Whether a field is a record."""
        return isinstance(self._left.get(name), dict)

    def has_list(self, name: str) -> bool:
        """Whether a field is a list."""
        return isinstance(self._left.get(name), list)

    def end(self) -> None:
        """Complain about fields that nobody has read."""
        if self._left:
            unknown = ", ".join(sorted(map(repr, self._left)))
            message = f"{self.where} has fields that are not known: {unknown}"
            raise ValueError(message)

    def optional(self, read: Callable[[str], _Value], name: str) -> _Value | None:
        """Return None, or what this method makes of a field."""
        if name in self._left and self._left[name] is None:
            return self._left.pop(name)  # type: ignore[no-any-return]
        return read(name)

    def array(
        self, name: str, types: tuple[Any, ...], shape: tuple[Any, ...], *, finite: bool
    ) -> NDArray[Any]:
        """Return an array of one of these types, which is copied only if it has to be.

        In its shape, None is any length, and an ellipsis in the end any further axes.
        """
        value = self.take(name)
        if type(value) is not np.ndarray:
            if not isinstance(value, np.memmap):
                self.fail(name, f"must be an array, not {_shown(value)}")
            value = np.asarray(value)
        if value.dtype not in map(np.dtype, types):
            wanted = " or ".join(str(np.dtype(one)) for one in types)
            self.fail(name, f"must be an array of {wanted}, not of {value.dtype}")
        if not _fits(value.shape, shape):
            wanted = ", ".join({None: "any", ...: "..."}.get(n, str(n)) for n in shape)
            self.fail(name, f"must have the shape ({wanted}), not {value.shape}")
        if value.nbytes > _extent(value):
            self.fail(name, "repeats itself: an array of any size in no memory")
        if finite and not np.isfinite(value).all():
            self.fail(name, "has NaN or infinity in it")
        return np.require(value, requirements=["C", "A"])

    def weights(self, name: str, shape: tuple[Any, ...], dtype: Any = np.float64) -> NDArray[Any]:
        """Return factors of sums that are to stay finite: numbers that have finite squares."""
        value = self.array(name, (dtype,), shape, finite=True)
        with np.errstate(over="ignore"):
            if not np.isfinite(np.square(value).sum()):
                self.fail(name, "has values too large for their squares")
        return value

    def scalar(self, name: str) -> Any:
        """Return None, a string, a truth value or a number, of Python or NumPy."""
        return self.as_scalar(name, self.take(name))

    def as_scalar(self, name: str, value: Any) -> Any:
        """Return a part of a field as a scalar; those of NumPy are arrays without an axis."""
        if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biufU":
            return value[()]
        if not (value is None or isinstance(value, (bool, int, float, str, np.generic))):
            self.fail(name, f"must be a number, a string or None, not {_shown(value)}")
        return value

    def number(self, name: str, *, at_least: float = -np.inf, finite: bool = True) -> Any:
        """Return a real number."""
        value = self.scalar(name)
        if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
            self.fail(name, f"must be a number, not {_shown(value)}")
        if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
            self.fail(name, "is an integer too large for a float")
        if finite and not (isfinite(value) and value >= at_least):
            self.fail(name, f"must be a finite number, at least {at_least:g}, not {value!r}")
        return value

    def count(self, name: str, *, least: int = 0, most: int = LARGEST_COUNT) -> Any:
        """Return an integer within bounds."""
        value = self.scalar(name)
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
            self.fail(name, f"must be an integer, not {_shown(value)}")
        if not least <= value <= most:
            self.fail(name, f"must be an integer from {least} to {most}, not {value!r}")
        return value

    def truth(self, name: str) -> Any:
        """Return True or False."""
        value = self.scalar(name)
        if not isinstance(value, (bool, np.bool_)):
            self.fail(name, f"must be True or False, not {_shown(value)}")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of these strings."""
        value = self.take(name)
        if not (isinstance(value, str) and value in choices):
            self.fail(name, f"must be one of {', '.join(map(repr, choices))}, not {_shown(value)}")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of strings."""
        value = self.take(name)
        if not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            self.fail(name, f"must be a list of strings, not {_shown(value)}")
        return value


def _extent(value: NDArray[Any]) -> int:
    """Return the bytes between the first and the last entry of an array."""
    low, high = np.lib.array_utils.byte_bounds(value)
    return int(high - low)


def _fits(shape: tuple[int, ...], wanted: tuple[Any, ...]) -> bool:
    if wanted[-1] is ...:
        wanted = wanted[:-1]
        shape = shape[: len(wanted)]
    return len(shape) == len(wanted) and all(
        n in (None, m) for n, m in zip(wanted, shape, strict=True)
    )


def _shown(value: Any) -> str:
    """Return a few words about a value; a file may have anything of any size in it."""
    text = repr(value) if isinstance(value, (bool, int, float, str)) else ""
    return text if 0 < len(text) <= 80 else f"a {type(value).__name__}"


class Part(Protocol):
    """A private part of a public object. It is a value: nobody changes it, and copies may share it."""

    def record(self) -> Record:
        """Return a plain record of it, which shares its arrays. Options may be objects in it."""

    @classmethod
    def of_record(cls, fields: Fields) -> Self:
        """Make it from a record."""


class PlainPickles:
    """An object whose private parts are records in its pickles: so these name no private class."""

    _PARTS: ClassVar[Mapping[str, type[Part]]] = {}

    def __getstate__(self) -> Record:
        above: Any = super()
        state: Record = dict(above.__getstate__())
        for name in self._PARTS:
            if state.get(name) is not None:
                state[name] = state[name].record()
        return state

    def __setstate__(self, state: Record) -> None:
        state = dict(state)
        for name, kind in self._PARTS.items():
            if state.get(name) is not None:
                fields = Fields(state[name], f"a pickled {type(self).__name__}: {name}")
                state[name] = kind.of_record(fields)
        above: Any = super()
        if hasattr(above, "__setstate__"):  # scikit-learn's looks at versions
            above.__setstate__(state)
        else:
            self.__dict__.update(state)

    def __copy__(self) -> Self:
        """Return a copy that shares all parts, without a detour through records."""
        if type(self).__getstate__ is not PlainPickles.__getstate__:  # a subclass has its own way
            other = type(self).__new__(type(self))
            other.__setstate__(self.__getstate__())
            return other
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other
