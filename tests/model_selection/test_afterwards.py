"""What can be done with a fitted machine can be done with one that found its parameters, and with the best of a search."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC, BudgetSVR, compress, diagnose, load, report, save, to_c, to_libsvm
from budgetsvm.conformal import ConformalClassifier, ConformalRegressor
from budgetsvm.model_selection import BudgetSVCCV

X, Y = make_moons(200, noise=0.3, random_state=0)


def load_again(model: Any) -> Any:
    """Return a machine that was in a file."""
    with TemporaryDirectory() as folder:
        save(model, Path(folder) / "model")
        return load(Path(folder) / "model")


def sets(model: Any, y: Any) -> Any:
    """Return conformal sets or intervals."""
    if isinstance(model, BudgetSVR):
        return ConformalRegressor(model).calibrate(X, y).predict_interval(X)
    return ConformalClassifier(model).calibrate(X, y).predict_set(X)


#: What returns numbers, which are to be those of the same machine with the parameters in its hand.
DOORS: dict[str, Callable[[Any, Any], Any]] = {
    "compress": lambda model, _: compress(model, 5).estimator.predict(X),
    "compress on rows": lambda model, _: compress(model, 5, X).estimator.predict(X),
    "compress what was saved": lambda model, _: compress(load_again(model), 5).estimator.predict(X),
    "save": lambda model, _: load_again(model).predict(X),
    "to_libsvm": lambda model, _: len(to_libsvm(model)),
    "to_c": lambda model, _: len(to_c(model).text),
    "sets": sets,
    "diagnose": lambda model, y: len(diagnose(model, X, y).findings),
}


@pytest.fixture(scope="module", params=["classes", "targets"])
def machines(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    """Return a machine that was tuned, one with the same parameters, and what both learned."""
    kind, y = (BudgetSVC, Y) if request.param == "classes" else (BudgetSVR, X[:, 0] ** 2)
    tuned = kind(C="tune", gamma="tune", budget=20, random_state=0).fit(X, y)
    plain = kind(budget=20, random_state=0, **tuned.best_params_).fit(X, y)
    return tuned, plain, y


@pytest.mark.parametrize("door", DOORS)
def test_doors_are_open_for_tuned_machines(door: str, machines: tuple[Any, Any, Any]) -> None:
    tuned, plain, y = machines
    np.testing.assert_array_equal(DOORS[door](tuned, y), DOORS[door](plain, y))


def test_a_report_of_a_tuned_machine(machines: tuple[Any, Any, Any], tmp_path: Path) -> None:
    tuned, _, y = machines
    report(tuned, X, y, tmp_path / "page.html")
    assert "Search" in (tmp_path / "page.html").read_text()


def test_what_was_compressed_still_says_tune(machines: tuple[Any, Any, Any]) -> None:
    small = compress(machines[0], 5).estimator
    assert (small.C, small.gamma, small.budget) == ("tune", "tune", 5)
    assert machines[0].budget == 20


@pytest.mark.parametrize("door", [lambda s: compress(s, 5), load_again, to_c])
def test_a_search_names_its_best_machine(door: Callable[[Any], Any]) -> None:
    search = BudgetSVCCV(Cs=[1.0], gammas=[1.0], budget=10, cv=2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="its best_estimator_ may do"):
        door(search)
    door(search.best_estimator_)


@pytest.mark.parametrize("budget", [20, 200])
def test_scorers_see_what_a_fitted_machine_has(budget: int) -> None:
    """In the span of few terms, and where all rows are terms."""
    plain = BudgetSVC(budget=budget, random_state=0).fit(X, Y)
    wanted = {name for name in vars(plain) if name.endswith("_")}
    seen: list[Any] = []

    def scorer(model: Any, rows: Any, y: Any) -> float:
        primal, dual = model.objective_
        seen.append((wanted - set(vars(model)), model.C, model.C_, dual <= primal))
        return float(model.score(rows, y))

    BudgetSVCCV(Cs=[0.3, 30.0], gammas=[1.0], budget=budget, cv=2, scoring=scorer).fit(X, Y)
    assert len(seen) == 4
    for missing, C, own, certified in seen:
        assert not missing
        assert own == C
        assert certified


def test_sets_of_a_classifier_that_was_fitted_again() -> None:
    model = BudgetSVC(budget=10, random_state=0).fit(X, Y)
    sets = ConformalClassifier(model).calibrate(X, Y)
    model.fit(X, np.arange(200) % 3)
    with pytest.raises(ValueError, match="was fitted again, to other classes"):
        sets.predict_set(X)
