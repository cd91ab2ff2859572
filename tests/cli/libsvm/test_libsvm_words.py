"""What scripts around LIBSVM's programs look for."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import budgetsvm
from budgetsvm import cli


@pytest.fixture(autouse=True)
def _rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 2))
    dump_svmlight_file(X, X[:, 0], "data", zero_based=False)
    dump_svmlight_file(X, np.digitize(X[:, 0], [-0.5, 0.5]), "classes", zero_based=False)


def test_regression_has_a_squared_correlation(capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["train", "-q", "-s", "3", "data", "model"]) == 0
    assert cli.main(["predict", "data", "model", "out"]) == 0
    X = np.array(np.loadtxt("out"))
    y = np.array([float(line.split()[0]) for line in Path("data").read_text().splitlines()])
    words = capsys.readouterr().out
    assert f"Mean squared error = {np.mean((X - y) ** 2):g} (regression)" in words
    assert (
        f"Squared correlation coefficient = {np.corrcoef(X, y)[0, 1] ** 2:g} (regression)" in words
    )


@pytest.mark.parametrize("kind", ["2", "3"])
def test_probabilities_are_those_of_classes(kind: str, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["train", "-s", kind, "-b", "1", "data", "model"]) == 1
    assert "-b 1 is for classification" in capsys.readouterr().err


@pytest.mark.parametrize("kernel", ["0", "1", "2", "3"])
def test_every_kernel_needs_no_other_option(kernel: str) -> None:
    words = ["train", "-q", "-t", kernel, "-B", "10", "classes", "model"]
    assert cli.main(words) == 0
    machine = budgetsvm.load("model")
    assert len(machine.support_vectors_) <= 10
    assert not machine.break_ties  # as LIBSVM
