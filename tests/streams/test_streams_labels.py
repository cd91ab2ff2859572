"""Tables without labels, and labels that double precision does not have."""

import json
from pathlib import Path

import numpy as np
import pytest

from budgetsvm import BudgetSVC, cli
from budgetsvm.streams import read_blocks

LARGE = 2**53
TWINS = (LARGE + 1, LARGE + 2)  # the first is taken for its other neighbour in double precision


def table(path: Path, names: list[str] | None, rows: list[list[object]]) -> Path:
    lines = [] if names is None else [",".join(names)]
    path.write_text(
        "".join(f"{line}\n" for line in [*lines, *(",".join(map(str, r)) for r in rows)])
    )
    return path


def parquet(path: Path, **columns: object) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    pq.write_table(pa.table(columns), path)
    return path


# ---- labels ----


@pytest.mark.parametrize("label", [LARGE + 1, -LARGE - 1, 2**63 - 1, 10**30 + 1])
def test_a_csv_label_that_would_become_another(label: int, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", None, [[1, 2], [label, 3], [1, 2]])
    message = rf"a.csv, line 2, column 0: the label {label} is an integer that double precision does not have"
    with pytest.raises(ValueError, match=message):
        read_blocks(path, target=0).whole()
    assert read_blocks(path, target=0, labels="string").whole()[1].tolist()[1] == str(label)


def test_large_numbers_that_are_what_they_seem(tmp_path: Path) -> None:
    rows = [[LARGE, 1], [-LARGE, 2], [2**60, 3], ["1e300", 4], ["9007199254740993.5", 5]]
    found = read_blocks(table(tmp_path / "a.csv", None, rows), target=0).whole()[1]
    assert found.tolist() == [float(row[0]) for row in rows]  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_of_other_files(dtype: type, tmp_path: Path) -> None:
    X, good, bad = np.eye(2), np.array([LARGE, 2**60], dtype), np.array(TWINS, dtype)
    np.savez(tmp_path / "a.npz", X=X, y=bad)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", bad)
    paths = [(tmp_path / "a.npz", {}), (tmp_path / "X.npy", {"y": tmp_path / "y.npy"})]
    paths.append((parquet(tmp_path / "a.parquet", x=[0.0, 1], y=bad), {"target": "y"}))
    for path, options in paths:
        with pytest.raises(ValueError, match=f"the label {LARGE + 1} is an integer"):
            read_blocks(path, **options).whole()
    np.savez(tmp_path / "a.npz", X=X, y=good)
    assert read_blocks(tmp_path / "a.npz").whole()[1].tolist() == good.tolist()


@pytest.mark.parametrize("long", ["x" * 201, f'"{"x," * 101}"', " " * 300 + "a"], ids=len)
def test_a_label_that_would_take_its_room_in_every_row(long: str, tmp_path: Path) -> None:
    rows = [["a", 1, 2], ["b" * 200, 3, 4], [long, 5, 6], ["c", 7, 8]]
    path = table(tmp_path / "a.csv", ["kind", "x", "z"], rows)
    with pytest.raises(
        ValueError, match=r"^\S*a.csv, line 4, column 'kind': the label .* has \d+ char"
    ):
        read_blocks(path, target="kind").whole()
    path = table(tmp_path / "a.csv", None, [row[::-1] for row in rows])
    with pytest.raises(ValueError, match=r"^\S*a.csv, line 3, column 2: the label .* has \d+ char"):
        read_blocks(path, target=-1).whole()
    good = table(tmp_path / "a.csv", None, rows[:2])
    assert read_blocks(good, target=0).whole()[1].tolist() == ["a", "b" * 200]


def test_a_long_label_in_parquet(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", x=[1.0, 2], y=["a", "b" * 201])
    with pytest.raises(
        ValueError, match=r"row 2, column 'y': the label 'bbbb.* has 201 characters"
    ):
        read_blocks(path, target="y").whole()


# ---- tables without labels ----


def test_blocks_without_labels(tmp_path: Path) -> None:
    rows = [[i, i + 0.5] for i in range(10)]
    for names in (None, ["a", "b"], ["a", "1"]):
        blocks = read_blocks(table(tmp_path / "a.csv", names, rows), target=False, rows=4)
        assert blocks.n_features == 2
        assert blocks.feature_names == names
        assert [y for _, y in blocks] == [None] * 3
        assert blocks.whole()[0].tolist() == rows
        same = read_blocks(tmp_path / "a.csv", target=False, labels="string", header=blocks._header)
        assert same.whole()[0].tolist() == rows
    path = parquet(tmp_path / "a.parquet", a=[1.0, 2], b=[3, 4])
    X, y = read_blocks(path, target=False).whole()
    assert (X.tolist(), y) == ([[1, 3], [2, 4]], None)
    assert read_blocks(path, target=False, features=["b"]).whole()[0].tolist() == [[3], [4]]
    with pytest.raises(ValueError, match="line 1, column 0: the value 'x' is not a number"):
        read_blocks(table(tmp_path / "b.csv", None, [["x", 1]]), target=False, header=False).whole()


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [["no" if x < 0 else "yes", x, z] for x, z in rng.standard_normal((60, 2)).tolist()]
    table(Path("named.csv"), ["kind", "x", "z"], rows)
    table(Path("bare.csv"), ["x", "z"], [row[1:] for row in rows])
    table(Path("numbers.csv"), None, [row[1:] for row in rows])
    table(Path("turned.csv"), ["z", "more", "x"], [[row[2], 9, row[1]] for row in rows])
    table(Path("both.csv"), None, rows)
    table(Path("wide.csv"), None, [[*row[1:], 3] for row in rows])
    assert cli.main(["train", "-q", "--target", "kind", "named.csv", "model"]) == 0
    return "model"


def said(capsys: pytest.CaptureFixture, *words: str) -> tuple[int, str, str]:
    code = cli.main([*words])
    return code, *capsys.readouterr()


def test_predict_takes_columns_by_name_or_number(model: str, capsys) -> None:
    code, expected, words = said(capsys, "predict", "--target", "kind", "named.csv", model)
    assert code == 0
    assert "Accuracy" in words
    for name in ("bare.csv", "numbers.csv", "turned.csv", "named.csv"):
        assert said(capsys, "predict", name, model) == (0, expected, "")
    assert said(capsys, "predict", "--unlabelled", "bare.csv", model) == (0, expected, "")
    for name, problem in (
        ("wide.csv", "wide.csv has 3 feature columns, not n_features=2"),
        ("both.csv", "if one of the columns holds labels, say which by --target"),
    ):
        code, _, words = said(capsys, "predict", name, model)
        assert code == 1
        assert problem in words
    code, found, words = said(capsys, "predict", "--target", "0", "both.csv", model)
    assert (code, found) == (0, expected)
    assert said(capsys, "evaluate", "bare.csv", model)[0] == 1


def test_predict_of_parquet_and_without_names(model: str, capsys) -> None:
    expected = said(capsys, "predict", "bare.csv", model)[1]
    X = np.loadtxt("numbers.csv", delimiter=",")
    parquet(Path("a.parquet"), z=X[:, 1], x=X[:, 0])
    assert said(capsys, "predict", "a.parquet", model) == (0, expected, "")
    y = np.where(X[:, 0] < 0, "no", "yes")
    BudgetSVC(budget=20, random_state=0).fit(X, y).save("nameless")
    code, found, _ = said(capsys, "predict", "numbers.csv", "nameless")
    assert (code, len(found.split())) == (0, 60)


def test_training_does_not_guess(model: str, capsys) -> None:
    code, _, words = said(capsys, "train", "-s", "2", "bare.csv", "out")
    assert code == 1
    assert "say which column" in words
    assert said(capsys, "train", "-q", "-s", "2", "--unlabelled", "bare.csv", "out")[0] == 0
    assert said(capsys, "train", "-q", "--unlabelled", "bare.csv", "out")[0] == 1
    assert said(capsys, "train", "--unlabelled", "--target", "x", "bare.csv", "out")[0] == 2
    Path("text").write_text("1 1:1\n-1 1:2\n")
    assert said(capsys, "predict", "--unlabelled", "text", model)[0] == 2
    code, found, _ = said(
        capsys, "train", "--json", "-q", "-s", "2", "--unlabelled", "bare.csv", "o"
    )
    assert json.loads(found)["features"] == 2
