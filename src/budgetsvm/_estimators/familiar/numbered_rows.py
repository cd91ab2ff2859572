"""Rows that are known by number: their kernel values are given, or come from a function of any objects.

``kernel="precomputed"`` takes kernel values in the place of rows. A kernel function of the user's may compare
strings or whatever else: then its values of all pairs are computed first. While a machine is trained, a row is its
number, and the kernel looks values up; terms, which stay training rows, are numbers, too. Afterwards the machine
keeps the numbers, or the objects that they stand for, and no matrix.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_X_y, validate_data

from budgetsvm._estimators.familiar.attributes import FamiliarAttributes
from budgetsvm._learn.settings import Settings
from budgetsvm._problem.row_numbers import find_rows
from budgetsvm._problem.rows import Rows
from budgetsvm.kernels import Callback, Kernel, Precomputed
from budgetsvm.kernels._python import checked_values
from budgetsvm.monitoring._observer import EpochRecord

_ASYMMETRY = 1e-5  # of the largest value: more than rounding, in single precision, too
_ROWS_AT_ONCE = 1024


class RowsByNumber(FamiliarAttributes):
    """A machine that may know its training rows by their numbers."""

    kernel_: Kernel
    history_: list[EpochRecord]
    _gram: NDArray[np.float64]  # while it is trained: the kernel values of all pairs of rows
    _things: Sequence[Any]  # while it is trained: the objects that the rows are
    _objects: list[Any]  # those of the terms

    @property
    def _takes_values(self) -> bool:
        """Whether kernel values are to be given in the place of rows."""
        kernel = self.kernel
        named = isinstance(kernel, str) and kernel == Precomputed.name
        return named or isinstance(kernel, Precomputed)

    def _are_numbered(self, X: Any, *, reset: bool) -> bool:
        """Whether rows are to be known by number."""
        for name in ("_gram", "_things"):
            self.__dict__.pop(name, None)
        if not reset:
            return isinstance(self._expansion.kernel, Precomputed)
        self.__dict__.pop("_objects", None)
        return self._takes_values or (_function(self.kernel) is not None and _are_objects(X))

    def _validate_numbered(self, X: Any, *y: Any, reset: bool, **checks: Any) -> Any:
        """Return the numbers of training rows; of others, the kernel values with training rows or terms."""
        if reset:
            self._check_basis()
            given = self._take_values if self._takes_values else self._take_objects
            return given(X, *y, **checks)
        if hasattr(self, "_objects"):
            return self._compare(X)
        _refuse_sparse(X)
        width = np.shape(X)[1] if np.ndim(X) == 2 else None
        if width not in (None, self.n_features_in_):
            message = (
                f"with a precomputed kernel, X must have the kernel values with all {self.n_features_in_} training "
                f"rows, but has {width} columns"
            )
            raise ValueError(message)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _check_basis(self) -> None:
        if not (isinstance(self.basis, str) and self.basis in ("learned", "random")):
            basis = repr(self.basis) if isinstance(self.basis, str) else "an array"
            message = (
                "where kernel values are all that is known, terms are training rows: choose basis='learned' or "
                f"'random' (it is {basis})"
            )
            raise ValueError(message)

    def _take_values(self, gram: Any, *y: Any, **checks: Any) -> Any:
        """Check a matrix of kernel values, and return the numbers of its rows."""
        _refuse_sparse(gram)
        checked = validate_data(self, gram, *y, reset=True, dtype=np.float64, order="C", **checks)
        gram, *targets = checked if y else (checked,)
        _check_gram(gram, "a precomputed kernel")
        self._gram = gram
        numbers = _numbers(len(gram))
        return (numbers, *targets) if y else numbers

    def _take_objects(self, X: Sequence[Any], *y: Any, **checks: Any) -> Any:
        """Compare all pairs of objects, and return their numbers."""
        numbers = _numbers(len(X))
        checked = check_X_y(numbers, *y, estimator=self, **checks) if y else numbers
        function = _function(self.kernel)
        assert function is not None
        self._gram = checked_values(function(X, X), (len(X), len(X)))
        _check_gram(self._gram, "a kernel function")
        self._things = X
        for name in ("n_features_in_", "feature_names_in_"):  # there are none
            self.__dict__.pop(name, None)
        return checked

    def _compare(self, X: Any) -> NDArray[np.float64]:
        """Return the kernel values of objects with those that are terms."""
        if not _are_objects(X):
            example = f", {self._objects[0]!r} among them" if self._objects else ""
            message = f"X must have objects as those of the training data{example}"
            raise ValueError(message)
        if len(self._objects) == 0:
            return np.zeros((len(X), 1))
        function = _function(self.kernel_)
        return checked_values(function(X, self._objects), (len(X), len(self._objects)))

    def _bound(self, kernel: Kernel) -> Kernel:
        """Return the kernel with the values of this fit, where rows have numbers."""
        return Precomputed(self._gram) if hasattr(self, "_gram") else kernel

    def _go_on_by_number(self, kernel: Kernel) -> None:
        """Let the terms of the fit before be numbers of rows again."""
        if hasattr(self, "_gram"):
            points = self._support[:, np.newaxis].astype(np.float64)
            self._expansion = replace(self._expansion, kernel=kernel, points=points)

    def _remember_terms(
        self, rows: Rows, encoded: NDArray[Any], sample_weight: Any, settings: Settings
    ) -> None:
        """Find out which training rows the terms are, unless they are none."""
        if hasattr(self, "_gram"):
            self._forget_values(settings.kernel)
            self._count_terms(encoded[np.searchsorted(rows.X[:, 0], self._support)])
            return
        moved = settings.maintenance.makes_new_terms and any(one["merges"] for one in self.history_)
        from_rows = self._learns_terms or (isinstance(self.basis, str) and self.basis == "random")
        found = self.__dict__.get("_support")
        if found is None and from_rows and not moved:
            found = find_rows(self._expansion.points, rows)
        if found is None:
            return
        self._count_terms(encoded[found])
        weights = None if sample_weight is None else np.asarray(sample_weight)
        if weights is not None and weights.ndim > 0:  # rows of weight zero were left out
            found = np.flatnonzero(weights > 0)[found]
        self._support = found

    def _forget_rows(self) -> None:
        """Terms that are changed may be no rows any more."""
        for name in ("_support", "_n_support"):
            self.__dict__.pop(name, None)

    def _count_terms(self, encoded: NDArray[Any]) -> None:
        """Take note of the targets of the rows that are terms, for whom that is of interest."""

    def _forget_values(self, wanted: Kernel) -> None:
        """Keep of numbered rows the terms alone, which is what a prediction needs."""
        model, things = self._expansion, getattr(self, "_things", None)
        self._support, points = model.points[:, 0].astype(np.int64), model.points
        self.kernel_ = replace(wanted, gram=None) if isinstance(wanted, Precomputed) else wanted
        if things is not None:
            self._objects = [things[i] for i in self._support]
            points = _numbers(len(points))
        self._expansion = replace(model, kernel=Precomputed(), points=points)
        for name in ("_gram", "_things"):
            self.__dict__.pop(name, None)


def _function(kernel: Any) -> Any:
    """Return the function that a kernel is, or None."""
    if isinstance(kernel, Callback):
        return kernel.function
    return kernel if callable(kernel) and not isinstance(kernel, Kernel) else None


def _are_objects(X: Any) -> bool:
    """Whether X is a sequence of things that are not rows of numbers: of strings, say."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and not (_is_row(X[0]) or _is_number_or_array(X[0]))
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    return len(getattr(X, "shape", ())) == 1 and kind in "OUSTV" and len(X) > 0


def _is_row(thing: Any) -> bool:
    """Whether this is a list that may be of numbers; that of the words of a sentence is an object."""
    return isinstance(thing, list | tuple) and not any(isinstance(part, str) for part in thing)


def _is_number_or_array(thing: Any) -> bool:
    return hasattr(thing, "__array__") or isinstance(thing, int | float | complex)


def _numbers(count: int) -> NDArray[np.float64]:
    return np.arange(count, dtype=np.float64)[:, np.newaxis]


def _refuse_sparse(X: Any) -> None:
    if sparse.issparse(X):
        raise TypeError("Sparse precomputed kernels are not supported: use X.toarray()")


def _check_gram(gram: NDArray[np.float64], what: str) -> None:
    """Raise a ValueError unless these can be kernel values of all pairs of rows; `what` has them."""
    n = len(gram)
    if gram.shape != (n, n):
        message = (
            f"a precomputed kernel is a square matrix, the values of all pairs of training rows, but X is {n} by "
            f"{gram.shape[1]}"
        )
        raise ValueError(message)
    most = float(abs(gram).max())
    for start in range(0, n, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        if float(abs(gram[part] - gram[:, part].T).max()) > _ASYMMETRY * most:
            message = f"{what} must be symmetric, k(x, z) = k(z, x): that of X is not"
            raise ValueError(message)
    negative = np.flatnonzero(gram.diagonal() < 0)
    if len(negative):
        i = int(negative[0])
        message = f"{what} has k(x, x) >= 0, but for row {i} of X it is {gram[i, i]:.3g}"
        raise ValueError(message)
