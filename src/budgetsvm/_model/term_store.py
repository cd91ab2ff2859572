"""Storage of a model's terms in the layout of the compiled core: their points, norms and coefficients."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm import _core
from budgetsvm._common.records import Fields, Record
from budgetsvm._model.point_storage import Panels, Slots
from budgetsvm._problem.points import Points, longest_row, points_record, read_points
from budgetsvm._problem.rows import Precision
from budgetsvm.kernels import Kernel, KernelInPython
from budgetsvm.kernels._interface import CoreKernel


class TermStore:
    """Arrays for up to `capacity` terms; `size` of them are in use.

    Sparse terms that are to change have room for so many entries each; without it they stay as they are.
    """

    def __init__(
        self, capacity: int, n_features: int, dtype: Precision, room: int | None = None
    ) -> None:
        self.dtype = dtype
        self.lanes = _core.PANEL_BYTES // np.dtype(dtype).itemsize
        self.size = 0
        whole = max(1, -(-capacity // self.lanes)) * self.lanes
        self._points: Panels | Slots = (
            Panels(whole, n_features, dtype)
            if room is None
            else Slots.empty(whole, n_features, dtype, room)
        )
        self.norms = np.zeros(whole, dtype)
        self.coef = np.zeros(whole)

    @classmethod
    def of(
        cls,
        points: Points,
        coef: NDArray[np.float64],
        kernel: Kernel,
        capacity: int,
        room: int | None = None,
    ) -> Self:
        """Store given terms."""
        size, n_features = points.shape
        fixed = sparse.issparse(points) and room is None
        store = cls(max(size, capacity), n_features, points.dtype.type, 0 if fixed else room)
        if fixed:
            store._points = Slots.of(points, store.capacity)
        else:
            store._points.fill(points)
        store.norms[:size] = kernel.norms(points.astype(np.float64))
        store.coef[:size] = coef
        store.size = size
        return store

    def record(self) -> Record:
        """Return the terms in use, bit for bit: norms that the core has found are not computed anew."""
        size = self.size
        return {
            "points": points_record(self.points()),
            "norms": self.norms[:size],
            "coef": self.coef[:size],
        }

    def restore(self, fields: Fields, most: int) -> None:
        """Take over the terms of a record, `most` of them at most, in the place of those that are here."""
        points = read_points(fields, "points")
        size, n_features = points.shape
        slots = isinstance(self._points, Slots)
        alike = sparse.issparse(points) == slots and points.dtype == self.dtype
        if not (alike and n_features == self._points.n_features and size <= most):
            fields.fail("points", f"must be {most} or fewer, like those of the data")
        if isinstance(self._points, Slots) and longest_row(points) > self._points.room:
            fields.fail("points", f"must have {self._points.room} entries each, or fewer")
        norms = fields.array("norms", (self.dtype,), (size,), finite=True)
        coef = fields.weights("coef", (size,))
        fields.end()
        self.reserve(size)
        self._points.fill(points)
        self.norms[:size], self.coef[:size], self.size = norms, coef, size

    @property
    def capacity(self) -> int:
        """How many terms there is room for."""
        return len(self.coef)

    @property
    def arrays(self) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        """What the core calls *terms*."""
        return self._points.arrays, self.norms, self.coef

    @property
    def panels(self) -> NDArray[Any]:
        """The points of dense terms, as they are stored."""
        assert isinstance(self._points, Panels)
        return self._points.arrays

    def points(self, size: int | None = None) -> Points:
        """Return the points z_j, one per row. Inside the core `size` may have changed."""
        return self._points.read(self.size if size is None else size)

    def reserve(self, capacity: int) -> None:
        """Make room, at least doubling what there is."""
        if capacity <= self.capacity:
            return
        n_panels = max(-(-capacity // self.lanes), 2 * (self.capacity // self.lanes))
        old = self.norms, self.coef
        self._points = self._points.grown(n_panels * self.lanes)
        self.norms = np.zeros(n_panels * self.lanes, self.dtype)
        self.coef = np.zeros(n_panels * self.lanes)
        for new, values in zip((self.norms, self.coef), old, strict=True):
            new[: len(values)] = values

    def core_kernel(self, kernel: Kernel) -> CoreKernel:
        """Return the kernel for the core; a Python function gets to see these terms."""
        core = kernel.core()
        if not isinstance(kernel, KernelInPython):
            return core

        def row(x: NDArray[np.float64], size: int) -> NDArray[np.float64]:
            return kernel.row(x, self.points(size).astype(np.float64))

        return core._replace(function=row)
