"""So many classes that their pairs do not fit into memory are refused at once, in words that help."""

from typing import Any

import numpy as np
import pytest

from budgetsvm import BudgetSVC
from budgetsvm._common import memory
from budgetsvm._problem.pair_targets import _incidence, _signs, check_room, pairs_of

RNG = np.random.default_rng(0)
WAY_OUT = "multi_class='ovr' has one for each class.* are for BudgetSVR"


def rows(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two rows of each class."""
    return RNG.standard_normal((2 * n_classes, 2)), np.repeat(np.arange(n_classes), 2)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_numbers_taken_for_labels(call: str) -> None:
    X, y = rows(20_000)
    with pytest.raises(MemoryError, match=f"20,000 classes are 199,990,000 pairs.*GB.*{WAY_OUT}"):
        getattr(BudgetSVC(), call)(X, y, **({} if call == "fit" else {"classes": np.unique(y)}))


@pytest.mark.parametrize("options", [{}, {"C": "tune"}, {"budget": 100}, {"budget": None}], ids=str)
def test_what_is_free_decides(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(300)
    monkeypatch.setattr(memory, "free", lambda: 1e8)
    with pytest.raises(MemoryError, match=WAY_OUT):
        BudgetSVC(**options).fit(X, y)
    model = BudgetSVC(multi_class="ovr", budget=10, epochs=1, polish=False, random_state=0)
    assert len(model.fit(X, y).dual_coef_) == 300


def test_the_least_that_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is counted is there in the end: nobody is refused who has room."""
    n_classes, n_terms = 500, 20
    pairs = pairs_of(n_classes)
    needed = pairs.nbytes + _incidence(n_classes).nbytes + _signs(n_classes).nbytes
    needed += 8 * len(pairs) * n_terms
    monkeypatch.setattr(memory, "free", lambda: float(needed))
    check_room(n_classes, n_terms)
    monkeypatch.setattr(memory, "free", lambda: needed - 1.0)
    with pytest.raises(MemoryError):
        check_room(n_classes, n_terms)
