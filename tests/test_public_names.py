"""Public names say from where they are to be imported, wherever they are defined."""

import pickle
from importlib import import_module
from types import FunctionType

import pytest

PACKAGES = ("budgetsvm.cli", "budgetsvm.datasets", "budgetsvm.streams")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_live_in_their_package(package: str) -> None:
    module = import_module(package)
    named = [getattr(module, name) for name in module.__all__]
    found = [thing for thing in named if isinstance(thing, (type, FunctionType))]
    assert found
    for thing in found:
        assert thing.__module__ == package
        assert pickle.loads(pickle.dumps(thing)) is thing
        if isinstance(thing, type):
            assert thing.__repr__.__module__ == package  # so that doctest looks into methods
