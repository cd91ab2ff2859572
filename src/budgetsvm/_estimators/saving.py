"""Estimators that write themselves to a file."""

import os
from typing import Any, Literal


class Saves:
    """What all estimators have in common."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, from which :func:`budgetsvm.load` makes it again.

        Parameters
        ----------
        path : str or path-like
            The file, by custom with the suffix ``.bsvm``. See :func:`budgetsvm.save`.
        """
        from budgetsvm import save  # which knows all estimators

        save(self, path)

    def to_c(
        self, *, name: str = "model", storage: Literal["float32", "float16", "int8"] = "float32"
    ) -> Any:
        """Return the fitted estimator as a header of C; see :func:`budgetsvm.to_c`.

        Parameters
        ----------
        name : str, default="model"
            What names in the header begin with.
        storage : {"float32", "float16", "int8"}, default="float32"
            The points of the terms.

        Returns
        -------
        header : CHeader
            With attributes text, n_bytes and distance.
        """
        from budgetsvm import to_c

        return to_c(self, name=name, storage=storage)
