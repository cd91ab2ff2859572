"""Arrow files, of which Feather's are some: the same blocks as of Parquet files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetsvm.streams import read_blocks

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


@pytest.fixture
def table() -> Any:
    rng = np.random.default_rng(0)
    words = pa.array(["a", "b"] * 50).dictionary_encode()
    return pa.table({"x": rng.random(100), "n": rng.integers(9, size=100), "y": words})


def _write(table: Any, path: Path, **options: Any) -> Path:
    with pa.ipc.new_file(path, table.schema, **options) as file:
        file.write_table(table, max_chunksize=30)
    return path


def test_the_same_as_of_parquet_files(table: Any, tmp_path: Path) -> None:
    pq.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "b.feather")  # compressed by default
    _write(table, tmp_path / "c.arrow")
    _write(table, tmp_path / "without a name")
    expected = list(read_blocks(tmp_path / "a.parquet", target="y", rows=40))
    for name in ("b.feather", "c.arrow", "without a name"):
        found = list(read_blocks(tmp_path / name, target="y", rows=40))
        assert len(found) == len(expected)
        for (X, y), (other, labels) in zip(found, expected, strict=True):
            np.testing.assert_array_equal(X, other)
            np.testing.assert_array_equal(y, labels)


def test_files_that_are_cut_off_or_damaged_are_refused(table: Any, tmp_path: Path) -> None:
    good = _write(table, tmp_path / "good.arrow").read_bytes()
    path = tmp_path / "bad.arrow"
    rng = np.random.default_rng(0)
    for number in range(200):
        content = bytearray(good[: rng.integers(len(good))] if number % 2 else good)
        for place in rng.integers(len(content), size=3) if content else ():
            content[place] = rng.integers(256)
        path.write_bytes(content)
        try:
            read_blocks(path, target="y", format="arrow").whole()
        except (OSError, ValueError) as error:
            assert "bad.arrow" in str(error)  # noqa: PT017 - most are refused, not all
    path.write_bytes(b"ARROW1")
    with pytest.raises(OSError, match=r"bad\.arrow cannot be read as Parquet or Arrow"):
        read_blocks(path, target="y")
