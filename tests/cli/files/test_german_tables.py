"""Tables as spreadsheets write them where decimals have a comma: every command reads them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.shell_completion import ShellComplete

from budgetsvm import cli
from budgetsvm.cli._main import COMMANDS, program

TABLE = "--decimal", ","
LABELS, PRICES = [*TABLE, "--target", "größe"], [*TABLE, "--target", "preis"]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the same rows with commas and with points."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(170, 10, (80, 2)).round(2)
    table = pd.DataFrame(X, columns=["länge", "breite"])
    classes = table.assign(größe=np.where(X.sum(axis=1) > 340, "groß", "klein"))
    prices = table.assign(preis=1000 * X[:, 0])
    for name, one in (("classes", classes), ("prices", prices), ("rows", table)):
        one.to_csv(f"{name}.csv", sep=";", decimal=",", index=False)
        one.to_csv(f"{name}.points.csv", index=False)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main([*words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["train", "--scale", "standard", *LABELS, "classes.csv", "model"],
        ["train", "-s", "3", *PRICES, "prices.csv", "model"],
        ["cv", *LABELS, "classes.csv"],
        ["cv", "--grid", "--log2c", "0,1,1", "--log2g", "-9,-8,1", *LABELS, "classes.csv"],
        ["scale", *PRICES, "prices.csv"],
        ["evaluate", *LABELS, "classes.csv", "known"],
        ["predict", *LABELS, "classes.csv", "known", "out"],
        ["predict", *TABLE, "rows.csv", "known"],
        ["convert", "-B", "5", "--data", "rows.csv", *TABLE, "known", "out.bsvm"],
    ],
    ids=" ".join,
)
def test_commas_are_read_as_points_are(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "train", "-q", "--scale", "standard", *LABELS, "classes.csv", "known")
    quiet = ["-q"] if words[0] in ("train", "cv", "convert") else []
    with_points = [word.replace(".csv", ".points.csv") for word in words if word not in TABLE]
    found = []
    for some in (words, with_points):
        said = run(capsys, some[0], *quiet, *some[1:]).replace(" ".join(TABLE), "").strip()
        written = [p.read_bytes() for p in sorted(Path().iterdir()) if p.stem in ("model", "out")]
        found.append((said, written))
    assert found[0] == found[1]


def test_reports(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "train", "-q", "--scale", "standard", *LABELS, "classes.csv", "known")
    run(capsys, "report", *LABELS, "known", "classes.csv", "page.html")
    assert "länge" in Path("page.html").read_text("utf-8")


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"info", "demo"}))
def test_the_tab_key_knows_it(command: str) -> None:
    complete = ShellComplete(program, {}, "budgetsvm", "_BUDGETSVM_COMPLETE")
    assert "--decimal" in [one.value for one in complete.get_completions([command], "--dec")]
    values = complete.get_completions([command, "--decimal"], "")
    assert [one.value for one in values] == [".", ","]
