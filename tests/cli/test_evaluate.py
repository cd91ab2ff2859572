"""``budgetsvm evaluate`` on labels that the model has never seen: rows count as mistakes, and somebody says why."""

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
    for name in ("numbers", "words"):
        assert cli.main(["train", "-q", "--target", "y", f"{name}.csv", name]) == 0


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
