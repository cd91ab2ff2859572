"""Cross-validation on the command line: what LIBSVM's words mean."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.metrics import r2_score

from budgetsvm import cli

N = 100


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(N, noise=0.3, random_state=0)
    dump_svmlight_file(X, np.where(y > 0, 1, -1), "data", zero_based=False)


def _scores(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, object]]:
    assert cli.main(["cv", "--json", "-B", "20", "-v", "3", *words, "data"]) == 0
    found: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_accuracy_is_the_share_of_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Folds of 33 and 34 rows: the mean of their accuracies is another number."""
    found = _scores(capsys, "-c", "10", "-g", "1")["accuracy"]
    right = N * found["all"]
    assert right == pytest.approx(round(right), abs=1e-9)
    assert found["all"] == pytest.approx(np.dot([34, 33, 33], found["folds"]) / N)
    assert cli.main(["cv", "-q", "-B", "20", "-v", "3", "-c", "10", "-g", "1", "data"]) == 0
    assert capsys.readouterr().out == f"Cross Validation Accuracy = {100 * found['all']:g}%\n"


def test_regression_has_the_figures_of_libsvm(capsys: pytest.CaptureFixture[str]) -> None:
    found = _scores(capsys, "-s", "3", "-g", "1")
    assert list(found) == ["Mean squared error", "Squared correlation coefficient", "R²"]
    error, variance = found["Mean squared error"]["all"], 1.0  # half of the targets are 1, half -1
    assert found["R²"]["all"] == pytest.approx(1 - error / variance)
    assert 0 < found["Squared correlation coefficient"]["all"] <= 1
    assert r2_score([1, -1], [1, -1]) == 1


def test_one_class_machines_are_compared_with_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """As LIBSVM does it: a row is right if the machine says 1 of label 1, or -1 of another."""
    found = _scores(capsys, "-s", "2", "-n", "0.2")["accuracy"]
    assert N * found["all"] == pytest.approx(round(N * found["all"]), abs=1e-9)
    assert 0.2 < found["all"] < 0.8  # half of the labels are 1, and most rows are like others


def test_a_weight_for_a_label_that_is_not_there_is_told() -> None:
    with pytest.warns(UserWarning, match=r"a weight for the label 3\.0, .*no effect"):
        assert cli.main(["train", "-q", "-B", "20", "-w3", "5", "data", "model"]) == 0
