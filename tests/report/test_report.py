"""The page: of every kind of estimator, well formed, with nothing of the user's taken for HTML."""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report import subjects
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import budgetsvm
from budgetsvm import BudgetFeatures, BudgetSVC, report
from budgetsvm._report.quality import _root_mean_square

EMPTY = {"meta", "img", "br", "link", "input", "hr"}


class Outline(HTMLParser):
    """Tags that are open, ids, links, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.links: set[str] = set()
        self.tags: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.ids.update([given["id"]] if "id" in given else [])
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src", "xlink:href"):
                self.links.add(value)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text.append(data)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


@pytest.mark.sampled(3)
@pytest.mark.parametrize("made", subjects.ALL, ids=lambda made: made.__name__)
def test_every_kind_has_a_page(made, tmp_path: Path) -> None:
    estimator, X, y = made()
    path = tmp_path / "page.html"
    report(estimator, X, y, path)
    page = path.read_text("utf-8")
    found = outline(page)
    assert [one for one, count in found.ids.items() if count > 1] == []
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert not found.tags & {"script", "img", "iframe", "link", "object"}
    assert re.search(r"url\((?!#)|@import", page) is None
    assert {"advice", "data", "terms", "phases", "parameters", "timing"} <= set(found.ids)
    text = " ".join(found.text)
    assert f"{len(y) if y is not None else len(X):,} rows" in text
    assert "nan" not in text.lower().split()


@pytest.mark.slow
def test_numbers_on_the_page_are_those_of_the_model(tmp_path: Path) -> None:
    model, X, y = subjects.many_classes()
    model.report(X, y, tmp_path / "page.html")
    found = outline((tmp_path / "page.html").read_text("utf-8"))
    text = " ".join(found.text)
    assert f"{100 * model.score(X, y):.1f} %" in text
    assert f"{len(model.support_vectors_)} of at most 40" in text
    assert {"quality", "phases"} <= set(found.ids)
    assert "search" not in found.ids
    assert "The fit as its trace has seen it." in text


@pytest.mark.slow
def test_a_search_shows_its_grid_and_its_curve(tmp_path: Path) -> None:
    search, X, y = subjects.search()
    search.report(X, y, tmp_path / "page.html")
    found = outline((tmp_path / "page.html").read_text("utf-8"))
    text = " ".join(found.text)
    assert "search" in found.ids
    assert "over the budget" in text
    assert "Framed: the best cell" in text


def test_a_search_without_scores_has_a_page(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(UserWarning, match="too few rows"):
        model = BudgetSVC(C="tune", random_state=0).fit(X[:2], [0, 1])
    model.report(X, np.arange(40) % 2, tmp_path / "page.html")
    assert "No cell has a score" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_errors_in_any_units(unit: float) -> None:
    errors = np.array([3.0, -4.0]) * unit
    assert _root_mean_square(errors) == pytest.approx(np.sqrt(12.5) * unit)
    assert _root_mean_square(np.zeros(3)) == 0.0


def test_names_and_labels_are_text(tmp_path: Path) -> None:
    model, X, y = subjects.names_that_mean_harm()
    report(model, X, y, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script" not in page
    assert subjects.EVIL in " ".join(outline(page).text)


@pytest.mark.slow
def test_a_model_from_a_file_has_a_page(tmp_path: Path) -> None:
    for made in (subjects.binary, subjects.regression, subjects.one_class, subjects.pipeline):
        model, X, y = made()
        budgetsvm.save(model, tmp_path / "model.bsvm")
        report(budgetsvm.load(tmp_path / "model.bsvm"), X, y, tmp_path / "page.html")
        outline((tmp_path / "page.html").read_text("utf-8"))


def test_the_estimator_is_as_it_was(tmp_path: Path) -> None:
    model, X, y = subjects.binary()
    before = {name: repr(value) for name, value in vars(model).items()}
    model.report(X, y, tmp_path / "page.html")
    assert {name: repr(value) for name, value in vars(model).items()} == before


# ---- what is refused, before any work ----


def refused(error, match, *arguments) -> None:
    with pytest.raises(error, match=match):
        report(*arguments)
    assert not Path(arguments[-1]).is_file()


def test_bad_input_is_refused(tmp_path: Path) -> None:
    model, X, y = subjects.binary()
    path = tmp_path / "page.html"
    refused(ValueError, "y is needed", model, X, None, path)
    refused(ValueError, "X has 100 rows, and y 99", model, X, y[:-1], path)
    refused(ValueError, "3 features", model, np.ones((4, 3)), y[:4], path)
    refused(ValueError, "NaN", model, np.full((4, 2), np.nan), y[:4], path)
    refused(ValueError, "labels like 'a'", model, X, ["a"] * len(X), path)
    refused(ValueError, "missing", model, X, np.full(len(X), np.nan), path)
    refused(ValueError, "minimum of 1 is required", model, X[:0], y[:0], path)
    refused(TypeError, "makes features", BudgetFeatures(5).fit(X), X, y, path)
    refused(TypeError, "not a str", "model", X, y, path)
    refused(ValueError, "not fitted", BudgetSVC(), X, y, path)
    refused(FileNotFoundError, "no folder", model, X, y, tmp_path / "none" / "page.html")
    refused(IsADirectoryError, "is a folder", model, X, y, tmp_path)


def test_targets_of_another_shape_are_refused(tmp_path: Path) -> None:
    model, X, y = subjects.regression()
    path = tmp_path / "page.html"
    refused(ValueError, "2 targets, and the model 1", model, X, np.column_stack([y, y]), path)
    refused(ValueError, "NaN", model, X, np.full(len(X), np.nan), path)


def test_labels_of_one_class_are_signs(tmp_path: Path) -> None:
    model, X, _ = subjects.one_class()
    refused(ValueError, "1 .* and -1", model, X, np.zeros(len(X)), tmp_path / "page.html")


def test_a_search_without_a_machine_is_refused(tmp_path: Path) -> None:
    from budgetsvm.model_selection import BudgetSVCCV

    _, X, y = subjects.binary()
    search = BudgetSVCCV([1], [1], budget=10, refit=False).fit(X, y)
    refused(ValueError, "refit=True", search, X, y, tmp_path / "page.html")


def test_without_matplotlib_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    model, X, y = subjects.binary()
    refused(ImportError, r"budgetsvm\[plot\]", model, X, y, tmp_path / "page.html")


def test_columns_of_words_have_names_of_their_own(tmp_path: Path) -> None:
    table = pd.DataFrame({"size": np.arange(60.0), "town": ["Essen", "Herne", "Bochum"] * 20})
    labels = np.where((table["size"] > 30) ^ (table["town"] == "Herne"), "yes", "no")
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]))
    model = make_pipeline(columns, BudgetSVC(C=10)).fit(table, labels)
    report(model, table, labels, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "onehotencoder__town_Essen" in page
    nameless = make_column_transformer(
        (StandardScaler(), ["size"]), (FunctionTransformer(_lengths), ["town"])
    )
    model = make_pipeline(nameless, BudgetSVC(C=10)).fit(table, labels)
    report(model, table, labels, tmp_path / "page.html")


def _lengths(towns: pd.DataFrame) -> np.ndarray:
    """Return two columns for one."""
    lengths = towns["town"].str.len().to_numpy(float)
    return np.column_stack([lengths, lengths == 6])
