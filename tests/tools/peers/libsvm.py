"""LIBSVM itself, by the package libsvm-official: models of its own, and what it says of others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

KERNELS = {
    "linear": "-t 0",
    "poly": "-t 1 -d 2 -g 0.5 -r 1",
    "rbf": "-t 2 -g 0.7",
    "sigmoid": "-t 3 -g 0.1 -r -0.5",
}


def _svmutil() -> Any:
    return pytest.importorskip("libsvm.svmutil")


def train(path: Path, X: Any, y: Any, options: str) -> Path:
    """Train by LIBSVM, and write the model to a file."""
    util = _svmutil()
    util.svm_save_model(str(path), util.svm_train(y, X, f"-q {options}"))
    return path


def predict(path: Path, X: Any, options: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return the labels, and the decision values or probabilities, that LIBSVM has for rows."""
    util = _svmutil()
    model = util.svm_load_model(str(path))
    assert model is not None
    labels, _, values = util.svm_predict(np.zeros(len(X)), X, model, f"-q {options}")
    return np.array(labels), np.array(values)


def two_classes(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of labels -1 and 1, the first row's being 1; one of their features is often zero."""
    X, y = make_moons(n, noise=0.2, random_state=0)
    X = np.column_stack([X, np.where(X[:, 0] > 0.5, X[:, 1], 0), np.zeros(n)])
    y = np.where(y == y[0], 1, -1)
    return X, y


def classes(count: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of several classes that overlap, in no order, of labels with gaps between them."""
    X, y = make_blobs(n, 3, centers=count, cluster_std=4.0, random_state=1)
    return X / 5, np.array([7, -2, 30, 4, 11, 0])[y]
