"""A small machine for streams, and data in blocks."""

from collections.abc import Iterator, Sequence
from typing import Any

from budgetsvm import BudgetSVC


def make(**options: Any) -> BudgetSVC:
    """Unless the options say otherwise: both phases, a small budget."""
    return BudgetSVC(**{"C": 10, "gamma": 1.0, "budget": 40, "random_state": 0, **options})


def in_blocks(X: Any, y: Any, sizes: Sequence[int]) -> Iterator[tuple[Any, Any]]:
    """Cut data into blocks of these sizes, over and over."""
    start, k = 0, 0
    while start < X.shape[0]:
        block = slice(start, start + sizes[k % len(sizes)])
        yield X[block], y[block]
        start, k = block.stop, k + 1
