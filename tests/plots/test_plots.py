"""Pictures show the numbers that they are of, on axes of the user's or their own."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, make_friedman1, make_moons
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.model_selection import BudgetSVCCV
from budgetsvm.plots import plot_budget_curve, plot_calibration, plot_confusion, plot_grid
from budgetsvm.plots._calibration import _grouped

X, y = make_moons(400, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def search():
    return BudgetSVCCV([1, 10, 100], [0.1, 1], random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def digits():
    rows, labels = load_digits(return_X_y=True)
    model = BudgetSVC(gamma=0.001, loss="log_loss", budget=30, random_state=0)
    return model.fit(rows[:800], labels[:800]), rows[800:], labels[800:]


def texts(ax):
    return [one.get_text() for one in ax.texts]


def drawn(ax):
    """Draw all of it: what cannot be shown raises here."""
    ax.figure.savefig(io.BytesIO(), format="svg")
    return ax


@pytest.mark.parametrize(("unit", "text"), [(1.0, "0.500"), (1e-9, "5e-10"), (1e12, "5e+11")])
def test_scores_in_other_units(unit, text) -> None:
    results = {
        "params": [{"C": 1.0}, {"C": 2.0}],
        "param_C": np.ma.MaskedArray([1.0, 2.0]),
        "mean_test_score": np.array([0.5, 0.25]) * unit,
        "rank_test_score": np.array([1, 2]),
    }
    assert text in texts(plot_grid(SimpleNamespace(cv_results_=results, best_index_=0)))


def test_equal_predictions_are_one_group() -> None:
    told, came = np.full(100, 0.5), np.arange(100) // 50
    x, mean, error = _grouped(told, came, 5)
    np.testing.assert_allclose([x, mean, error], [[0.5], [0.5], [0.05]])
    x, mean, _ = _grouped(np.repeat([0.1, 0.9], 50), came, 4)
    np.testing.assert_allclose([x, mean], [[0.1, 0.9], [0.0, 1.0]])
    np.testing.assert_allclose(_grouped(np.arange(20.0), np.arange(20.0), 4)[0], [2, 7, 12, 17])


def test_the_grid_has_the_scores(search) -> None:
    ax = drawn(plot_grid(search))
    results = search.cv_results_
    best = {}
    for one, score, rank in zip(
        results["params"], results["mean_test_score"], results["rank_test_score"], strict=True
    ):
        place = one["C"], one["gamma"]
        best[place] = min(best.get(place, (np.inf, 0.0)), (rank, score))
    assert sorted(texts(ax)) == sorted(f"{score:.3f}" for _, score in best.values())
    assert [one.get_text() for one in ax.get_xticklabels()] == ["1", "10", "100"]
    assert [one.get_text() for one in ax.get_yticklabels()] == ["0.1", "1"]
    (frame,) = (one for one in ax.patches if one.get_width() == 1)
    column, row = frame.get_x() + 0.5, frame.get_y() + 0.5
    assert [1, 10, 100][int(column)] == search.best_params_["C"]
    assert [0.1, 1][int(row)] == search.best_params_["gamma"]


def test_the_grid_of_scikit_learn() -> None:
    wanted = {"C": [1.0, 10.0], "loss": ["hinge", "log_loss"]}
    found = GridSearchCV(BudgetSVC(gamma=1, budget=20, random_state=0), wanted, cv=3).fit(X, y)
    ax = drawn(plot_grid(found))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "loss")
    only = GridSearchCV(BudgetSVC(gamma=1, budget=20, random_state=0), {"C": [1.0, 2.0]}, cv=3)
    assert drawn(plot_grid(only.fit(X, y))).get_ylabel() == ""


def test_the_curve_has_the_budgets(search) -> None:
    ax = drawn(plot_budget_curve(search))
    (line,) = (one for one in ax.lines if one.get_label() == "mean over folds")
    np.testing.assert_array_equal(line.get_xdata(), search.budget_curve_["budget"])
    np.testing.assert_array_equal(line.get_ydata(), search.budget_curve_["mean_test_score"])


def test_confusion_counts(digits) -> None:
    model, rows, labels = digits
    ax = drawn(plot_confusion(model, rows, labels))
    counts = confusion_matrix(labels, model.predict(rows))
    assert sorted(texts(ax)) == sorted(f"{n:,}" for n in counts.ravel() if n)
    assert ax.yaxis_inverted()


def test_confusion_of_many_classes_and_long_names() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"${k}$ a name that is very long" for k in range(40)])

    class Anything:
        def predict(self, rows):
            return names[rng.integers(0, 40, len(rows))]

    ax = drawn(plot_confusion(Anything(), np.zeros((500, 1)), names[rng.integers(0, 40, 500)]))
    assert texts(ax) == []
    assert len(ax.get_xticklabels()) == 20


def test_calibration_has_shares(digits) -> None:
    model = BudgetSVC(loss="log_loss", gamma=1, random_state=0).fit(X[:200], y[:200])
    ax = drawn(plot_calibration(model, X[200:], y[200:], bins=4))
    points = ax.containers[0][0].get_xydata()
    told = model.predict_proba(X[200:])[:, 1]
    groups = np.array_split(np.argsort(told, kind="stable"), 4)
    np.testing.assert_allclose(points[:, 0], [told[g].mean() for g in groups])
    np.testing.assert_allclose(points[:, 1], [y[200:][g].mean() for g in groups])
    many = drawn(plot_calibration(*digits))
    assert many.get_xlabel() == "probability of the class predicted"


def test_calibration_of_decision_values_and_targets() -> None:
    hinge = BudgetSVC(gamma=1, random_state=0).fit(X[:200], y[:200])
    assert drawn(plot_calibration(hinge, X[200:], y[200:])).get_xlabel() == "decision value"
    three = np.arange(400) % 3
    several = BudgetSVC(gamma=1, random_state=0).fit(X, three)
    assert drawn(plot_calibration(several, X, three)).get_ylabel() == "share of correct ones"
    rows, targets = make_friedman1(300, random_state=0)
    model = BudgetSVR(random_state=0).fit(rows, targets)
    assert drawn(plot_calibration(model, rows, targets)).get_ylabel() == "mean target"
    both = np.column_stack([targets, 1e6 * targets])
    model = BudgetSVR(random_state=0).fit(rows, both)
    assert len(drawn(plot_calibration(model, rows, both)).containers) == 2


def test_axes_of_the_user(search) -> None:
    axes = Figure().subplots(2, 2)
    model = BudgetSVC(gamma=1, random_state=0).fit(X, y)
    assert plot_grid(search, ax=axes[0, 0]) is axes[0, 0]
    assert plot_budget_curve(search, ax=axes[0, 1]) is axes[0, 1]
    assert plot_confusion(model, X, y, ax=axes[1, 0]) is axes[1, 0]
    assert plot_calibration(model, X, y, ax=axes[1, 1]) is axes[1, 1]


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = BudgetSVC(gamma=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="no scores of a search"):
        plot_grid(model)
    with pytest.raises(ValueError, match="no curve of budgets"):
        plot_budget_curve(model)
    with pytest.raises(ValueError, match="predicts no classes"):
        plot_confusion(BudgetSVR().fit(X, y), X, y)
    with pytest.raises(ValueError, match="neither classes nor targets"):
        plot_calibration(BudgetOneClassSVM().fit(X), X, y)
    with pytest.raises(ValueError, match="bins must be at least 2"):
        plot_calibration(model, X, y, bins=1)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"plot_confusion needs matplotlib: .*budgetsvm\[plot\]"):
        plot_confusion(model, X, y)
