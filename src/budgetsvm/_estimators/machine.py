"""What all estimators share beside training: the fitted model, and how data are checked."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from budgetsvm._estimators.parameters import MachineParameters
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.rows import as_rows
from budgetsvm._problem.targets import Outputs


class FittedMachine(MachineParameters):
    """A machine with a model. Subclasses encode the targets."""

    _expansion: KernelExpansion

    # ---- the fitted model ----

    @property
    def support_vectors_(self) -> NDArray[np.float64]:
        """The points z_j, in the coordinates of the data."""
        return self._fitted().original_points()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients β, one row per output."""
        return self._fitted().coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of every output; zero unless `fit_intercept`."""
        return self._fitted().bias

    def _fitted(self) -> KernelExpansion:
        if not hasattr(self, "_expansion"):
            message = f"this {type(self).__name__} is not fitted yet"
            raise AttributeError(message)
        return self._expansion

    # ---- data ----

    @abstractmethod
    def _outputs(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Outputs:
        """Return what rows with these targets, encoded by the subclass, and weights ask for."""

    def _validate(self, X: Any, *y: Any, reset: bool, **checks: Any) -> Any:
        """Check the data as scikit-learn does; dtypes and memory order stay what they are."""
        checks |= {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        checked = validate_data(self, X, *y, reset=reset, **checks)
        return (as_rows(checked[0]), checked[1]) if y else as_rows(checked)

    @abstractmethod
    def _encode(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Check new data; returns rows, encoded targets and weights, without rows of no weight."""
