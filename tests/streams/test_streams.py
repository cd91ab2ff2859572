"""Files in blocks of rows: the same rows as read at once, in bounded memory, or a clear complaint."""

import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tools.files import COMPRESSED, join, write

from budgetsvm import BudgetSVC
from budgetsvm.streams import _text, read_blocks

ROWS, COLUMNS = 53, 9


@pytest.fixture
def libsvm(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((ROWS, COLUMNS)) < 0.3, rng.normal(size=(ROWS, COLUMNS)), 0)
    X[0, -1] = 0.125  # the last column is in use
    path = tmp_path / "some.libsvm"
    dump_svmlight_file(X, rng.choice([-1, 1], ROWS), str(path), zero_based=False)
    return path


@pytest.mark.parametrize("rows", [1, 2, 7, 26, 52, 53, 54, 8192])
def test_blocks_are_the_rows_of_the_file(libsvm, rows):
    X, y = load_svmlight_file(str(libsvm), zero_based=False)
    blocks = read_blocks(libsvm, rows=rows)
    sizes = [block.shape for block, _ in blocks]
    full, rest = divmod(ROWS, rows)
    assert sizes == [(rows, COLUMNS)] * full + [(rest, COLUMNS)] * (rest > 0)
    assert_array_equal(join(blocks)[0], X.toarray())
    assert_array_equal(join(blocks)[1], y)
    for block, labels in blocks:
        assert block.format == "csr"
        assert block.dtype == labels.dtype == np.float64
        assert block.indices.dtype == np.int32  # what the core reads in place
        parts = (block.data, block.indices, block.indptr)
        assert sparse.csr_array(parts, shape=block.shape).has_canonical_format


@pytest.mark.parametrize("suffix", COMPRESSED)
@pytest.mark.parametrize("renamed", [False, True])
def test_compression(libsvm, suffix, renamed):
    """The bytes tell how a file is compressed, also where its name does not."""
    name = "some" if renamed else f"some.libsvm{suffix}"
    path = write(libsvm.with_name(name), COMPRESSED[suffix](libsvm.read_bytes()))
    X, y = join(read_blocks(path, rows=10))
    expected = join(read_blocks(libsvm))
    assert_array_equal(X, expected[0])
    assert_array_equal(y, expected[1])


def test_several_passes(libsvm):
    blocks = read_blocks(libsvm, rows=10)
    first, second = iter(blocks), iter(blocks)
    next(first)
    assert_array_equal(next(first)[0].toarray(), list(blocks)[1][0].toarray())
    assert_array_equal(next(second)[0].toarray(), next(iter(blocks))[0].toarray())
    assert_array_equal(join(pickle.loads(pickle.dumps(blocks)))[0], join(blocks)[0])
    assert repr(blocks) == f"<blocks of at most 10 rows of {libsvm}>"


def test_comments_blank_lines_and_queries(tmp_path):
    lines = ["# a comment", "", "1 qid:3 1:2 # more", "  \t", "-1", "  # 5 6:7", "+2.5e0 qid:4"]
    path = write(tmp_path / "odd", "\ufeff" + "\r\n".join(lines) + "\r\n-3\t2:1e-1  3:0")
    for rows in (1, 2, 3, 4):
        blocks = read_blocks(path, rows=rows)
        X, y = join(blocks)
        assert_array_equal(X, [[2, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0.1, 0]])
        assert_array_equal(y, [1, -1, 2.5, -3])
        assert [len(labels) for _, labels in blocks] == [rows] * (4 // rows) + [1] * (rows == 3)


def test_number_of_features(libsvm, tmp_path):
    assert read_blocks(libsvm).n_features == COLUMNS
    assert [X.shape[1] for X, _ in read_blocks(libsvm, n_features=20, rows=30)] == [20, 20]
    path = write(tmp_path / "zero", "1 0:3 4:1\n")
    assert_array_equal(join(read_blocks(path, zero_based=True))[0], [[3, 0, 0, 0, 1]])
    assert_array_equal(join(read_blocks(path))[0], [[3, 0, 0, 0, 1]])  # which is evident
    path = write(tmp_path / "one", "1 2:3 4:1\n")
    assert_array_equal(join(read_blocks(path))[0], [[0, 3, 0, 1]])
    assert_array_equal(join(read_blocks(path, zero_based=True))[0], [[0, 0, 3, 0, 1]])
    path = write(tmp_path / "none", "1\n-1 # nothing\n")
    assert join(read_blocks(path, n_features=2))[0].shape == (2, 2)
    with pytest.raises(ValueError, match=r"no row of .*none has a feature; say n_features="):
        list(read_blocks(path))


def test_several_files_make_one_stream(libsvm, tmp_path):
    """Blocks run on over files, whose last line may lack its end and which may be empty."""
    folder = tmp_path / "parts"
    folder.mkdir()
    lines = [line for line in libsvm.read_bytes().splitlines() if not line.startswith(b"#")]
    parts = [b"\n".join(lines[:5]), b"# nothing\n", b"\n".join(lines[5:27]), b"\n".join(lines[27:])]
    paths = [write(folder / f"part-{i}", part) for i, part in enumerate(parts)]
    write(folder / "_SUCCESS", "")
    write(folder / ".hidden", "a,b")
    expected = join(read_blocks(libsvm))
    for source in (
        paths,
        iter(paths),
        folder,
        str(folder / "part-*"),
        [folder / "part-[01]", *paths[2:]],
    ):
        blocks = read_blocks(source, rows=10)
        assert blocks.paths == tuple(paths)
        assert [len(y) for _, y in blocks] == [10, 10, 10, 10, 10, 3]
        assert_array_equal(join(blocks)[0], expected[0])
        assert_array_equal(join(blocks)[1], expected[1])
    write(paths[2], "1 1:1\n1 1:one\n")
    with pytest.raises(
        ValueError, match=r"part-2, line 2, column 3: '1:one' is not a valid index:value"
    ):
        list(read_blocks(paths, rows=100, n_features=COLUMNS))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("one 1:1", "the label 'one' is not a finite number"),
        ("nan 1:1", "the label 'nan' is not a finite number"),
        ("1,3 1:1", "'1,3' are several labels; rows must have one label each"),
        ("1:1 2:1", "the row begins with '1:1', not with a label"),
        ("1 2", "'2' is not a valid index:value, the value is not a finite number"),
        ("1 1:1 two", "'two' .* the index is not an integer"),
        ("1 1.5:1", "'1.5:1' .* the index is not an integer"),
        ("1 0:1", "'0:1' .* index is below 1, where counting starts: say zero_based=True"),
        ("1 -3:1", "'-3:1' .* the index is below 1"),
        ("1 3:1 2:1", "'2:1' .* indices must ascend, and the one before is 3"),
        ("1 3:1 3:1", "'3:1' .* indices must ascend, and the one before is 3"),
        ("1 1:", "'1:' .* the value is not a finite number"),
        ("1 1:nan", "'1:nan' .* the value is not a finite number"),
        ("1 1:-inf", "'1:-inf' .* the value is not a finite number"),
        ("1 1:1:1", "'1:1:1' .* the value is not a finite number"),
        ("1 5:1", "'5:1' .* the index is above the largest that n_features=4 allows"),
        ("1 99999999999:1", "'99999999999:1' .* the index is above 2147483647"),
        (f"1 1:{'9' * 50}x", r"'1:9{38}\.\.\.' is not a valid"),
    ],
)
def test_broken_rows(tmp_path, line, message):
    path = write(tmp_path / "broken", f"# a comment\n1 1:1\n\n1 4:1\n{line}\n1 2:2\n")
    blocks = iter(read_blocks(path, rows=2, n_features=4))
    assert next(blocks)[0].shape == (2, 4)  # what comes before can be read
    with pytest.raises(ValueError, match=rf"broken, line 5, column \d+: {message}"):
        next(blocks)


def test_the_column_is_that_of_the_word(tmp_path):
    path = write(tmp_path / "broken", "1 1:1\n  1   1:1 \t2:x 3:1\n")
    with pytest.raises(ValueError, match="broken, line 2, column 12: '2:x'"):
        list(read_blocks(path))


def test_broken_rows_are_found_while_features_are_counted(tmp_path):
    path = write(tmp_path / "broken", "1 1:1\n1 1:1 2\n")
    with pytest.raises(
        ValueError, match="broken, line 2, column 7: '2' is not a valid index:value"
    ):
        _ = read_blocks(path).n_features
    path = write(tmp_path / "large", "1 1:1\n1 99999999999:1\n")
    with pytest.raises(
        ValueError, match=r"large, line 2, column 3: .*99999999999:1.* above 2147483647"
    ):
        list(read_blocks(path))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_compressed_files(libsvm, tmp_path, suffix):
    text = b"".join(
        b"%d 1:%f\n" % (i % 2, x) for i, x in enumerate(np.random.default_rng(0).random(9999))
    )
    whole = COMPRESSED[suffix](text)
    cut = write(tmp_path / f"cut{suffix}", whole[: len(whole) // 2])
    with pytest.raises(OSError, match=r"cut.*, after line \d+: the \w+ file is damaged or cut off"):
        list(read_blocks(cut, n_features=1))
    garbled = bytearray(whole)
    garbled[len(whole) // 2 : len(whole) // 2 + 40] = bytes(40)
    with pytest.raises(OSError, match="is damaged or cut off"):
        list(read_blocks(write(cut, bytes(garbled)), n_features=1))
    for content in (b"", libsvm.read_bytes()):
        with pytest.raises(
            OSError, match=rf"is not a \w+ file, although its name ends in \{suffix}"
        ):
            read_blocks(write(cut, content))


def test_what_cannot_be_read(libsvm, tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="missing"):
        read_blocks(tmp_path / "missing.libsvm")
    with pytest.raises(FileNotFoundError, match=r"no file matches .*part-\*"):
        read_blocks(tmp_path / "part-*")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no files in the folder .*folder"):
        read_blocks(tmp_path / "folder")
    with pytest.raises(ValueError, match="list of paths is empty"):
        read_blocks([])
    with pytest.raises(TypeError, match="must be a string or a Path, not 3"):
        read_blocks([3])
    with pytest.raises(ValueError, match="is compressed by zip; only gzip, bzip2, xz, Zstandard"):
        read_blocks(write(tmp_path / "a.zip", b"PK\x03\x04123"))
    for text in ("", "\n \n", "# 1 2:3\n"):
        for options in ({}, {"n_features": 3}):
            with pytest.raises(ValueError, match=r"empty.svm is empty: it holds no rows"):
                list(read_blocks(write(tmp_path / "empty.svm", text), **options))
    with pytest.raises(ValueError, match=r"the 2 files from .* hold no rows"):
        list(read_blocks([tmp_path / "empty.svm"] * 2))
    monkeypatch.setattr(_text, "_LONGEST_LINE", 100)
    with pytest.raises(ValueError, match="line 2 is longer than 100 bytes: is this a text file"):
        list(read_blocks(write(tmp_path / "long", "1 1:1\n" + 200 * "1"), n_features=1))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe is not a regular file"):
        read_blocks(tmp_path / "pipe")


def test_formats(libsvm, tmp_path):
    for row in ("1 2 3", "a;b", "{"):
        path = write(tmp_path / "data.txt", f"\n{row}\n1\n")
        with pytest.raises(
            ValueError,
            match=r"cannot tell the format of .*data.txt .*; it may be libsvm, .* by format=",
        ):
            read_blocks(path)
    for row in ("1,2,3", "a,b,c"):
        X, y = read_blocks(
            write(tmp_path / "data.txt", f"\n{row}\n4{row[1]}5{row[1]}6\n"), target=0
        ).whole()
        assert X.tolist()[-1] == [5, 6]
        assert y.tolist()[-1] == 4
    with pytest.raises(ValueError, match=r"but .*some.libsvm is libsvm and .*a.csv is csv"):
        read_blocks([libsvm, write(tmp_path / "a.csv", "1,2\n")])
    with pytest.raises(ValueError, match="several labels"):
        list(read_blocks(write(tmp_path / "multi", "1,3 1:1\n")))
    with pytest.raises(ValueError, match="compressed as a whole"):
        read_blocks(write(tmp_path / "a.parquet.gz", gzip.compress(b"PAR1")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows must be at least 1, not 0"),
        ({"rows": -3}, "rows must be at least 1, not -3"),
        ({"rows": 2.5}, "rows must be an integer, not 2.5"),
        ({"n_features": 0}, "n_features must be at least 1, not 0"),
        (
            {"format": "json"},
            "format must be one of 'auto', 'libsvm', 'csv', 'parquet', 'arrow', 'numpy', not 'json'",
        ),
        ({"labels": "int"}, "labels must be one of 'auto', 'number', 'string', not 'int'"),
        ({"header": 0}, 'header must be True, False or "auto", not 0'),
        ({"delimiter": ", "}, "delimiter must be a single character, not ', '"),
        ({"zero_based": "no"}, "zero_based must be True, False or \"auto\", not 'no'"),
        (
            {"target": 0},
            "target=0 is for csv, parquet, arrow and numpy files, and these are libsvm",
        ),
        ({"features": [1]}, r"features=\[1\] is for csv, parquet and arrow files"),
        ({"features": "a"}, r"features must be a list of columns, not 'a': say \['a'\]"),
        ({"header": True}, "header=True is for csv files, and these are libsvm"),
    ],
)
def test_options(libsvm, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read_blocks(libsvm, **options)


def test_an_abandoned_pass_closes_its_file(libsvm):
    """An open file would be a ResourceWarning, which is an error."""
    for _ in read_blocks(libsvm, rows=1):
        break


def test_blocks_train_a_model(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    path = tmp_path / "train.libsvm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    model = BudgetSVC(C=10, gamma=1, budget=50, random_state=0)
    for X_block, y_block in read_blocks(path, rows=100):
        model.partial_fit(X_block, y_block, classes=[-1, 1])
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("density", [0.1, 0.9])
@pytest.mark.parametrize("zero_based", [True, False, "auto"])
def test_all_rows_at_once(tmp_path, monkeypatch, density, zero_based):
    monkeypatch.setattr("budgetsvm.streams._libsvm.blocks._WHOLE_PIECE", 300)
    rng = np.random.default_rng(0)
    X = np.where(
        rng.random((ROWS, COLUMNS)) < density, rng.integers(-99, 99, (ROWS, COLUMNS)) / 8, 0
    )
    X[3, 0] = X[5, -1] = 0.5
    y = rng.integers(9, size=ROWS) / 4
    parts = [tmp_path / "a", tmp_path / "b"]
    for path, some in zip(parts, (slice(20), slice(20, None)), strict=True):
        dump_svmlight_file(X[some], y[some], str(path), zero_based=zero_based is not False)
    blocks = read_blocks(parts, zero_based=zero_based)
    found, labels = blocks.whole()
    assert sparse.issparse(found) == (density < 0.5)
    assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
    assert_array_equal(labels, y)
    assert blocks.n_features == COLUMNS
    assert_array_equal(join(blocks)[0], X)
    told = read_blocks(parts, zero_based=zero_based is not False, n_features=20)
    assert told.whole()[0].shape == (ROWS, 20)


def test_all_rows_of_a_table_at_once(tmp_path):
    path = write(tmp_path / "a.csv", "1,2,x\n3,4,y\n5,6,x\n")
    X, y = read_blocks(path, target=-1, rows=2).whole()
    assert_array_equal(X, [[1, 2], [3, 4], [5, 6]])
    assert_array_equal(y, ["x", "y", "x"])


@pytest.mark.parametrize("n_features", [None, 11, 4000])
def test_later_pieces_may_show_more_columns(tmp_path, monkeypatch, n_features):
    """Dense rows get wider, on both sides, or sparse after all."""
    monkeypatch.setattr("budgetsvm.streams._libsvm.blocks._WHOLE_PIECE", 100)
    dense = ("1" + "".join(f" {i}:{i / 2}" for i in range(2, 10)) + "\n") * 40
    for more in ("2 4:1 10:7\n", "2 1:5\n", "2 0:5 1:7\n", "2 4000:1\n", "2 3:9 4000:1\n" * 400):
        path = write(tmp_path / "a", dense + more + dense)
        if n_features == 11 and "4000" in more:
            continue
        blocks = read_blocks(path, n_features=n_features, zero_based="0:5" in more)
        found, labels = blocks.whole()
        assert sparse.issparse(found) == (n_features == 4000 or "4000" in more)
        X, y = join(blocks)
        assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)
        assert_array_equal(labels, y)
