"""Public names say from where they are to be imported, wherever they are defined."""

import pickle
from importlib import import_module
from types import FunctionType

import pytest

PACKAGES = ("budgetsvm", "budgetsvm.cli", "budgetsvm.datasets", "budgetsvm.monitoring")
PACKAGES += ("budgetsvm.streams", "budgetsvm.kernels", "budgetsvm.losses")
PACKAGES += ("budgetsvm.maintenance", "budgetsvm.solvers", "budgetsvm.distributed")
PACKAGES += ("budgetsvm.model_selection", "budgetsvm.plots", "budgetsvm.conformal")


@pytest.mark.parametrize("package", PACKAGES)
def test_names_live_in_their_package(package: str) -> None:
    module = import_module(package)
    named = [getattr(module, name) for name in module.__all__]
    found = [thing for thing in named if isinstance(thing, (type, FunctionType))]
    assert found
    for thing in found:
        assert thing.__module__ == package
        assert pickle.loads(pickle.dumps(thing)) is thing
        for member in vars(thing).values() if isinstance(thing, type) else ():
            if isinstance(member, FunctionType):  # doctest looks for its examples there
                assert member.__module__ == package
