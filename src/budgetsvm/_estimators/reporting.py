"""Estimators that write a page about themselves."""

import os
from typing import Any


class Reports:
    """What all estimators that predict have in common."""

    def report(self, X: Any, y: Any, path: str | os.PathLike[str]) -> None:
        """Write all there is to say about the fitted estimator as one page of HTML; see :func:`budgetsvm.report`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, best those that took no part in training.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or None
            What is to be predicted for them. A one-class machine needs none, or labels 1 and -1.
        path : str or path-like
            The file, by custom with the suffix ``.html``.
        """
        from budgetsvm import report  # which knows all estimators

        report(self, X, y, path)
