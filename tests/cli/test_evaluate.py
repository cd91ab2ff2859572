"""Labels that a model has never seen: rows count as mistakes, and whatever command compares says why."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from budgetsvm import cli

RNG = np.random.default_rng(0)
LABELS = {
    "numbers": [0, 1],
    "words": ["no", "yes"],
    "more": [0, 1, 2],
    "others": [5, 6],
    "more words": ["no", "yes", "maybe"],
}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, labels in LABELS.items():
        code = RNG.integers(0, len(labels), 120)
        table = pd.DataFrame({"a": RNG.normal(2 * code), "b": RNG.normal(size=120)})
        table.assign(y=np.array(labels)[code]).to_csv(f"{name}.csv", index=False)
    for name, kind in (("numbers", "0"), ("words", "0"), ("detector", "2"), ("targets", "3")):
        data = "words" if name == "words" else "numbers"
        assert cli.main(["train", "-q", "-s", kind, "--target", "y", f"{data}.csv", name]) == 0


def evaluate(model: str, data: str) -> int:
    return cli.main(["evaluate", "--json", "--target", "y", f"{data}.csv", model])


@pytest.mark.parametrize("name", ["numbers", "words"])
def test_labels_that_are_known(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(name, name) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["AUC"] > 0.5
    assert err == ""


@pytest.mark.parametrize(
    ("model", "data", "unknown"),
    [("numbers", "more", "2"), ("words", "more words", "'maybe'")],
)
def test_labels_that_are_not(
    model: str, data: str, unknown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(model, data) == 0
    out, err = capsys.readouterr()
    assert f"labels that the model does not know: {unknown}; it knows" in err
    facts = json.loads(out)
    assert facts["AUC"] is None
    table = pd.read_csv(f"{data}.csv")
    least = (~table["y"].isin(LABELS[model])).mean()
    assert facts["accuracy"] <= 1 - least


@pytest.mark.parametrize(
    ("model", "data"), [("numbers", "words"), ("words", "more"), ("numbers", "others")]
)
def test_another_column(model: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(model, data) == 1
    assert "is that the column of the labels?" in capsys.readouterr().err


#: Whether any row can be compared.
UNKNOWN = [
    ("numbers", "more", "labels that the model does not know: 2; it knows 0, 1", True),
    ("numbers", "others", "labels that the model does not know: 5, 6; it knows 0, 1", False),
    ("numbers", "words", "labels are words (", False),
    ("words", "more", ", ...) in the file and words ('no', 'yes') in the model", False),
    ("detector", "others", "labels 5, 6 count as 1, as all above 0 do", True),
    ("detector", "words", "in the file and numbers (-1, 1) in the model", False),
]


@pytest.mark.parametrize(
    ("model", "data", "said", "compared"),
    [*UNKNOWN, ("targets", "words", "in the file and numbers in the model", False)],
)
def test_predictions_need_no_labels_that_are_known(
    model: str, data: str, said: str, compared: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are made all the same."""
    assert cli.main(["predict", "--target", "y", f"{data}.csv", model, "out"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("budgetsvm: warning: ")
    assert said in err
    assert ("Accuracy" in out) == compared
    assert len(Path("out").read_text().splitlines()) == 120


@pytest.mark.parametrize(("model", "data", "said", "compared"), UNKNOWN)
def test_a_report_needs_some(
    model: str, data: str, said: str, compared: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--target", "y", model, f"{data}.csv", "page.html"]
    assert cli.main(["report", "-q", *words]) == (0 if compared else 1)
    assert said in capsys.readouterr().err
    assert Path("page.html").exists() == compared


def test_outliers_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cv", "-s", "2", "--target", "y", "words.csv"]) == 1
    assert "in the file and numbers (-1, 1) in the model" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["train", "-s", "3"], ["cv", "-s", "3"], ["evaluate"]])
def test_targets_are_numbers(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """In files that say which columns hold words, too."""
    pytest.importorskip("pyarrow")
    pd.read_csv("words.csv").to_parquet("words.parquet")
    rest = ["targets"] if command[0] == "evaluate" else []
    assert cli.main([*command, "--target", "y", "words.parquet", *rest]) == 1
    assert "targets of a regression are numbers" in capsys.readouterr().err
