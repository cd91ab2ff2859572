"""Surroundings of all tests of data sets: a cache of their own, small files, and nobody at the other end."""

from pathlib import Path

import numpy as np
import pytest
from tools.files import libsvm_text, write

from budgetsvm.datasets import _table_cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, and no data of the user; even tiny files are kept in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("BUDGETSVM_DATA", raising=False)
    monkeypatch.setenv("BUDGETSVM_DATA_URL", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 0)
    return tmp_path / "cache" / "budgetsvm" / "arrays"


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(3, 2, size=(50, 8)), rng.choice([-1, 1], 50)


@pytest.fixture
def folder(tmp_path: Path, rows: tuple[np.ndarray, np.ndarray]) -> Path:
    """A folder with small files under the names of cod-rna."""
    X, y = rows
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder / "cod-rna", libsvm_text(X[:40], y[:40]))
    write(folder / "cod-rna.t", libsvm_text(X[40:], y[40:]))
    return folder


@pytest.fixture
def adult(tmp_path: Path) -> Path:
    write(tmp_path / "a9a", "+1 3:1 11:1\n-1 5:1 7:1\n")
    write(tmp_path / "a9a.t", "-1 5:1\n")
    return tmp_path
