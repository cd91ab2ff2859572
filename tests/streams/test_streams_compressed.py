"""Compressed files are read to their last byte, or refused."""

import bz2
import gzip
import lzma
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from budgetsvm.streams import read_blocks
from budgetsvm.streams._text import _zstandard

TEXT = b"".join(b"%d 1:%d\n" % (i % 2, i + 1) for i in range(3000))
COMPRESS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: _zstandard().compress(data),
}


@pytest.fixture(params=COMPRESS)
def suffix(request: pytest.FixtureRequest) -> str:
    if request.param == ".zst":
        try:
            _zstandard()
        except ImportError:
            pytest.skip("there is no library for Zstandard")
    return str(request.param)


def values(path: Path) -> list[float]:
    return [float(x) for X, _ in read_blocks(path, n_features=1) for x in X.toarray()[:, 0]]


@pytest.mark.parametrize("parts", [1, 2, 3, 50])
def test_all_streams_of_a_file(suffix: str, parts: int, tmp_path: Path) -> None:
    """As `cat a.xz b.xz` makes them, and pbzip2, pixz and zstd --rsyncable: lines may reach over their borders."""
    cuts = np.linspace(0, len(TEXT), parts + 1).astype(int)
    pieces = [TEXT[a:b] for a, b in pairwise(cuts)]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"".join(COMPRESS[suffix](piece) for piece in pieces))
    assert values(path) == list(range(1, 3001))


def test_empty_streams_and_padding(suffix: str, tmp_path: Path) -> None:
    whole, nothing, path = COMPRESS[suffix](TEXT), COMPRESS[suffix](b""), tmp_path / f"a{suffix}"
    path.write_bytes(nothing + whole + nothing)
    assert values(path) == list(range(1, 3001))
    if suffix == ".xz":  # padding is a part of the format
        path.write_bytes(whole + bytes(8) + whole + bytes(1 << 17))
        assert values(path) == 2 * list(range(1, 3001))


@pytest.mark.parametrize("more", [b"garbage", b"\n", b"B", b"BZh", b"\xfd7zX", b"x" * 200_000])
def test_other_bytes_behind_the_end(suffix: str, more: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    for streams in (1, 2):
        path.write_bytes(COMPRESS[suffix](TEXT) * streams + more)
        with pytest.raises(OSError, match=r"a\.\w+, after line \d+: the \w+ file is damaged"):
            values(path)


def test_a_second_stream_that_was_cut_off(suffix: str, tmp_path: Path) -> None:
    whole, path = COMPRESS[suffix](TEXT), tmp_path / f"a{suffix}"
    for size in (1, 5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + whole[:size])
        with pytest.raises(OSError, match="is damaged or cut off"):
            values(path)


def test_a_small_file_of_many_lines_takes_no_memory_at_once(suffix: str, tmp_path: Path) -> None:
    line = b"1 1:1 2:2 3:3\n"
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESS[suffix](line * 200_000))
    assert sum(len(y) for _, y in read_blocks(path, n_features=3)) == 200_000
