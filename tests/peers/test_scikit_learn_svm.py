"""scikit-learn's own tests of SVC, SVR and OneClassSVM, with ours in their place.

They are those of the version that is installed; docs/coming-from/svc.md lists which of them fail, and why.
"""

import inspect
import re
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

from peers.adapter import OURS
from sklearn import svm

_OF_OURS = re.compile(r"\bsvm\.(SVC|SVR|OneClassSVM)\b|\bOneClassSVM\b")


def _their_module() -> ModuleType:
    """Return scikit-learn's tests, in which our classes have the names of theirs."""
    spec = find_spec("sklearn.svm.tests.test_svm")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with patch.multiple(svm, **OURS):
        spec.loader.exec_module(module)
    module.svm = SimpleNamespace(**(vars(svm) | OURS))  # type: ignore[attr-defined]
    return module


def _of_ours(module: ModuleType) -> dict[str, Any]:
    tests = {name: one for name, one in vars(module).items() if name.startswith("test_")}
    return {name: one for name, one in tests.items() if _OF_OURS.search(inspect.getsource(one))}


globals().update(_of_ours(_their_module()))


def test_there_are_tests() -> None:
    """The list is not empty because of a change in what is installed."""
    assert sum(name.startswith("test_") for name in globals()) > 40
