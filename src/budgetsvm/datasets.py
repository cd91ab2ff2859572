"""Data sets."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._catalogue import ENTRIES, Entry, find_entry
from budgetsvm._dataset_files import Found, Places, obtain
from budgetsvm._preparation import (
    Parts,
    in_form,
    is_mostly_zero,
    scale,
    split_fifth,
    split_last_tenth,
)
from budgetsvm._user_cache import cache_folder
from budgetsvm._validation import check_choice

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test rows."""

    name: str
    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    notes: dict[str, Any]


def names() -> list[str]:
    """Return the names of all data sets."""
    return [entry.name for entry in ENTRIES]


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download: bool = True,
    scaling: Literal["default", "none", "range", "standard"] = "default",
    form: Literal["auto", "dense", "sparse"] = "auto",
) -> Dataset:
    """Load a data set."""
    entry = find_entry(name)
    check_choice("scaling", scaling, ("default", "none", "range", "standard"))
    check_choice("form", form, ("auto", "dense", "sparse"))
    places = Places(_folder(folder), cache_folder("datasets"))
    chosen = _at_hand(entry, places)
    how = chosen.scaling if scaling == "default" else scaling
    train = obtain(chosen.train, chosen.n_features, places)
    test = None if chosen.test is None else obtain(chosen.test, chosen.n_features, places)
    X, y, X_test, y_test = _split(chosen, train, test)
    X, X_test = scale(X, X_test, how)
    if form == "auto":
        form = "sparse" if is_mostly_zero(X) else "dense"
    return Dataset(entry.name, in_form(X, form), y, in_form(X_test, form), y_test, {})


def _folder(folder: str | os.PathLike[str] | None) -> Path | None:
    name = folder if folder is not None else os.environ.get("BUDGETSVM_DATA")
    if not name:
        return None
    if not Path(name).is_dir():
        message = f"the data folder {str(name)!r} does not exist"
        raise FileNotFoundError(message)
    return Path(name)


def _at_hand(entry: Entry, places: Places) -> Entry:
    """Return the data set, or its subset if only that is at hand."""
    if entry.subset is None or places.find(entry.train.name) is not None:
        return entry
    if places.find(entry.subset.train.name) is None:
        return entry
    warnings.warn("subset", stacklevel=3)
    return entry.subset


def _split(entry: Entry, train: Found, test: Found | None) -> Parts:
    X, y = train.table.X, train.table.y
    if test is not None:
        return X, y, test.table.X, test.table.y
    return split_last_tenth(X, y) if entry.split == "last tenth" else split_fifth(X, y)
