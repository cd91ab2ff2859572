"""CSV and Parquet files in blocks of rows: the numbers that pandas reads, or a clear complaint."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tools.files import COMPRESSED, join, write

from budgetsvm.streams import read_blocks

ROWS = 23
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
FRAME.insert(1, "label", RNG.integers(0, 2, ROWS))
NAMED = FRAME.assign(label=np.where(FRAME["label"] == 1, "yes, sir", "no"))
X = FRAME[["a", "b", "c"]].to_numpy()


@pytest.mark.parametrize("rows", [1, 5, 22, 23, 24])
@pytest.mark.parametrize("suffix", COMPRESSED)
@pytest.mark.parametrize("frame", [FRAME, NAMED], ids=["numbers", "strings"])
def test_csv_has_what_was_written(tmp_path, rows, suffix, frame):
    path = write(
        tmp_path / f"a.csv{suffix}", COMPRESSED[suffix](frame.to_csv(index=False).encode())
    )
    blocks = read_blocks(path, rows=rows, target="label")
    assert blocks.n_features == 3
    assert [len(y) for _, y in blocks][:-1] == [rows] * ((ROWS - 1) // rows)
    for _ in range(2):
        values, labels = join(blocks)
        assert_array_equal(values, X)
        assert_array_equal(labels, frame["label"])
        assert values.dtype == np.float64
        assert labels.dtype.kind == ("f" if frame is FRAME else "U")
    assert all(block.flags.c_contiguous for block, _ in blocks)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("frame", [FRAME, NAMED], ids=["numbers", "strings"])
def test_csv_headers(tmp_path, header, said, frame):
    path = write(tmp_path / "a.csv", frame.to_csv(index=False, header=header))
    values, labels = join(read_blocks(path, target=-3, header=header if said else "auto"))
    assert_array_equal(values, X)
    assert_array_equal(labels, frame["label"])


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_delimiter_that_nobody_named(tmp_path, mark):
    path = write(tmp_path / "a.csv", mark.join(["a", "label"]) + "\n" + mark.join("12") + "\n")
    with pytest.raises(ValueError, match=r"has no column 'label'.* the delimiter\? Then say deli"):
        read_blocks(path, target="label")
    with pytest.raises(ValueError, match=r"no columns for features .*Then say delimiter="):
        read_blocks(path, target=0)
    assert_array_equal(join(read_blocks(path, target="label", delimiter=mark))[0], [[1]])


def test_a_header_of_numbers(tmp_path):
    text = "label,0,1\n1,2,3\n-1,5,6\n"
    path = write(tmp_path / "a.csv", text)
    assert_array_equal(join(read_blocks(path, target=0))[0], [[2, 3], [5, 6]])
    assert_array_equal(join(read_blocks(path, target="label"))[0], [[2, 3], [5, 6]])
    write(path, text.replace("label,", "2,"))
    assert len(join(read_blocks(path, target=0))[1]) == 3
    assert len(join(read_blocks(path, target=0, header=True))[1]) == 2
    write(path, "1,x,7\n1,2,3\n")
    with pytest.raises(
        ValueError, match=r"line 1, column 1: .*'x' is not a number; say header=True"
    ):
        list(read_blocks(path, target=0))


def test_csv_columns_delimiters_and_quotes(tmp_path):
    text = '\ufeff id ;"x; 1";x2;y\r\n\r\nr1;"1.5";2; a \r\n"r;2";-1e3; 4 ;b\r\n   \r\n"r3";0;0;c'
    path = write(tmp_path / "a.csv", text)
    for features in (["x2", "x; 1"], [2, 1], (c for c in ("x2", -3)), np.array([2, 1])):
        blocks = read_blocks(path, target="y", features=features, delimiter=";")
        values, labels = join(blocks)
        assert_array_equal(values, [[2, 1.5], [4, -1000], [0, 0]])
        assert_array_equal(labels, ["a", "b", "c"])
    write(tmp_path / "a.TSV", "y\tx\nä b\t1\n")
    values, labels = join(read_blocks(tmp_path / "a.TSV", target="y"))
    assert (values.tolist(), labels.tolist()) == ([[1.0]], ["ä b"])


def test_labels_are_what_the_first_row_says(tmp_path):
    """Whatever the blocks: a class must not have two names."""
    path = write(tmp_path / "a.csv", "x,y\n1,01\n2,1\n3,one\n")
    for rows in (1, 2, 3):
        with pytest.raises(
            ValueError, match=r"line 4, column 'y': .*'one' .*; say labels='string'"
        ):
            list(read_blocks(path, target="y", rows=rows))
        _, labels = join(read_blocks(path, target="y", rows=rows, labels="string"))
        assert labels.tolist() == ["01", "1", "one"]
    write(path, "x,y\n1,one\n2,1\n")
    assert join(read_blocks(path, target="y", rows=1))[1].tolist() == ["one", "1"]
    with pytest.raises(ValueError, match="the label 'one' is not a number"):
        list(read_blocks(path, target="y", labels="number"))


def test_several_tables_make_one_stream(tmp_path):
    for i, part in enumerate([FRAME[:4], FRAME[:0], FRAME[4:20], FRAME[20:]]):
        write(tmp_path / f"part-{i}.csv", part.to_csv(index=False).strip())
    blocks = read_blocks(tmp_path, rows=6, target="label")
    assert [len(y) for _, y in blocks] == [6, 6, 6, 5]
    assert_array_equal(join(blocks)[0], X)
    write(tmp_path / "part-3.csv", FRAME[["b", "a", "label", "c"]].to_csv(index=False))
    with pytest.raises(
        ValueError, match=r"part-3.csv, line 1: this is not the header of .*part-0.csv"
    ):
        list(blocks)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,,3", "column 'b': the value is missing; leave the row out, or fill it in"),
        ("1,NA,3", "column 'b': the value 'NA' is missing; leave the row out, or fill it in"),
        ("nan,2,3", "column 'a': the value 'nan' is not finite"),
        ("1,-inf,3", "column 'b': the value '-inf' is not finite"),
        ("1,2,", "column 'y': the label is missing"),
        ("1,2,nan", "column 'y': the label 'nan' is not finite"),
        ("1,2,no", "column 'y': the label 'no' is not a number; say labels='string'"),
        ("1,2", "2 columns, where 3 are expected"),
        ("1,2,3,4", "4 columns, where 3 are expected"),
        ('1,"2,5",3,"4"', "4 columns, where 3 are expected"),
        (
            '1,"2,5",3',
            "column 'b': the value '2,5' is not a number; if commas stand before decimals, say decimal=','",
        ),
        ("1,2,\xff", "this is not UTF-8 text"),
    ],
)
def test_broken_csv_rows(tmp_path, row, message):
    text = f"a,b,y\n1,2,3\n\n4,5,6\n{row}\n7,8,9\n"
    path = write(tmp_path / "a.csv", text.encode("latin-1"))
    blocks = iter(read_blocks(path, target="y", rows=2))
    assert len(next(blocks)[1]) == 2
    with pytest.raises(ValueError, match=rf"a.csv, line 5(, |: ){message}"):
        next(blocks)


def test_missing_string_labels(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\n1,0\n2, \n")
    with pytest.raises(ValueError, match="line 3, column 'y': the label is missing"):
        list(read_blocks(path, target="y", labels="string"))
    path = write(tmp_path / "a.tsv", "x\ty\n1\ta\n\t\n")
    with pytest.raises(ValueError, match="line 3, column 'x': the value is missing"):
        list(read_blocks(path, target="y"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a,b\n1,2\n",
            {},
            r"say which column of .* holds the labels.*there are the columns 'a', 'b'",
        ),
        (
            "1,2\n",
            {},
            "say which column .* target=-1 .the last., or target=False if none does; there are 2 columns",
        ),
        ("a,b\n1,2\n", {"target": "y"}, "no column 'y' .target.; it has the columns 'a', 'b'"),
        ("1,2\n", {"target": 2}, "no column 2 .target.; it has 2 columns"),
        ("1,2\n", {"target": -3}, "no column -3"),
        ("1,2\n", {"target": 1.0}, "target must name columns by string or integer, not 1.0"),
        ("1,2\n", {"target": "y", "header": False}, "no header, so target must be given by number"),
        ("a,b\n1,2\n", {"target": "a", "features": ["c"]}, "no column 'c' .features."),
        ("a,b\n1,2\n", {"target": "a", "features": ["a"]}, "must not contain the target"),
        ("a,b\n1,2\n", {"target": "a", "features": ["b", 1]}, "must not name a column twice"),
        ("a,b\n1,2\n", {"target": "a", "features": []}, "no columns for features"),
        (
            "a\n1\n",
            {"target": 0},
            "no columns for features besides the target; it has the columns 'a'",
        ),
        ("a,a\n1,2\n", {"target": 0}, "more than one column 'a'"),
        (",a,b\n0,1,2\n", {"target": "b"}, "column 0 of .* has no name; if it numbers the rows"),
        ("1,2\n", {"target": 0, "n_features": 3}, "has 1 feature columns, not n_features=3"),
        ("", {"target": 0}, "a.csv is empty: it holds no rows"),
        ("a,b\n", {"target": 0}, "a.csv is empty: it holds no rows"),
        ("a,b\n", {"target": 0, "labels": "string"}, "a.csv is empty: it holds no rows"),
        ("1,2\n", {"target": 0, "zero_based": True}, "zero_based=True is for libsvm files"),
    ],
)
def test_bad_questions(tmp_path, text, options, message):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises((TypeError, ValueError), match=message):
        list(read_blocks(path, **options))


@pytest.fixture
def parquet(tmp_path):
    """A function that writes a frame to a Parquet file with small groups of rows."""
    pytest.importorskip("pyarrow")

    def save(frame, name="a.parquet"):
        frame.to_parquet(tmp_path / name, row_group_size=4, index=False)
        return tmp_path / name

    return save


@pytest.mark.parametrize("rows", [1, 5, 22, 23, 24])
@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a"])
@pytest.mark.parametrize("frame", [FRAME, NAMED], ids=["numbers", "strings"])
def test_parquet_has_what_was_written(parquet, rows, name, frame):
    blocks = read_blocks(parquet(frame, name), rows=rows, target="label")
    assert [len(y) for _, y in blocks][:-1] == [rows] * ((ROWS - 1) // rows)
    for _ in range(2):
        values, labels = join(blocks)
        assert_array_equal(values, X)
        assert_array_equal(labels, frame["label"])
        assert labels.dtype.kind == ("f" if frame is FRAME else "U")
    values, _ = join(read_blocks(blocks.paths, target="label", features=["c", 0], rows=rows))
    assert_array_equal(values, X[:, [2, 0]])


def test_parquet_types(parquet):
    frame = pd.DataFrame(
        {
            "int": np.array([1, -2], dtype=np.int8),
            "bool": [True, False],
            "half": np.array([0.5, 1], dtype=np.float32),
            "y": pd.Categorical(["b", "a"]),
            "number": pd.Categorical([3, 4]),
        }
    )
    values, labels = join(read_blocks(parquet(frame), target="y"))
    assert_array_equal(values, [[1, 1, 0.5, 3], [-2, 0, 1, 4]])
    assert labels.tolist() == ["b", "a"]
    assert_array_equal(join(read_blocks(parquet(frame), target=-1, features=[0]))[1], [3, 4])


def test_several_parquet_files(parquet):
    paths = [parquet(FRAME[:4], "0.pq"), parquet(FRAME[:0], "1.pq"), parquet(FRAME[4:], "2.pq")]
    blocks = read_blocks(paths, rows=6, target="label")
    assert [len(y) for _, y in blocks] == [6, 6, 6, 5]
    assert_array_equal(join(blocks)[0], X)
    parquet(NAMED, "2.pq")
    with pytest.raises(ValueError, match=r"2.pq, column 'label' has the type .*must hold numbers"):
        list(blocks)
    parquet(FRAME[["a", "label"]], "2.pq")
    with pytest.raises(ValueError, match=r"2.pq must have one column 'b', as .*0.pq has"):
        list(blocks)
    with pytest.raises(ValueError, match=r"1.pq is empty: it holds no rows"):
        list(read_blocks(paths[1], target="label"))


def test_broken_parquet(parquet):
    for value, message in ((None, "the value is missing"), (np.inf, "inf is not finite")):
        frame = FRAME.astype(object).assign(label=FRAME["label"])
        frame.loc[17, "b"] = value
        path = parquet(frame.astype({"a": float, "c": float, "b": "Float64"}))
        with pytest.raises(ValueError, match=rf"a.parquet, row 18, column 'b': {message}"):
            list(read_blocks(path, target="label", rows=5))
    with pytest.raises(ValueError, match=r"column 'label' has the type .* must hold numbers"):
        read_blocks(parquet(NAMED), target="a")
    with pytest.raises(ValueError, match=r"say which column .* there are the columns 'a', 'label'"):
        read_blocks(path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"PAR1", b"", b"nothing of the kind"):
        with pytest.raises(OSError, match=r"a.parquet cannot be read as Parquet"):
            read_blocks(write(path, content), target="label")
    garbled = bytearray(parquet(FRAME).read_bytes())
    garbled[8:400] = bytes(392)
    with pytest.raises(OSError, match=r"a.parquet cannot be read as Parquet"):
        list(read_blocks(write(path, bytes(garbled)), target="label"))


def test_the_index_of_pandas_is_no_feature(tmp_path):
    path = tmp_path / "a.parquet"
    FRAME[["a", "b", "label"]].sample(frac=1, random_state=0).to_parquet(
        path
    )  # its index is written, too
    values, labels = join(read_blocks(path, target=-1))
    assert_array_equal(np.sort(values, axis=0), np.sort(X[:, :2], axis=0))
    assert set(labels) == {0, 1}
    FRAME.set_index("c").to_parquet(path)
    assert_array_equal(join(read_blocks(path, target="label"))[0], X[:, :2])
    chosen = read_blocks(path, target="label", features=["c", "a"])
    assert_array_equal(join(chosen)[0], X[:, [2, 0]])
    assert_array_equal(join(read_blocks(path, target="c", features=["a"]))[1], X[:, 2])


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,y\n1,"x\n2,z"\n3,w\n', 2),
        ('a,y\n1,x\n2,"z\n', 3),
        ('a,y\n1,5\n2,"6\n3,7"\n', 3),
        ('"a,y\n1,5\n', 1),
    ],
)
def test_quotes_that_are_not_closed_in_their_line(tmp_path, rows, text, line):
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(ValueError, match=rf"a.csv, line {line}: a quotation mark is not closed"):
        list(read_blocks(path, rows=rows, target="y"))


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = write(tmp_path / "a.parquet", b"PAR1")
    with pytest.raises(ImportError, match=r"need pyarrow: pip install \"budgetsvm\[arrow\]\""):
        read_blocks(path, target="label")
