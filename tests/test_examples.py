"""The examples of public classes and functions run.

Doctest finds examples in the module that a thing says it lives in. `budgetsvm` imports its estimators only
when they are asked for, and so doctest does not find theirs.
"""

import doctest
import inspect
from types import FunctionType
from typing import Any

import pytest

import budgetsvm

NAMES = [
    name for name in budgetsvm.__all__ if isinstance(getattr(budgetsvm, name), (type, FunctionType))
]
WITHOUT = {
    "CHeader",
    "Compressed",
    "Diagnosis",
    "Finding",
    "Polished",
}  # shown by the functions that return them
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _methods(thing: Any) -> dict[str, Any]:
    """Return what a class has of its own or from base classes of this package."""
    members = inspect.getmembers(thing) if isinstance(thing, type) else []
    return {
        name: member
        for name, member in members
        if not name.startswith("__") and getattr(member, "__module__", "").startswith("budgetsvm")
    }


@pytest.mark.parametrize("name", NAMES)
def test_examples(name: str) -> None:
    thing = getattr(budgetsvm, name)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(optionflags=FLAGS)
    found = 0
    for inner, each in {name: thing, **_methods(thing)}.items():
        for test in finder.find(each, inner, module=False, globs={}):
            found += len(test.examples)
            assert runner.run(test).failed == 0
    assert found > 0 or name in WITHOUT


def test_there_are_examples() -> None:
    assert {"BudgetSVC", "BudgetSVR", "BudgetOneClassSVM", "BudgetFeatures", "polish"} <= {*NAMES}
