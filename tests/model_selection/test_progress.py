"""The time left of a search: a guess that is of the right order, and never more than a limit leaves."""

from math import inf
from time import perf_counter

import pytest

from budgetsvm._estimators.tuning.progress import SearchProgress


def test_a_limit_is_never_exceeded() -> None:
    told = SearchProgress(perf_counter() + 5.0)
    told.expect({"looks": 1e9, "all rows": 1e10})
    told.at("looks")
    assert 0 < told.left() <= 5.0
    late = SearchProgress(perf_counter() - 5.0)
    late.expect({"looks": 1e9})
    assert 0 < late.left() < 0.1


@pytest.mark.parametrize("rows", [1e5, 1e6])
def test_the_first_guess_is_of_seconds(rows: float) -> None:
    told = SearchProgress(inf)
    told.expect({"looks": rows})
    told.at("looks")
    assert told.left() < rows * 1e-3
