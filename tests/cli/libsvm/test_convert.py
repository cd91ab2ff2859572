"""The command that writes models in other formats."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tools.peers import libsvm

import budgetsvm
from budgetsvm import BudgetSVC, cli

X, Y = libsvm.two_classes()
X = X[:, :3]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BudgetSVC:
    monkeypatch.chdir(tmp_path)
    trained = BudgetSVC(gamma=2.0, C=10, budget=60, random_state=0).fit(X, Y)
    budgetsvm.save(trained, "a.bsvm")
    dump_svmlight_file(X, Y, "rows", zero_based=False)
    return trained


def run(*words: str) -> None:
    assert cli.main(["convert", *words]) == 0


def test_there_and_back(model: BudgetSVC, capsys: pytest.CaptureFixture) -> None:
    run("a.bsvm", "b.model")
    assert capsys.readouterr().err == f"b.model: {Path('b.model').stat().st_size:,} bytes\n"
    run("-q", "b.model", "c.bsvm")
    assert capsys.readouterr().err == ""
    run("--to", "libsvm", "c.bsvm", "d")
    assert Path("d").read_text() == Path("b.model").read_text()
    assert (budgetsvm.load("c.bsvm").predict(X) == model.predict(X)).all()
    assert Path("c.bsvm").read_bytes()[8:9] == b"{"


def test_fewer_terms(model: BudgetSVC, capsys: pytest.CaptureFixture) -> None:
    run("--budget", "10", "a.bsvm", "b.model")
    shown = capsys.readouterr().err
    n_terms = len(model.support_vectors_)
    assert shown.startswith("compressing: 100%")
    assert f"terms: {n_terms}, now 10\nrelative difference of the functions: 0." in shown
    assert "on data" not in shown
    run("-B", "10", "--data", "rows", "b.model", "c.model")  # which has no more
    run("-B", "30", "--data", "rows", "a.bsvm", "c.bsvm")
    shown = capsys.readouterr().err
    assert "same labels on data: 100%" in shown
    expected = budgetsvm.compress(model, 30, X)
    assert f"(root mean square): {expected.difference:.3g}" in shown
    again = budgetsvm.load("c.bsvm")
    np.testing.assert_allclose(again.decision_function(X), expected.estimator.decision_function(X))


def test_onnx_and_c(model: BudgetSVC, capsys: pytest.CaptureFixture) -> None:
    run("--storage", "int8", "--name", "moons", "a.bsvm", "b.h")
    assert "moons_values" in Path("b.h").read_text()
    said = capsys.readouterr().err
    assert "by the points in int8 alone: 0.0" in said
    header = budgetsvm.to_c(model, storage="int8")
    assert f"with all rounding of C: {header.difference:.2g} of their standard deviation" in said
    for out, name in (("two-moons.h", "two_moons"), ("2.h", "model_2"), ("é.h", "model__")):
        run("a.bsvm", out)  # names are those of the file
        assert f"{name}_values" in Path(out).read_text()
    runtime = pytest.importorskip("onnxruntime")
    for words, kind in (((), np.float32), (("--double",), np.float64)):
        run(*words, "a.bsvm", "b.onnx")
        session = runtime.InferenceSession("b.onnx", providers=["CPUExecutionProvider"])
        labels, _ = session.run(None, {"X": X.astype(kind)})
        assert (labels == model.predict(X)).mean() > 0.99


def test_pipelines(model: BudgetSVC) -> None:
    budgetsvm.save(make_pipeline(StandardScaler(), model).fit(X, Y), "p.bsvm")
    run("-B", "10", "--data", "rows", "p.bsvm", "q.bsvm")
    assert len(budgetsvm.load("q.bsvm")[-1].support_vectors_) == 10
    run("p.bsvm", "p.h")
    run("p.bsvm", "p.onnx")
    assert cli.main(["convert", "p.bsvm", "p.model"]) == 1


def test_what_is_refused(model: BudgetSVC, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["convert", "a.bsvm", "b.txt"]) == 2
    assert "say --to" in capsys.readouterr().err
    assert cli.main(["convert", "--data", "rows", "a.bsvm", "b.bsvm"]) == 2
    assert "--data is for --budget" in capsys.readouterr().err
    Path("broken").write_text("svm_type c_svc\n")
    assert cli.main(["convert", "broken", "b.bsvm"]) == 1
    assert "broken: the file ends in line 1" in capsys.readouterr().err
    assert not Path("b.bsvm").exists()
