"""Commands as they are called by mistake: nothing is lost, nothing is mixed up, and words say what went wrong."""

import io
import json
import sys
import warnings
from pathlib import Path
from subprocess import run

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.metrics import balanced_accuracy_score

import budgetsvm
from budgetsvm import BudgetFeatures, BudgetSVC, BudgetSVR, cli

X, Y = make_moons(200, noise=0.2, random_state=0)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, Y, "data", zero_based=False)
    BudgetSVC(budget=20, random_state=0).fit(X, Y.astype(float)).save("model")
    BudgetSVR(budget=20, random_state=0).fit(X, X[:, 0]).save("line")


@pytest.mark.parametrize(
    "words",
    [
        ("train", "data", "data"),
        ("train", "data", "link"),
        ("train", "dat?", "data"),
        ("predict", "data", "model", "data"),
        ("predict", "data", "model", "./model"),
        ("scale", "-s", "data", "data"),
    ],
)
def test_no_output_takes_the_place_of_an_input(words, capsys) -> None:
    Path("link").symlink_to("data")
    before = Path("data").read_bytes(), Path("model").read_bytes()
    assert cli.main([*words]) == 2
    assert "would be lost: give another name" in capsys.readouterr().err
    assert (Path("data").read_bytes(), Path("model").read_bytes()) == before


def test_the_checkpoint_is_not_the_model(capsys) -> None:
    assert cli.main(["train", "-q", "--checkpoint", "./new", "data", "new"]) == 2
    assert "must be two files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("predict", "-b", "1", "data", "model"), 1, "model has no probabilities"),
        (("predict", "-b", "1", "data", "line"), 1, "line has no probabilities"),
        (("predict", "--decision", "data", "line"), 1, "leave out --decision"),
        (("predict", "-b", "1", "--decision", "data", "model"), 2, "ask for one of them"),
        (("predict", "data", "features"), 1, "features and no predictions"),
        (("evaluate", "data", "both"), 1, "the model has 2 targets"),
        (("scale", "-y", "1", "0", "data"), 2, "the least and the largest target"),
    ],
)
def test_what_a_model_does_not_have(words, code, complaint, capsys) -> None:
    BudgetFeatures(5, random_state=0).fit(X, Y).save("features")
    BudgetSVR(budget=20, random_state=0).fit(X, X).save("both")
    assert cli.main([*words]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert complaint in shown.err


def test_several_targets_stand_in_a_line(capsys) -> None:
    model = BudgetSVR(budget=20, random_state=0).fit(X, X)
    model.save("both")
    assert cli.main(["predict", "data", "both", "-"]) == 0
    found = np.loadtxt(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-6, atol=1e-6)
    assert not Path("-").exists()


def test_classes_that_the_model_does_not_know_are_counted(capsys) -> None:
    labels = np.where(np.arange(len(Y)) < 50, 7, 1)  # and one that no row has
    dump_svmlight_file(X, labels, "other", zero_based=False)
    assert cli.main(["evaluate", "--json", "other", "model"]) == 0
    text = capsys.readouterr().out
    facts = json.loads(text, parse_constant=pytest.fail)
    assert facts["labels"] == [0, 1, 7]
    assert np.sum(facts["confusion"], axis=1).tolist() == [0, 150, 50]
    with warnings.catch_warnings(action="ignore"):  # of a label that is predicted and never right
        expected = balanced_accuracy_score(labels, budgetsvm.load("model").predict(X))
    assert facts["balanced accuracy"] == pytest.approx(expected)
    dump_svmlight_file(X[:5], np.ones(5), "other", zero_based=False)
    assert cli.main(["evaluate", "--json", "other", "model"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["AUC"] is None


def table(names: str, columns: list[int], path: str) -> None:
    values = np.column_stack([X, Y])[:, columns]
    np.savetxt(path, values, delimiter=",", header=names, comments="", fmt="%.17g")


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_columns_are_known_by_their_names(scale, capsys) -> None:
    table("a,b,y", [0, 1, 2], "train.csv")
    table("b,y,extra,a", [1, 2, 0, 0], "other.csv")
    table("", [0, 1, 2], "bare.csv")
    Path("bare.csv").write_text(Path("bare.csv").read_text().lstrip())
    words = ["--target", "y"]
    train = ["train", "-q", "--scale", scale, "-B", "30", *words, "train.csv", "named"]
    assert cli.main(train) == 0
    assert budgetsvm.load("named").feature_names_in_.tolist() == ["a", "b"]
    said = []
    for model in ("named", "small"):
        assert cli.main(["predict", "-q", *words, "train.csv", model]) == 0
        said.append(capsys.readouterr().out)
        assert cli.main(["predict", "-q", *words, "other.csv", model]) == 0
        assert capsys.readouterr().out == said[-1]
        assert cli.main(["predict", "-q", "--target", "2", "bare.csv", model]) == 0
        assert capsys.readouterr().out == said[-1]
        smaller = ["-B", "8", "--data", "other.csv", *words, "named", "small.bsvm"]
        assert cli.main(["convert", "-q", *smaller]) == 0
        Path("small.bsvm").replace("small")
    assert cli.main(["convert", "-q", "small", "small.h"]) == 0
    table("a,c,y", [0, 1, 2], "other.csv")
    assert cli.main(["evaluate", *words, "other.csv", "named"]) == 1
    assert "other.csv has no column 'b'" in capsys.readouterr().err


def test_standard_input_has_a_name(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 1:1\n2 1:x\n")))
    assert cli.main(["train", "-q", "-", "new"]) == 1
    assert "standard input, line 2" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["train", "-q", "-", "new"]) == 1
    assert "it was closed" in capsys.readouterr().err


@pytest.mark.slow
def test_warnings_take_one_line() -> None:
    train = ["train", "-q", "-c", "1e5", "-g", "100", "-B", "50"]
    words = [*train, "-e", "1e-12", "--time-limit", "1e-3", "data", "new"]
    shown = run(
        [sys.executable, "-m", "budgetsvm", *words], capture_output=True, text=True, check=True
    ).stderr
    assert shown.startswith("budgetsvm: warning: the duality gap is")
    assert shown.count("\n") == 1
