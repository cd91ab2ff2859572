"""The text of LIBSVM files: what exists in the wild, and numbers as Python reads them."""

import io
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from budgetsvm import _core
from budgetsvm.streams._libsvm.flaws import find_flaw
from budgetsvm.streams._libsvm.parse import Parsed, parse

LARGEST = 2**31 - 1


def dense(found: Parsed, n_features: int = 6) -> np.ndarray:
    assert found.fault is None
    return found.matrix(n_features).toarray()


WILD = {
    "no end of the last line": b"1 2:3",
    "Windows": b"1 2:3\r\n",
    "plus signs": b"+1 2:+3\n",
    "labels with points": b"1.0 2:3.\n",
    "no zero before the point": b"1 2:3 4:.5\n",
    "exponents": b"1e0 2:30E-1\n",
    "blanks": b" \t 1  \t2:3 \n",
    "comments": b"# a\n1 2:3 # 5:7 b\n   # c",
    "a comment without a blank": b"1 2:3# 5:7",
    "empty lines": b"\n\r\n  \n1 2:3\n\n",
    "a query": b"1 qid:17 2:3\n",
    "zeros in front": b"001 02:003\n",
    "a byte order mark": b"\xef\xbb\xbf1 2:3\n",
    "files with byte order marks, joined": b"\xef\xbb\xbf# a\n\xef\xbb\xbf1 2:3\n",
}


@pytest.mark.parametrize("kind", WILD)
def test_what_exists_in_the_wild(kind: str) -> None:
    found = parse(WILD[kind], 1, LARGEST)
    assert_array_equal(found.y, [1])
    assert_array_equal(dense(found)[:, :3], [[0, 3, 0]])
    assert (found.least, found.starts[-1]) == (2, len(found.values))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (b"a 1:1", 0),
        (b"1 2:3\n\n 1 a:1", 10),
        (b"1 2", 2),
        (b"1 2:", 2),
        (b"1 :2", 2),
        (b"1 2:3x", 2),
        (b"1 2:0x10", 2),
        (b"1 2:1e", 2),
        (b"1 2:1_0", 2),
        (b"1 2:1e999", 2),
        (b"1 2:--1", 2),
        (b"1 2:.", 2),
        (b"1 2:nan", 2),
        (b"1 2:infinity", 2),
        (b"1 2:3 2:4", 6),
        (b"1 2:3 1:4", 6),
        (b"1 -1:4", 2),
        (b"1 +1:4", 2),
        (b"1 0:4", 2),
        (b"1 7:4", 2),
        (b"1 2147483648:4", 2),
        (b"1 18446744073709551617:4", 2),
        (b"1 2:3 qid:4", 6),
        (b"1 qid:a", 2),
        (b"1 qid:", 2),
        (b"1,2 2:3", 0),
        (b"1\x00 2:3", 0),
        (b"1 2:3\x00", 2),
    ],
)
def test_where_the_fault_is(text: bytes, at: int) -> None:
    before = b"5 1:1 6:1\n"
    found = parse(before + text + b"\n1 1:1\n", 1, 6)
    assert found.fault == len(before) + at
    assert_array_equal(found.matrix(6).toarray()[:1], [[1, 0, 0, 0, 0, 1]])
    assert len(found) == 1 + text.startswith(b"1 2:3\n")


def spellings(rng: random.Random) -> Sequence[str]:
    """Return numbers of all sizes and lengths."""
    digits = "".join(rng.choices("0123456789", k=rng.randint(1, 30)))
    point = rng.randint(0, len(digits))
    plain = f"{digits[:point]}.{digits[point:]}"
    return [
        plain,
        f"{plain}e{rng.randint(-340, 300)}",
        f"{'-' if rng.random() < 0.5 else '+'}{digits}E{rng.choice('+-')}{rng.randint(0, 30)}",
        repr(rng.uniform(-1, 1)),
        f"{rng.gauss(0, 1):.{rng.randint(1, 20)}g}",
        f"{'0' * rng.randint(0, 25)}.{'0' * rng.randint(0, 25)}{digits}",
        repr(math.ldexp(rng.random(), rng.randint(-1080, 1000))),
    ]


def test_numbers_are_those_that_python_reads() -> None:
    rng = random.Random(0)
    words = [word for _ in range(3000) for word in spellings(rng)]
    words = [word for word in words if math.isfinite(float(word))]
    found = parse("\n".join(f"{word} 1:{word}" for word in words).encode(), 1, 1)
    expected = np.array([float(word) for word in words])
    assert_array_equal(found.y, expected)
    assert_array_equal(found.values, expected)
    assert_array_equal(np.signbit(found.y), np.signbit(expected))


@pytest.mark.parametrize("zero_based", [False, True])
def test_the_same_as_scikit_learn(zero_based: bool) -> None:
    X = sparse.random_array((200, 30), density=0.2, rng=np.random.default_rng(1), format="lil")
    X[0, 29] = 1.5
    X = X.tocsr()
    y = np.arange(200.0)
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based, comment="words")
    expected, labels = load_svmlight_file(io.BytesIO(file.getvalue()), zero_based=zero_based)
    text, first = file.getvalue(), 1 - zero_based
    found = parse(text, first, 30)
    assert_array_equal(found.y, labels)
    assert_array_equal(found.matrix(30).toarray(), expected.toarray())
    assert found.matrix(30).has_sorted_indices


def test_there_is_never_more_than_there_is_room_for() -> None:
    """A file may change while it is read: sizes counted before may be wrong."""
    text = np.frombuffer(b"1 1:1 2:2\n2 1:1\n3 2:1\n", np.uint8)
    arrays = np.empty(9), np.empty(10, np.int64), np.empty(9, np.int32), np.empty(9)
    assert _core.read_libsvm(text, 1, 2, *arrays)[::4] == (3, -1)
    for lengths in [(2, 10, 9, 9), (9, 3, 9, 9), (9, 10, 3, 9), (9, 10, 9, 3)]:
        short = [array[:length] for array, length in zip(arrays, lengths, strict=True)]
        assert _core.read_libsvm(text, 1, 2, *short)[0] == 2
        assert _core.read_libsvm(text, 1, 2, *short)[4] in {16, 18}
    with pytest.raises(ValueError, match="no room for where rows start"):
        _core.read_libsvm(text, 1, 2, arrays[0], arrays[1][:0], *arrays[2:])
    with pytest.raises(ValueError, match="count from 0 or 1"):
        _core.read_libsvm(text, 2, 2, *arrays)
    with pytest.raises(ValueError, match="number of features is out of range"):
        _core.read_libsvm(text, 1, -1, *arrays)


@pytest.mark.slow
def test_mutations_are_read_or_refused() -> None:
    """Whatever stands there: rows before the fault are whole, and indices in range."""
    rng = np.random.default_rng(0)
    text = np.frombuffer(b"1 1:.5 3:-2e-1 # c\r\n-1 qid:3 2:1\n\n+2.5 6:1.25e1\n" * 3, np.uint8)
    alphabet = np.frombuffer(b"0123456789.:+-eE# \t\r\nqid\x00\xff", np.uint8)
    faults = 0
    for _ in range(20_000):
        mutated = text.copy()
        places = rng.integers(len(text), size=rng.integers(1, 6))
        mutated[places] = rng.choice(alphabet, len(places))
        found = parse(mutated[: rng.integers(len(text) + 1)].tobytes(), 1, 6)
        faults += found.fault is not None
        X = found.matrix(6)
        X.check_format()
        assert np.isfinite(np.append(X.data, found.y)).all()
        ascending = sparse.csr_array((X.data, X.indices, X.indptr), X.shape)
        assert ascending.has_canonical_format  # which is looked at anew
    assert 5_000 < faults < 20_000


def test_numbers_of_thousands_of_digits() -> None:
    """Which Python refuses to read as integers."""
    zeros, nines = "0" * 5000, "9" * 5000
    assert parse(f"1 {zeros}1:1\n".encode(), 1, 6).fault is None
    assert find_flaw(f"1 {nines}:1".encode(), 1, 6).endswith("the largest that can be read")
    assert "below 1" in find_flaw(f"1 -{nines}:1".encode(), 1, 6)
    assert "the one before is 1" in find_flaw(f"1 {zeros}1:1 1:2".encode(), 1, 6)
    assert "not a finite number" in find_flaw(f"{nines} 1:1".encode(), 1, 6)
