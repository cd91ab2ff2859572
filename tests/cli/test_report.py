"""``budgetsvm report``: from files to a page, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

from budgetsvm import cli


@pytest.fixture
def moons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(400, noise=0.15, random_state=0)
    y = np.where(y == 1, 1, -1)
    dump_svmlight_file(X[:300], y[:300], "train", zero_based=False)
    dump_svmlight_file(X[300:], y[300:], "test", zero_based=False)
    lines = [f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(X, y, strict=True)]
    Path("table.csv").write_text("\n".join(["<b>wide</b>,high,kind", *lines]))


def run(*words: str) -> int:
    return cli.main(list(words))


def test_a_page_from_files(moons, capsys) -> None:
    assert run("train", "-q", "-g", "2", "-B", "20", "train", "model.bsvm") == 0
    assert run("report", "model.bsvm", "test") == 0
    assert capsys.readouterr().out == "report       model.html\n"
    assert "BudgetSVC on 100 rows" in Path("model.html").read_text("utf-8")
    assert run("report", "-q", "model.bsvm", "test", "other.html") == 0
    assert capsys.readouterr() == ("", "")
    assert Path("other.html").exists()


def test_columns_keep_their_names(moons) -> None:
    words = ("--target", "kind", "table.csv")
    assert run("train", "-q", "--scale", "standard", *words, "model.bsvm") == 0
    assert run("report", "-q", "--target", "kind", "model.bsvm", "table.csv") == 0
    page = Path("model.html").read_text("utf-8")
    assert "&lt;b&gt;wide&lt;/b&gt;" in page
    assert "<b>wide</b>" not in page
    assert "behind StandardScaler" in page


def test_one_class_needs_no_labels(moons) -> None:
    assert run("train", "-q", "-s", "2", "-n", "0.1", "train", "model.bsvm") == 0
    assert run("report", "-q", "model.bsvm", "test") == 0
    assert "accuracy" in Path("model.html").read_text("utf-8")
    table = ("table.csv", "rows.csv")
    lines = [line.rsplit(",", 1)[0] for line in Path(table[0]).read_text().splitlines()]
    Path(table[1]).write_text("\n".join(lines))
    assert run("report", "-q", "model.bsvm", "rows.csv", "rows.html") == 0
    assert "accuracy" not in Path("rows.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("model.bsvm", "test", "model.bsvm"), 2, "which would be lost"),
        (("model.bsvm", "test", "none/page.html"), 1, "no folder"),
        (("model.bsvm", "nothing"), 1, "nothing"),
        (("nothing", "test"), 1, "does not exist"),
    ],
)
def test_what_is_refused(moons, capsys, words, code, message) -> None:
    assert run("train", "-q", "-B", "5", "train", "model.bsvm") == 0
    assert run("report", *words) == code
    assert message in capsys.readouterr().err
    assert not Path("model.html").exists()
