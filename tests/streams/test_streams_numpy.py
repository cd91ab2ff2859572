"""Rows of NumPy's files: the same as np.load has, in blocks; and what is refused before it is allocated."""

import io
import pickle
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tools.files import join, write

from budgetsvm.streams import read_blocks

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((57, 5)), RNG.integers(3, size=57)


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f8", "f2", "i4", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed, np.save])
def test_the_same_as_numpy(tmp_path: Path, dtype: str, order: str, save: Any) -> None:
    rows = np.asarray(abs(X) * 40, dtype=dtype, order=order)
    if save is np.save:
        path, options = tmp_path / "a.npy", {"y": tmp_path / "y.npy"}
        np.save(path, rows)
        np.save(options["y"], Y)
    else:
        path, options = tmp_path / "a.npz", {}
        save(path, X=rows, y=Y)
    for size in (1, 10, 57, 100):
        blocks = read_blocks(path, rows=size, **options)
        found, labels = join(blocks)
        assert [len(y) for _, y in blocks][:-1] == [size] * ((57 - 1) // size)
        assert_array_equal(found, rows)
        assert_array_equal(labels, Y)
        assert found.dtype == (np.float32 if dtype == "f4" else np.float64)
        assert labels.dtype == np.float64
        assert blocks.n_features == 5
    whole, labels = read_blocks(path, **options).whole()
    assert_array_equal(whole, rows)
    assert_array_equal(labels, Y)
    whole[0, 0] = 7  # it can be written to


def test_a_column_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.column_stack([Y, X]))
    found, labels = join(read_blocks(path, target=0, rows=8))
    assert_array_equal(found, X)
    assert_array_equal(labels, Y)
    np.save(path, np.column_stack([X, Y]))
    assert_array_equal(read_blocks(path, target=-1).whole()[1], Y)
    np.savez(tmp_path / "a.npz", X=np.column_stack([X, Y]))
    assert_array_equal(read_blocks(tmp_path / "a.npz", target=5).whole()[0], X)


@pytest.mark.parametrize("kind", ["U", "S"])
def test_labels_that_are_words(tmp_path: Path, kind: str) -> None:
    words = np.array(["yes", "no", "perhaps"])[Y].astype(kind)
    np.savez(tmp_path / "a.npz", X=X, answer=words)
    found = join(read_blocks(tmp_path / "a.npz", target="answer", rows=9))[1]
    assert_array_equal(found, words.astype(str))


def test_no_labels(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", X[:7])
    blocks = read_blocks([tmp_path / "a.npy", tmp_path / "b.npy"], rows=10)
    assert [y for _, y in blocks] == [None] * 7
    assert_array_equal(np.concatenate([rows for rows, _ in blocks]), np.concatenate([X, X[:7]]))
    assert blocks.whole()[1] is None


@pytest.mark.parametrize("compressed", [True, False])
def test_sparse_rows(tmp_path: Path, compressed: bool) -> None:
    rows = sparse.random_array((57, 30), density=0.1, rng=RNG, format="csr")
    path = tmp_path / "a.npz"
    sparse.save_npz(path, rows, compressed=compressed)
    np.save(tmp_path / "y.npy", np.tile(Y, 2)[:, np.newaxis])
    blocks = read_blocks([path, path], y=tmp_path / "y.npy", rows=25)
    assert [block.shape for block, _ in blocks] == [(25, 30)] * 4 + [(14, 30)]
    assert all(sparse.issparse(block) and block.has_canonical_format for block, _ in blocks)
    found, labels = join(blocks)
    assert_array_equal(found, np.tile(rows.toarray(), (2, 1)))
    assert_array_equal(labels, np.tile(Y, 2))
    assert_array_equal(read_blocks(path).whole()[0].toarray(), rows.toarray())


def test_known_by_its_first_bytes(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    for name in ("data", "data.dat", "data.libsvm"):
        path = (tmp_path / "a.npz").rename(tmp_path / name)
        assert_array_equal(read_blocks(path).whole()[1], Y)
        path.rename(tmp_path / "a.npz")


def test_blocks_of_wide_rows_are_small(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((40, 1 << 19)))
    tracemalloc.start()
    assert max(len(rows) for rows, _ in read_blocks(tmp_path / "a.npy")) == 3
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 60e6  # of 168


def header(text: str, numbers: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + numbers


def described(shape: str, descr: str = "'<f8'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(described("(1000000000, 1000)")), "1000000000 × 1000 numbers of 8 bytes does not"),
        (header(described("(0, 5)")), "holds no rows"),
        (header(described("(5, 0)")), "must be a table"),
        (header(described(f"({10**18}, 0)")), "must be a table"),
        (header(described("(8,)"), bytes(64)), r"must be a table.*is 8"),
        (header(described("()"), bytes(8)), "a single number"),
        (header(described("(2, 2, 2)"), bytes(64)), "2 × 2 × 2"),
        (header(described("(-1, 2)")), "header makes no sense"),
        (header(described("(True, 2)")), "header makes no sense"),
        (header(described("(2.0, 2)")), "header makes no sense"),
        (header(described("[2, 2]")), "header makes no sense"),
        (header("(" * 9000), "header makes no sense"),
        (header("__import__('os').abort()"), "header makes no sense"),
        (header(described("(2, 2)", "'|O'"), bytes(32)), "Python objects.*never opened"),
        (header(described("(2, 2)", "[('a', '<f8')]"), bytes(32)), "real numbers, or strings"),
        (header(described("(2, 2)", "'<c16'"), bytes(64)), "real numbers, or strings"),
        (header(described("(2, 2)", "'<U999999'")), "does not fit"),
        (header(described("(2, 2)", "'<U999999999'")), "real numbers, or strings"),
        (header(described("(2, 2)", "'<U2'"), bytes(32)), "must hold numbers"),
        (header(described("(2, 2)"), bytes(31)), "damaged, cut off"),
        (header(described("(2, 2)"), bytes(33)), "more than one array"),
        (b"\x93NUMPY", "damaged"),
        (b"\x93NUMPY\x07\x00", "version of the format, 7"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "its header has 4294967295 bytes"),
        (npy(np.array([[1.0, np.nan], [3, 4]])), "row 1, column 1: nan is not finite"),
        (npy(np.array([[1.0, 2.0], [-np.inf, 4]])), "row 2, column 0: -inf is not finite"),
        (npy(np.array([[{}]]), allow_pickle=True), "never opened"),
        (pickle.dumps(X), "not an array of NumPy|cannot be read as a file of NumPy"),
        (b"", "cannot be read as a file of NumPy"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path / "a.npy", content)
    tracemalloc.start()
    with pytest.raises((ValueError, OSError), match=message) as error:
        list(read_blocks(path))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(path) in str(error.value)
    assert most < 4e6


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        ({"a": X, "b": Y}, {}, "rows in an array X, and labels in y.*'a', 'b'"),
        ({"X": X, "y": Y[:5]}, {}, "one for each of the 57 rows"),
        ({"X": X, "y": X}, {}, "one column of labels"),
        ({"X": X, "y": Y}, {"target": "z"}, "no array 'z'"),
        ({"X": X, "y": Y}, {"target": "X"}, "no array 'X' for labels"),
        ({"X": X}, {"target": 5}, "no column 5"),
        ({"X": X[:, :1]}, {"target": 0}, "besides features; it has 1 columns"),
        ({"X": X, "y": Y}, {"n_features": 4}, "5 feature columns, not n_features=4"),
        ({"X": X, "y": np.where(Y == 1, np.nan, 1)}, {}, "the label nan is not finite"),
        ({"X": X, "y": Y}, {"header": True}, "header=True is for csv files, and these are numpy"),
    ],
)
def test_what_an_archive_must_have(tmp_path: Path, arrays: Any, options: Any, message: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        list(read_blocks(tmp_path / "a.npz", **options))


def test_labels_of_another_length(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    for length, message in (
        (56, "56 labels, and there are more rows"),
        (58, "58 labels, and there are 57 rows"),
    ):
        np.save(tmp_path / "y.npy", np.zeros(length))
        with pytest.raises(ValueError, match=message):
            list(read_blocks(tmp_path / "a.npy", y=tmp_path / "y.npy"))
    with pytest.raises(ValueError, match="leave one of them out"):
        read_blocks(tmp_path / "a.npy", y=tmp_path / "y.npy", target=0)
    with pytest.raises(TypeError, match="target must be the name of an array"):
        read_blocks(tmp_path / "a.npy", target=True)
    np.savez(tmp_path / "y.npz", y=Y)
    with pytest.raises(ValueError, match=r"must be a \.npy file with one array"):
        list(read_blocks(tmp_path / "a.npy", y=tmp_path / "y.npz"))


def sparse_archive(path: Path, **different: Any) -> Path:
    rows = sparse.csr_array(np.eye(4))
    good = {
        "format": np.array(b"csr"),
        "shape": np.array([4, 4]),
        "data": rows.data,
        "indices": rows.indices,
        "indptr": rows.indptr,
    }
    np.savez(path, **(good | different))
    return path


@pytest.mark.parametrize(
    ("different", "message"),
    [
        ({"format": np.array(b"csc")}, r"X.tocsr\(\)\), and this one is 'csc'"),
        ({"shape": np.array([4])}, "'shape'"),
        ({"shape": np.array([2**60, 4])}, "do not make a matrix"),
        ({"shape": np.array([4, 2**40])}, "1099511627776 features"),
        ({"shape": np.array([4, 3])}, "do not make a matrix"),
        ({"indices": np.array([0, 1, -2, 3])}, "do not make a matrix"),
        ({"indices": np.array([0, 1, 2.5, 3])}, "not those of a sparse matrix"),
        ({"indptr": np.array([0, 3, 1, 3, 4])}, "do not make a matrix"),
        ({"indptr": np.array([0, 1, 2, 3, 9])}, "do not make a matrix"),
        ({"data": np.array([1, 2, np.nan, 4])}, "row 3, column 2: nan is not finite"),
        ({"data": np.ones((2, 2))}, "not those of a sparse matrix"),
    ],
)
def test_broken_sparse_rows(tmp_path: Path, different: Any, message: str) -> None:
    read_blocks(sparse_archive(tmp_path / "good.npz")).whole()
    path = sparse_archive(tmp_path / "a.npz", **different)
    with pytest.raises(ValueError, match=message):
        read_blocks(path).whole()


def test_damage_is_noticed(tmp_path: Path) -> None:
    """An archive has checksums."""
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[500] ^= 1
    path = write(tmp_path / "a.npz", bytes(content))
    with pytest.raises(OSError, match="damaged or cut off: Bad CRC"):
        read_blocks(path).whole()
    write(path, bytes(content[:-40]))
    with pytest.raises(OSError, match="damaged or cut off"):
        read_blocks(path)


def test_an_archive_may_not_grow_beyond_what_it_holds(tmp_path: Path) -> None:
    """The header promises more than there is, and the archive agrees."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header(described("(1000000000, 10)"), bytes(800)))
    content = path.read_bytes()
    size = len(header(described("(1000000000, 10)"), bytes(800)))
    lie = (len(header(described("(1000000000, 10)"))) + 800).to_bytes(4, "little")
    assert content.count(lie) >= 2
    promised = min(size + 10**9, 2**32 - 2).to_bytes(4, "little")
    write(path, content.replace(lie, promised))
    tracemalloc.start()
    with pytest.raises((OSError, ValueError)):
        read_blocks(path).whole()
    assert tracemalloc.get_traced_memory()[1] < 4e6
    tracemalloc.stop()
