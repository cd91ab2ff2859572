"""The commands on files, in-process: what goes where, LIBSVM's habits, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_moons
from sklearn.preprocessing import MinMaxScaler

import budgetsvm
from budgetsvm import BudgetSVC, BudgetSVR, cli


@pytest.fixture
def moons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(400, noise=0.15, random_state=0)
    X, y = X.round(3), np.where(y == 1, 1, -1)
    dump_svmlight_file(X[:300], y[:300], "train", zero_based=False)
    dump_svmlight_file(X[300:], y[300:], "test", zero_based=False)
    return X, y


def run(*words: str) -> None:
    assert cli.main(list(words)) == 0


def test_from_file_to_predictions(moons, capsys) -> None:
    X, y = moons
    run("train", "-c", "10", "-g", "2", "-B", "20", "train", "model")
    shown = capsys.readouterr()
    assert "terms        20" in shown.out
    assert "100%" in shown.err
    run("predict", "test", "model", "out")
    right = (np.loadtxt("out") == y[300:]).sum()
    assert capsys.readouterr().out == f"Accuracy = {right:g}% ({right}/100) (classification)\n"
    assert right > 95
    twin = BudgetSVC(10, gamma=2.0, budget=20, fit_intercept=True, random_state=0)
    twin.fit(X[:300], y[:300].astype(float))
    assert (twin.predict(X[300:]) == np.loadtxt("out")).all()
    run("predict", "--decision", "-q", "test", "model")
    values = np.array(capsys.readouterr().out.split(), float)
    np.testing.assert_array_equal(values, twin.decision_function(X[300:]))


def test_the_model_has_a_name_by_default(moons, capsys) -> None:
    run("train", "-q", "-B", "5", "train")
    assert capsys.readouterr() == ("", "")
    assert len(budgetsvm.load("train.bsvm").support_vectors_) == 5


@pytest.mark.parametrize(
    "words", [("-w1", "5", "-w-1", "2"), ("--class-weight", "1=5", "--class-weight=-1=2")]
)
def test_class_weights(moons, words) -> None:
    run("train", "-q", *words, "train", "model")
    assert budgetsvm.load("model").class_weight == {1: 5, -1: 2}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-t", "0"), {"kernel": "linear"}),
        (("-t", "1", "-d", "2", "-r", "1"), {"kernel": "poly", "degree": 2, "coef0": 1}),
        (("-t", "rbf", "-g", "scale"), {"kernel": "rbf", "gamma": "scale"}),
        (("-t2", "-g0.5", "-m", "100", "-h", "0", "-e", "0.001"), {"gamma": 0.5, "tol": 0.001}),
        (("-b", "1"), {"loss": "logistic"}),
        ((), {"gamma": "auto", "C": 1.0, "fit_intercept": True}),
    ],
)
def test_options_of_libsvm(moons, words, expected) -> None:
    project = () if "-t" not in words or "rbf" in words else ("--maintenance", "project")
    run("train", "-q", "-B", "10", *project, *words, "train", "model")
    found = budgetsvm.load("model").get_params()
    assert {name: found[name] for name in expected} == expected


def test_probabilities(moons, capsys) -> None:
    X, _ = moons
    run("train", "-q", "-b", "1", "-B", "10", "train", "model")
    run("predict", "-q", "-b", "1", "test", "model")
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "labels -1 1"
    found = np.array([line.split() for line in lines], float)
    np.testing.assert_array_equal(found[:, 1:], budgetsvm.load("model").predict_proba(X[300:]))


def test_regression_has_the_units_of_libsvm(moons, capsys) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 1)).round(3)
    y = (1000 * np.sin(X[:, 0])).round()
    dump_svmlight_file(X, y, "numbers", zero_based=False)
    run("train", "-q", "-s", "3", "-c", "2000", "-p", "10", "-g", "1", "numbers", "model")
    model = budgetsvm.load("model")
    assert isinstance(model, BudgetSVR)
    assert model.epsilon * model.target_scale_[0] == pytest.approx(10)
    assert model.C * model.target_scale_[0] == pytest.approx(2000)
    run("predict", "numbers", "model", "out")
    assert "Mean squared error = " in capsys.readouterr().out
    run("evaluate", "--json", "numbers", "model")
    assert json.loads(capsys.readouterr().out)["R2"] > 0.99


def test_one_class(moons, capsys) -> None:
    run("train", "-q", "-s", "2", "-n", "0.2", "-g", "2", "train", "model")
    run("evaluate", "--json", "train", "model")
    assert json.loads(capsys.readouterr().out)["share inside"] == pytest.approx(0.8, abs=0.02)


def test_evaluation_and_cross_validation(moons, capsys) -> None:
    run("train", "-q", "-g", "2", "train", "model")
    run("evaluate", "test", "model")
    shown = capsys.readouterr().out
    assert "AUC" in shown
    assert "label \\ prediction" in shown
    for words in (("cv", "-v", "3"), ("train", "-v", "3")):
        run(*words, "-g", "2", "train")
        assert capsys.readouterr().out.startswith("Cross Validation Accuracy = 9")


@pytest.mark.parametrize("scaling", ["standard", "relevance"])
def test_tables_and_scaling(moons, capsys, scaling: str) -> None:
    X, y = moons
    rows = [
        f"{a},{1000 * b},{'yes' if label > 0 else 'no'}\n"
        for (a, b), label in zip(X, y, strict=True)
    ]
    Path("moons.csv").write_text("width,height,wanted\n" + "".join(rows))
    run("train", "--target", "wanted", "--scale", scaling, "--json", "-g", "2", "moons.csv")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["features"], facts["classes"]) == (400, 2, 2)
    run("predict", "--target", "wanted", "-q", "moons.csv", "moons.csv.bsvm")
    found = capsys.readouterr().out.split()
    assert np.mean(np.array(found) == np.where(y > 0, "yes", "no")) > 0.95
    run("info", "moons.csv.bsvm")
    assert "StandardScaler" in capsys.readouterr().out


def test_relevance_needs_labels(moons, capsys) -> None:
    assert cli.main(["train", "-s", "2", "--scale", "relevance", "train", "model"]) == 1
    assert "needs labels or targets" in capsys.readouterr().err
    assert cli.main(["cv", "--grid", "--scale", "relevance", "train"]) == 2
    assert "sees the labels" in capsys.readouterr().err


def test_scaling_of_files(moons, capsys) -> None:
    X, y = moons
    run("scale", "-s", "ranges", "train")
    Path("scaled").write_text(capsys.readouterr().out)
    found, labels = load_svmlight_file("scaled")
    scaler = MinMaxScaler((-1, 1)).fit(X[:300])
    np.testing.assert_allclose(found.toarray(), scaler.transform(X[:300]), atol=1e-5)
    np.testing.assert_array_equal(labels, y[:300])
    run("scale", "-r", "ranges", "test")
    Path("scaled").write_text(capsys.readouterr().out)
    np.testing.assert_allclose(
        load_svmlight_file("scaled")[0].toarray(), scaler.transform(X[300:]), atol=1e-5
    )
    assert Path("ranges").read_text().splitlines()[:2] == ["x", "-1 1"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("train", "missing"), 1, "missing"),
        (("train", "train", "no/folder/model"), 1, "no folder 'no/folder'"),
        (("train", "-c", "-1", "train"), 1, "C must be a finite number > 0, not -1.0"),
        (("train", "-c", "x", "train"), 2, "not a valid float"),
        (("train", "-s", "1", "train"), 2, "nu-SVC is not offered"),
        (("train", "-t", "4", "train"), 2, "precomputed kernels are not read"),
        (
            (
                "train",
                "-w3",
            ),
            2,
            "'-w3' requires an argument",
        ),
        (("train", "-b", "1", "--loss", "hinge", "train"), 1, "-b 1 needs the logistic loss"),
        (("train", "--dance", "train"), 2, "No such option"),
        (("predict", "test", "train"), 1, "is not a model of budgetsvm"),
        (("predict", "test", "nowhere"), 1, "does not exist"),
        (("scale", "-l", "1", "-u", "0", "train"), 2, "must be below"),
        (("scale", "-r", "train", "test"), 1, "is not a file of ranges"),
    ],
)
def test_what_is_refused(moons, capsys, words, code, message) -> None:
    assert cli.main(list(words)) == code
    shown = capsys.readouterr()
    assert message in " ".join(shown.err.split())
    assert shown.out == ""
    assert not list(Path().glob("*.bsvm"))
