"""The real files, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest

from budgetsvm import datasets

DATA = os.environ.get("BUDGETSVM_DATA", "")

needs_data = pytest.mark.skipif(not Path(DATA).is_dir() or not DATA, reason="needs BUDGETSVM_DATA")

#: Rows for training, rows for testing, features, and whether the checksums are known.
REAL = {
    "adult": (32_561, 16_281, 123, True),
    "ijcnn": (49_990, 91_701, 22, True),
    "cod-rna": (59_535, 271_617, 8, True),
    "mushrooms": (6_499, 1_625, 112, True),
    "letter": (15_000, 5_000, 16, True),
    "pendigits": (7_494, 3_498, 16, True),
    "satimage": (4_435, 2_000, 36, True),
    "abalone": (3_342, 835, 8, True),
    "cadata": (16_512, 4_128, 8, None),
    "cpusmall": (6_554, 1_638, 12, None),
}


def load_real(name: str) -> datasets.Dataset:
    try:
        return datasets.load(name, folder=DATA, download=False)
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.sampled(4)
@needs_data
@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_real_data(name: str) -> None:
    data = load_real(name)
    n, n_test, n_features, verified = REAL[name]
    assert data.X.shape == (n, n_features)
    assert data.X_test.shape == (n_test, n_features)
    assert data.y.shape == (n,)
    assert data.y_test.shape == (n_test,)
    assert data.notes["verified"] is verified
    assert data.notes["subset"] is None


@needs_data
@pytest.mark.data
@pytest.mark.slow
def test_real_covtype() -> None:
    data = load_real("covtype")
    assert data.X.shape == (464_810, 54)
    assert data.X.min() == 0
    assert data.X.max() == 1
    assert set(data.y) == {1, 2}


@needs_data
@pytest.mark.data
@pytest.mark.filterwarnings("ignore:SUSY.subset41k stands in")
def test_real_susy() -> None:
    data = load_real("susy")
    if data.notes["subset"] is not None:
        assert (len(data.y), len(data.y_test)) == (32_739, 8_185)
        assert "SUSY.subset41k" in data.notes["subset"]
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-6)
