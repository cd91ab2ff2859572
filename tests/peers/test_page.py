"""docs/coming-from/svc.md names all that SVC, SVR and OneClassSVM have, and says right whether ours have it."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.svm import SVC, SVR, OneClassSVM

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from" / "svc.md").read_text(encoding="utf-8")
PAIRS = [(SVC, BudgetSVC), (SVR, BudgetSVR), (OneClassSVM, BudgetOneClassSVM)]
DATA = ([[0.0, 1], [1, 0], [2, 2], [3, 1]], [0, 0, 1, 1])


def table(section: str) -> dict[str, str]:
    """Return what a table of the page says of each name: same, different or missing."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (same|different|missing) \|", text, re.MULTILINE))


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_parameters(theirs: Any, ours: Any) -> None:
    known, own = table("Parameters"), ours().get_params()
    for name in theirs().get_params():
        assert (known[name] == "missing") == (name not in own), name


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_attributes_and_methods(theirs: Any, ours: Any) -> None:
    known = table("Attributes") | table("Methods")
    their, our = theirs(kernel="linear").fit(*DATA), ours(kernel="linear").fit(*DATA)
    names = [n for n in dir(their) if not n.startswith("_") and hasattr(their, n)]
    for name in (n for n in names if n.endswith("_") or callable(getattr(their, n))):
        assert (known[name] != "missing") == hasattr(our, name), name


def test_methods_that_need_a_loss() -> None:
    known, model = table("Methods"), BudgetSVC(loss="log_loss")
    for name, one in inspect.getmembers(SVC):
        if callable(one) and not name.startswith("_"):
            assert (known[name] != "missing") == hasattr(model, name), name
