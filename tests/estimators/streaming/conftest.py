"""Data for streams of three classes."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs


@pytest.fixture(scope="module")
def blobs():
    X, codes = make_blobs(900, centers=3, cluster_std=1.2, random_state=2)
    return X, np.array(["x", "y", "z"])[codes]
