"""Fitted attributes under the names that they have in scikit-learn's SVC, SVR and OneClassSVM.

What a machine does not have raises an AttributeError that says what to use instead: so ``hasattr`` is right.
"""

from copy import copy
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from budgetsvm._estimators.user_input import MachineParameters
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.points import Points
from budgetsvm.kernels import Linear, Precomputed

_Values = TypeVar("_Values")  # an array, or a csr_array


def without_effect(values: _Values) -> _Values:
    """Return numbers that cannot be changed: a model would take no note of it, or of a part of it alone."""
    few, given = sparse.issparse(values), cast("Any", values)
    seen = copy(given) if few else given.view()
    if few:
        seen.data = seen.data.view()
    (seen.data if few else seen).flags.writeable = False
    return cast("_Values", seen)


class FamiliarAttributes(MachineParameters):
    """The attributes of a trained machine."""

    _expansion: KernelExpansion
    _rows_seen: int
    _support: NDArray[
        np.int64
    ]  # numbers of the training rows that are terms; not there after merging

    @property
    def support_vectors_(self) -> Points:
        """The points z_j, in the coordinates of the data; a sparse array where the model's are sparse."""
        model = self._fitted()
        if isinstance(model.kernel, Precomputed):
            message = "rows that are given by kernel values have no coordinates: support_ has their numbers"
            raise AttributeError(message)
        return without_effect(model.original_points())

    @property
    def support_(self) -> NDArray[np.int64]:
        """The numbers of the training rows that are terms, in the order of `support_vectors_`."""
        self._fitted()
        if not hasattr(self, "_support"):
            message = (
                "the terms of this model are not training rows: merging has moved them, or they come from elsewhere. "
                "support_vectors_ has the points; maintenance='project' or 'remove', basis='random', or a budget "
                "that suffices, leave rows as they are"
            )
            raise AttributeError(message)
        return self._support

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many terms there are."""
        return np.array([len(self._fitted())], np.int32)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β, one row per output."""
        return without_effect(self._fitted().coef)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of every output; zero where there is none."""
        return without_effect(self._fitted().bias)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the features, of shape (n_outputs, n_features): of the linear kernel only."""
        kernel = self._fitted().kernel
        if not isinstance(kernel, Linear):
            message = (
                f"coef_ is only available when using a linear kernel, not {kernel!r}: a model is "
                "Σ_j β_j k(x, z_j) with the coefficients dual_coef_ and the points support_vectors_"
            )
            raise AttributeError(message)
        weights: NDArray[np.float64] = np.asarray(self.dual_coef_ @ self.support_vectors_)
        return without_effect(weights)

    @property
    def fit_status_(self) -> int:
        """0 if the fit has converged, else 1, after a warning; the same as ``not converged_``."""
        self._fitted()
        if not hasattr(self, "converged_"):
            message = (
                "without a polish (polish=False, partial_fit) nothing is known about convergence"
            )
            raise AttributeError(message)
        return int(not self.converged_)

    @property
    def shape_fit_(self) -> tuple[int, ...]:
        """Training rows of positive weight, all blocks of a stream together, and features, if there are any."""
        self._fitted()
        return self._rows_seen, *((self.n_features_in_,) if hasattr(self, "n_features_in_") else ())

    def _fitted(self) -> KernelExpansion:
        if not hasattr(self, "_expansion"):
            message = f"this {type(self).__name__} is not fitted yet"
            raise AttributeError(message)
        return self._expansion
