"""NumPy's files on the command line: the same results as from LIBSVM text."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, make_moons

from budgetsvm import cli

TRAIN = ("train", "-q", "-c", "10", "-g", "2", "-B", "20", "--tol", "1e-4")


@pytest.fixture(autouse=True)
def moons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(200, noise=0.15, random_state=0)
    X = X.round(3)
    dump_svmlight_file(X, y, "text", zero_based=False)
    np.savez("both.npz", X=X, y=y)
    np.save("rows.npy", X)
    np.save("labels.npy", y)
    np.save("table.npy", np.column_stack([y, X]))
    sparse.save_npz("sparse.npz", sparse.csr_array(X))


def run(*words: str) -> None:
    assert cli.main(list(words)) == 0


NUMPY = [
    ("both.npz",),
    ("rows.npy", "--labels", "labels.npy"),
    ("table.npy", "--target", "0"),
    ("sparse.npz", "--labels", "labels.npy"),
]


@pytest.mark.parametrize("data", NUMPY)
def test_the_same_as_from_text(data: tuple[str, ...], capsys: pytest.CaptureFixture) -> None:
    run(*TRAIN, "text", "a")
    run(*TRAIN, *data, "b")
    values = []
    for model in ("a", "b"):
        run("predict", "-q", "--decision", "text", model)
        values.append(np.array(capsys.readouterr().out.split(), float))
    # Sparse rows have no centre subtracted: another path to the same optimum, up to the tolerance.
    np.testing.assert_allclose(*values, rtol=0, atol=1e-2 if data[0] == "sparse.npz" else 0)
    for command in ("evaluate", "predict"):
        run(command, "text", "a")
        expected = capsys.readouterr()
        name, *more = data
        run(command, name, "a", *more)
        assert capsys.readouterr() == expected
    run("cv", "--json", "-B", "10", "text")
    expected_cv = json.loads(capsys.readouterr().out)
    run("cv", "--json", "-B", "10", *data)
    found = json.loads(capsys.readouterr().out)["accuracy"]
    assert found["all"] == pytest.approx(expected_cv["accuracy"]["all"])
    assert found["folds"] == pytest.approx(expected_cv["accuracy"]["folds"])
    run("scale", "-s", "ranges", "text")
    scaled = capsys.readouterr().out
    run("scale", "-r", "ranges", *data)
    assert capsys.readouterr().out == scaled


def test_rows_without_labels(capsys: pytest.CaptureFixture) -> None:
    run(*TRAIN, "both.npz", "a")
    run("predict", "both.npz", "a")
    labels = capsys.readouterr().out
    run("predict", "rows.npy", "a")
    assert capsys.readouterr() == (labels, "")  # there is nothing to compare with
    run("train", "-q", "-s", "2", "rows.npy", "b")
    run("scale", "rows.npy")
    assert capsys.readouterr().out.startswith("0 1:")
    for words in (("train", "rows.npy"), ("evaluate", "rows.npy", "a"), ("cv", "rows.npy")):
        assert cli.main(list(words)) == 1
        assert "rows.npy has no labels: say --labels FILE" in capsys.readouterr().err
    run("convert", "-q", "--budget", "5", "--data", "rows.npy", "a", "c.bsvm")


def test_labels_of_scaled_files_keep_their_digits(capsys: pytest.CaptureFixture) -> None:
    np.savez("a.npz", X=np.eye(2), y=np.array([123456789.25, 0.1]))
    run("scale", "a.npz")
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "123456789.25",
        "0.10000000000000001",
    ]
    np.savez("a.npz", X=np.eye(2), y=np.array(["no", "yes"]))
    assert cli.main(["scale", "a.npz"]) == 1
    assert "these are words such as 'no'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("y\n0 1\n2\nx\n-1 1\n1 0 1\n", "'2' must be two finite numbers"),
        ("x\n-1 nan\n1 0 1\n", "must be two finite numbers"),
        ("x\n-1 1\n1 0 inf\n", "must be two finite numbers"),
        ("x\n-1 1\n0 0 1\n", "features from 1 on"),
        ("x\n-1 1\n9999999999 0 1\n", "many times the memory of the file"),
        ("x\n-1 1\n", "features from 1 on"),
        ("x\n", "must be two finite numbers"),
        ("x", "out of range"),
        ("", "does not begin with x"),
        ("x\n-1 1\n\xff 0 1\n", "invalid literal"),
    ],
)
def test_broken_range_files(content: str, message: str, capsys: pytest.CaptureFixture) -> None:
    Path("ranges").write_text(content, encoding="utf-8")
    assert cli.main(["scale", "-r", "ranges", "text"]) == 1
    shown = capsys.readouterr().err
    assert "ranges is not a file of ranges" in shown
    assert message in shown
