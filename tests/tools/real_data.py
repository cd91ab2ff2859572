"""Data sets in the folder that BUDGETSVM_DATA names; tests that need others are skipped."""

import lzma
import os
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_svmlight_file


def load(name: str, n_features: int) -> Any:
    """Rows, sparse, and labels."""
    folder = os.environ.get("BUDGETSVM_DATA")
    if not folder:
        pytest.skip("BUDGETSVM_DATA is not set: no real data to test on")
    path = Path(folder) / f"{name}.xz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the folder BUDGETSVM_DATA")
    with lzma.open(path) as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    return X, y
