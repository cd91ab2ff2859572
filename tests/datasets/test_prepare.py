"""Rows are split and scaled in the same way always, with honest notes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tools.files import libsvm_text, write

from budgetsvm import datasets


def test_scaling_goes_by_the_training_rows(folder: Path, rows: Any) -> None:
    X, X_test = rows[0][:40], rows[0][40:]
    low, high = X.min(axis=0), X.max(axis=0)
    data = datasets.load("cod-rna", folder=folder)  # to its range by default
    np.testing.assert_allclose(data.X, (X - low) / (high - low))
    np.testing.assert_allclose(data.X_test, (X_test - low) / (high - low))
    assert data.notes["scaling"] == "range"
    data = datasets.load("cod-rna", folder=folder, scaling="standard")
    np.testing.assert_allclose(data.X_test, (X_test - X.mean(axis=0)) / X.std(axis=0))
    assert data.notes["scaling"] == "standard"


def test_constant_features_are_not_divided_by_nothing(folder: Path) -> None:
    write(folder / "cod-rna", "1 1:1 2:5\n-1 1:2 2:5\n")
    for scaling in ("range", "standard"):
        data = datasets.load("cod-rna", folder=folder, scaling=scaling, form="dense")  # type: ignore[arg-type]
        assert np.isfinite(data.X).all()
        assert_array_equal(data.X[:, 1:], 0)


def test_the_split_is_always_the_same(tmp_path: Path) -> None:
    X = np.arange(1.0, 101)[:, np.newaxis]
    write(tmp_path / "mushrooms", libsvm_text(X, np.arange(100)))
    data = datasets.load("mushrooms", folder=tmp_path, form="dense")
    again = datasets.load("mushrooms", folder=tmp_path, form="dense")
    assert_array_equal(again.X, data.X)
    assert_array_equal(data.X[:, 0], data.y + 1)
    assert len(data.y_test) == 20
    order = np.random.default_rng(0).permutation(100)
    assert_array_equal(data.y_test, order[:20])
    assert_array_equal(data.y, order[20:])
    assert "default_rng(0)" in data.notes["split"]


def test_susy_is_tested_on_its_last_rows(tmp_path: Path, rows: Any) -> None:
    write(tmp_path / "SUSY", libsvm_text(*rows))
    data = datasets.load("susy", folder=tmp_path, scaling="none")
    assert_array_equal(data.X_test[:, :8], rows[0][45:])
    assert_array_equal(data.y, rows[1][:45])
    assert data.notes["split"].endswith("the last tenth of the rows")
    assert data.notes["subset"] == "SUSY: 50 rows, where SUSY has 5,000,000"


def test_a_subset_is_named_as_such(tmp_path: Path, rows: Any) -> None:
    write(tmp_path / "SUSY.subset41k", libsvm_text(*rows))
    with pytest.warns(
        UserWarning, match=r"SUSY\.subset41k stands in for SUSY: 40,924 of 5,000,000"
    ):
        data = datasets.load("susy", folder=tmp_path)
    assert data.name == "susy"
    assert data.notes["subset"] == "SUSY.subset41k: 50 rows, where SUSY has 5,000,000"
    assert (data.notes["rows"], data.notes["test_rows"]) == (40, 10)
    assert data.notes["scaling"] == "standard"
    with pytest.raises(FileNotFoundError, match="SUSY is not at hand"):
        datasets.load("susy", folder=tmp_path, allow_subset=False, download=False)
    write(tmp_path / "SUSY", libsvm_text(*rows))
    assert "SUSY.subset41k" not in str(datasets.load("susy", folder=tmp_path).notes)


def test_forms(folder: Path, adult: Path) -> None:
    wide = datasets.load("adult", folder=adult)
    for X in (wide.X, wide.X_test):
        assert isinstance(X, sparse.csr_array)
        assert X.dtype == np.float64
        assert X.indices.dtype == X.indptr.dtype == np.int32  # what the core reads in place
    dense = datasets.load("adult", folder=adult, form="dense")
    assert isinstance(dense.X, np.ndarray)
    assert_array_equal(dense.X, wide.X.toarray())
    assert isinstance(datasets.load("cod-rna", folder=folder).X, np.ndarray)
    assert sparse.issparse(datasets.load("cod-rna", folder=folder, form="sparse").X_test)


def test_notes(adult: Path) -> None:
    notes = datasets.load("adult", folder=adult).notes
    assert json.loads(json.dumps(notes)) == notes
    assert notes["verified"] is False  # these are not the rows of a9a
    assert notes["subset"] == (
        "a9a: 2 rows, where a9a has 32,561; a9a.t: 1 rows, where a9a.t has 16,281"
    )
    assert (notes["rows"], notes["test_rows"], notes["features"]) == (2, 1, 123)
    assert str(adult) not in json.dumps(notes)
