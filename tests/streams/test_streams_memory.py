"""Files in blocks of rows: memory does not grow with the file, nor with the width of its rows."""

import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tools.files import COMPRESSED, join, write

from budgetsvm.streams import _blocks, read_blocks


def peak(blocks) -> int:
    """Walk through all blocks; return the largest memory in use, in bytes."""
    tracemalloc.start()
    try:
        for _ in blocks:
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".libsvm", ".libsvm.gz", ".csv"])
def test_memory_does_not_grow_with_the_file(tmp_path, suffix):
    # Long lines: the text outweighs what is always there, such as buffers.
    if suffix == ".csv":
        row = b"1,0.25" + 200 * b"0" + b"\n"
    else:
        row = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 51)) + b"\n"
    options = {"target": 0} if suffix == ".csv" else {}
    compress = COMPRESSED.get(Path(suffix).suffix, bytes)
    peaks = []
    for n_rows in (8_000, 32_000):
        path = write(tmp_path / f"{n_rows}{suffix}", compress(n_rows * row))
        peaks.append(peak(read_blocks(path, rows=500, **options)))
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 0.5 * n_rows * len(row)
    # The measure sees what blocks save.
    assert peak(read_blocks(path, rows=n_rows, **options)) > n_rows * len(row)


_WIDE = 1 << 19


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", [0, -1, 7, False])
@pytest.mark.parametrize(
    "line",
    [
        b"1" + b",2" * (_WIDE // 2),
        b"1" + b",22" * (_WIDE // 3),
        b"red" + b",2" * (_WIDE // 2),
        b"1" + b"," * _WIDE,
        b"1" + b",2" * (_WIDE // 2) + b",x",
        b"1" + b",2" * (_WIDE // 2) + b"\n1,2",
    ],
)
def test_the_columns_of_a_wide_line_take_little_more_than_their_numbers(tmp_path, line, target):
    path = write(tmp_path / "wide.csv", line + b"\n")

    def blocks():
        with suppress(ValueError):  # some are refused
            yield from read_blocks(path, target=target)

    # A number of two characters is one of eight bytes, twice; and NumPy takes as much for its place in the line.
    assert peak(blocks()) < 30 * len(line) + 1_000_000


def test_wide_rows_make_small_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 800)
    wide = "1 " + " ".join(f"{i}:1" for i in range(1, 101)) + "\n"  # some 500 bytes
    path = write(tmp_path / "wide", 5 * wide + "#" + 5000 * " " + "\n" + wide)
    assert [len(y) for _, y in read_blocks(path)] == [2, 2, 1, 1]
    assert join(read_blocks(path))[0].sum() == 600


def test_wide_tables_make_small_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 800)
    row = ",".join(["1.25"] * 100) + "\n"  # 500 bytes of text
    path = write(tmp_path / "wide.csv", 5 * row)
    assert [len(y) for _, y in read_blocks(path, target=0)] == [2, 2, 1]
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "wide.parquet"
    parquet.write_table(pa.table({f"c{i}": np.ones(5) for i in range(50)}), path)
    assert [len(y) for _, y in read_blocks(path, target=0)] == [2, 2, 1]  # of 400 bytes a row


def test_memory_does_not_grow_with_a_row_group(tmp_path):
    """A Parquet file may be a single group of rows; pyarrow's own memory counts, too."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = np.random.default_rng(0).normal(size=(300_000, 8))
    path = tmp_path / "one.parquet"
    table = pa.table({f"c{i}": column for i, column in enumerate(values.T)})
    parquet.write_table(table, path, row_group_size=len(values), use_dictionary=False)
    del table
    pool, most = pa.default_memory_pool(), 0
    before = pool.bytes_allocated()
    for _ in read_blocks(path, target=0, rows=1000):
        most = max(most, pool.bytes_allocated() - before)
    share = 0.3 if int(pa.__version__.partition(".")[0]) >= 23 else 0.5  # older ones hold more
    assert 0 < most < share * values.nbytes
    assert peak(read_blocks(path, target=0, rows=1000)) < 0.05 * values.nbytes


def test_dense_text_goes_straight_into_a_dense_array(tmp_path):
    """Not through sparse rows, which would take as much again and more."""
    row = b"1 " + b" ".join(b"%d:0.125" % i for i in range(1, 41)) + b"\n"
    path = write(tmp_path / "dense", 60_000 * row)  # some 20 MB
    tracemalloc.start()
    X, _ = read_blocks(path).whole()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(X, np.ndarray)
    pieces = 4 * (1 << 22)  # two threads have one each: its text, and numbers of about that size
    assert most < 1.3 * X.nbytes + 2 * pieces
