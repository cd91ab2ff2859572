"""Estimators that write themselves to a file."""

import os


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
