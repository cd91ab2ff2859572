"""Tables as strangers have them: targets of any size, numbers that are no labels, labels with spaces."""

import csv
import json
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import budgetsvm
from budgetsvm import cli


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> None:
    assert cli.main(list(words)) == 0


def test_targets_in_the_thousands_need_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody says is relative to the spread of the targets; what somebody says is in their units, as in LIBSVM."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 300)
    rows = np.column_stack([x, 250_000 + 50_000 * np.sin(2 * x)])
    np.savetxt("houses.csv", rows, delimiter=",", header="size,price", comments="")
    found = []
    for words in ((), ("-c", "1", "-p", "0.1"), ("-c", "30000", "-p", "3000")):
        run("train", "-q", "-s", "3", *words, "--target", "price", "houses.csv", "model")
        run("evaluate", "--json", "--target", "price", "houses.csv", "model")
        found.append(json.loads(capsys.readouterr().out.splitlines()[-1])["R2"])
    assert found[0] > 0.95
    assert found[1] < 0.1
    assert found[2] > 0.95


def train_on(targets: Any) -> int:
    np.savetxt("a.csv", np.column_stack([np.arange(len(targets)), targets]), delimiter=",")
    return cli.main(["train", "-q", "--target", "1", "--no-header", "a.csv", "model"])


def test_targets_that_look_like_labels(capsys: pytest.CaptureFixture[str]) -> None:
    assert train_on(np.arange(60) % 3) == 0
    with pytest.warns(UserWarning, match="60 different numbers are taken for classes: say -s 3"):
        assert train_on(np.arange(200) % 60) == 0
    assert capsys.readouterr().err == ""
    assert train_on(np.arange(60) / 8) == 1
    said = capsys.readouterr().err
    assert "whole numbers, and not 0.125: say -s 3 if this is a regression" in said


def test_probabilities_of_labels_with_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["sehr groß", "klein", 'mit "Zeichen"']
    lines = [f"{i % 3},{i % 7},{names[i % 3]!s}" for i in range(60)]
    text = "a,b,c\n" + "\n".join(lines).replace('mit "Zeichen"', '"mit ""Zeichen"""')
    Path("words.csv").write_text(text, "utf-8")
    run("train", "-q", "-b", "1", "--target", "c", "words.csv", "model")
    run("predict", "-q", "-b", "1", "--target", "c", "words.csv", "model", "out")
    rows = list(csv.reader(Path("out").read_text("utf-8").splitlines(), delimiter=" "))
    assert {len(row) for row in rows} == {4}
    assert rows[0] == ["labels", *sorted(names)]
    assert rows[2][0] == "klein"


def test_balanced_classes(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.05).astype(int)
    rows = np.column_stack([rng.standard_normal((600, 2)) + y[:, None], y])
    np.savetxt("rare.csv", rows, delimiter=",", header="a,b,y", comments="")
    run("train", "-q", "--class-weight", "balanced", "--target", "y", "rare.csv", "model")
    assert budgetsvm.load("model").class_weight == "balanced"
    words = ["--class-weight", "balanced", "--class-weight", "1=3"]
    assert cli.main(["train", "-q", *words, "--target", "y", "rare.csv", "model"]) == 1
    assert "either balanced, or weights" in capsys.readouterr().err


def test_a_pickle_is_told_from_other_files(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("model.joblib")
    joblib.dump(budgetsvm.BudgetSVC(), path)
    assert cli.main(["info", str(path)]) == 1
    assert "open your own by joblib.load" in capsys.readouterr().err
