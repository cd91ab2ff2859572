"""Files are parsed once: in pieces, and kept until they change."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tools.files import libsvm_text, write

from budgetsvm import datasets
from budgetsvm.datasets import _table_cache, _tables
from budgetsvm.datasets._tables import parse_table


@pytest.mark.parametrize("density", [0.1, 0.5, 1.0])
def test_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, density: float) -> None:
    """A file that is read in pieces has the same rows, whichever form the first ones suggest."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 6)) < density, rng.normal(size=(300, 6)), 0)
    X[:20] = rng.normal(size=(20, 6)) * (density < 0.3)
    y = rng.normal(size=300).round(3)
    path = write(tmp_path / "file", libsvm_text(X, y) + "# the end\n")
    whole = parse_table(path, 6)
    monkeypatch.setattr(_tables, "_PIECE", 500)
    table = parse_table(path, 6)
    for found in (whole, table):
        assert_array_equal(found.X.toarray() if sparse.issparse(found.X) else found.X, X)
        assert_array_equal(found.y, y)
        assert found.features == 6
    assert table.sha256 == whole.sha256


def count_parsing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    parsed = []

    def parse(path: Path, n_features: int) -> Any:
        parsed.append(path.name)
        return parse_table(path, n_features)

    monkeypatch.setattr(_table_cache, "parse_table", parse)
    return parsed


def test_the_cache_is_used_until_the_file_changes(
    folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = count_parsing(monkeypatch)
    first = datasets.load("cod-rna", folder=folder)
    second = datasets.load("cod-rna", folder=folder)
    assert parsed == ["cod-rna", "cod-rna.t"]
    assert_array_equal(second.X, first.X)
    assert second.notes == first.notes
    path = folder / "cod-rna"
    path.write_bytes(path.read_bytes() + b"1 1:5\n")
    third = datasets.load("cod-rna", folder=folder)
    assert parsed == ["cod-rna", "cod-rna.t", "cod-rna"]
    assert third.X.shape == (41, 8)
    assert third.notes["files"][0]["sha256"] != first.notes["files"][0]["sha256"]
    assert len(list(own_cache.iterdir())) == 2  # the old arrays are gone


def test_the_same_name_in_another_folder(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("cod-rna", "cod-rna.t"):
        changed = (folder / name).read_bytes().replace(b"1:3", b"1:4")
        write(other / name, changed)
        stat = (folder / name).stat()
        os.utime(other / name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    data, changed_data = (datasets.load("cod-rna", folder=each) for each in (folder, other))
    assert not np.array_equal(data.X, changed_data.X)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip file"])
def test_a_damaged_cache_is_made_anew(folder: Path, own_cache: Path, damage: bytes) -> None:
    first = datasets.load("cod-rna", folder=folder)
    for path in own_cache.iterdir():
        path.write_bytes(damage)
    assert_array_equal(datasets.load("cod-rna", folder=folder).X, first.X)


def test_a_cache_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", no_space)
    assert datasets.load("cod-rna", folder=folder).X.shape == (40, 8)


def test_what_is_returned_may_be_changed(folder: Path) -> None:
    first = datasets.load("cod-rna", folder=folder, scaling="none")
    kept = first.X.copy()
    for data in (first, datasets.load("cod-rna", folder=folder, scaling="none")):
        assert_array_equal(data.X, kept)
        data.X[:] = 0
        data.y[:] = 0


def test_small_files_are_not_kept(
    folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 1 << 16)
    datasets.load("cod-rna", folder=folder)
    assert not list(own_cache.iterdir())


def _odd_arrays(path: Path, oddity: str) -> None:
    """Put something else into a cached file."""
    with np.load(path) as arrays:
        parts = dict(arrays)
    if oddity == "no archive":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
        return
    name = "X" if "X" in parts else "values"
    if oddity == "strings":
        parts[name] = parts[name].astype("U8")
    elif oddity == "fewer labels":
        parts["y"] = parts["y"][:-1]
    else:
        parts = {key: value for key, value in parts.items() if key not in ("X", "values")}
        own = {"values": np.ones(2), "indices": np.array([0, 99]), "starts": np.array([0, 1, 2])}
        parts |= {**own, "shape": np.array([2, 3]), "y": np.ones(2)}
    with path.open("wb") as file:
        np.savez(file, **parts)


@pytest.mark.parametrize("oddity", ["no archive", "strings", "fewer labels", "far columns"])
def test_what_somebody_else_put_there_is_parsed_anew(
    folder: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch, oddity: str
) -> None:
    monkeypatch.setattr(_table_cache, "_WORTH_KEEPING", 0)
    parsed = count_parsing(monkeypatch)
    first = datasets.load("cod-rna", folder=folder)
    kept = sorted(own_cache.rglob("*.npz"))
    assert kept
    for path in kept:
        _odd_arrays(path, oddity)
    second = datasets.load("cod-rna", folder=folder)
    assert len(parsed) == 4
    assert_array_equal(second.X, first.X)
