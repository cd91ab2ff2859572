"""Which columns of a table hold the label and the features."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from numbers import Integral
from pathlib import Path
from typing import Literal, TypeAlias

Column: TypeAlias = str | int
#: The column of the labels: None if nobody has said it, and False if there is none.
Target: TypeAlias = Column | Literal[False] | None

_SHOWN = 12
#: For words where numbers should be.
ADVICE = "categories must become numbers first, one column for each, as by OneHotEncoder of scikit-learn or pandas.get_dummies"


@dataclass(frozen=True)
class Columns:
    """A table's columns: their names, if they have any, and the positions of those to be used."""

    names: tuple[str, ...] | None
    count: int
    target: int | None
    features: Sequence[int]
    #: Whether all columns are read, and features are in their order: there may be a great many, in very little text.
    all: bool = False

    @property
    def used(self) -> Sequence[int]:
        """The positions of all columns that are read, in their order."""
        if self.all:
            return range(self.count)
        return sorted(self.features if self.target is None else (*self.features, self.target))

    def describe(self, position: int) -> str:
        """Say which column it is; positions count from 0, as in `target` and `features`."""
        return f"column {position if self.names is None else repr(self.names[position])}"


def choose_columns(
    path: Path,
    names: Sequence[str] | None,
    count: int,
    target: Target,
    features: Sequence[Column] | None,
) -> Columns:
    """Find the wanted columns among `count`, or say which there are. No features means all others."""
    held = _list(names, count)
    if names is not None:
        _check_unique(path, names)
    if target is None:
        message = (
            f"say which column of {path} holds the labels: target='name', or a number such as "
            f"target=0 (the first) or target=-1 (the last), or target=False if none does; there are {held}"
        )
        raise ValueError(message)
    label = None if target is False else _position("target", target, path, names, count)
    if features is None:
        _check_named(path, names, label)
        chosen = _others(count, label)
    else:
        chosen = tuple(_position("features", column, path, names, count) for column in features)
        _check_features(chosen, label)
    if not chosen:
        message = f"{path} has no columns for features besides the target; it has {held}"
        raise ValueError(message)
    known = None if names is None else tuple(names)
    return Columns(known, count, label, chosen, all=features is None)


def _others(count: int, label: int | None) -> Sequence[int]:
    """Return all positions but one, in little memory."""
    if label is None:
        return range(count)
    if label == 0:
        return range(1, count)
    return array("q", chain(range(label), range(label + 1, count)))


def _position(
    parameter: str, column: object, path: Path, names: Sequence[str] | None, count: int
) -> int:
    """Return where a column stands."""
    if isinstance(column, str):
        if names is None:
            message = (
                f"{path} has no header, so {parameter} must be given by number, not {column!r}"
            )
            raise ValueError(message)
        if column not in names:
            message = f"{path} has no column {column!r} ({parameter}); it has {_list(names, count)}"
            raise ValueError(message)
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, Integral):
        message = f"{parameter} must name columns by string or integer, not {column!r}"
        raise TypeError(message)
    number = int(column)
    if not -count <= number < count:
        message = f"{path} has no column {number} ({parameter}); it has {_list(names, count)}"
        raise ValueError(message)
    return number % count


def _check_unique(path: Path, names: Sequence[str]) -> None:
    twice = {name for name, other in pairwise(sorted(names)) if name == other}
    for name in names if twice else ():
        if name and name in twice:
            message = f"{path} has more than one column {name!r}; rename them"
            raise ValueError(message)


def _check_named(path: Path, names: Sequence[str] | None, label: int | None) -> None:
    """Refuse to take a column without a name for a feature: most often it numbers the rows."""
    for position, name in enumerate(names or ()):
        if not name and position != label:
            message = (
                f"column {position} of {path} has no name; if it numbers the rows it is no feature: "
                "say which columns are, by features=[...], or write the file without it"
            )
            raise ValueError(message)


def _check_features(chosen: Sequence[int], label: int | None) -> None:
    if label in chosen:
        raise ValueError("features must not contain the target: it would be predicted from itself")
    if len(set(chosen)) < len(chosen):
        raise ValueError("features must not name a column twice")


def _list(names: Sequence[str] | None, count: int) -> str:
    if names is None:
        return "1 column" if count == 1 else f"{count} columns"
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"the columns {shown}{f' and {count - _SHOWN} more' if count > _SHOWN else ''}"
