"""What scikit-learn imports and a command never calls, imported when it is called all the same.

Half the time of ``budgetsvm train`` on a small file went into ``import sklearn``: SciPy's statistics, and pandas with
all of Arrow if it is installed, for the sake of a few functions. Python's own ``importlib.util.LazyLoader`` does not
help: its modules are loaded by the second ``import`` that names them. These here are left out of ``sys.modules`` as
soon as scikit-learn is there, so that nobody takes pandas for loaded who looks there whether a table may be one of its.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: Found by ``python -X importtime``; the last two are named by SciPy, in ``from numpy import *``.
NOT_NEEDED = ("scipy.special", "scipy.stats", "pandas", "numpy.testing", "numpy.f2py")


class _StandIn(ModuleType):
    """A module that is imported when somebody asks for something in it."""

    _stand_ins: "_StandIns | None" = (
        None  # while it is made, the import system asks for this and that
    )

    def __getattr__(self, name: str) -> Any:
        if self._stand_ins is None:
            raise AttributeError(name)
        self._stand_ins.end()
        return getattr(import_module(self.__name__), name)


class _StandIns(MetaPathFinder, Loader):
    """Finds a stand-in for each of some modules, until its end: real modules must meet real ones only."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._made = names, list[_StandIn]()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the modules, if it is installed."""
        del path, target
        if fullname not in self._names:
            return None
        sys.meta_path.remove(self)
        try:
            return None if find_spec(fullname) is None else ModuleSpec(fullname, self)
        finally:
            sys.meta_path.insert(0, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make a stand-in."""
        self._made.append(_StandIn(spec.name))
        return self._made[-1]

    def exec_module(self, module: ModuleType) -> None:
        """Let it do its work from now on."""
        module._stand_ins = self  # type: ignore[attr-defined]

    def end(self) -> None:
        """Let modules be found as always; those who hold a stand-in may keep it."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for module in self._made:
            if sys.modules.get(module.__name__) is module:
                del sys.modules[module.__name__]
            package, _, name = module.__name__.rpartition(".")
            if package and vars(sys.modules[package]).get(name) is module:
                delattr(sys.modules[package], name)


@contextmanager
def standing_in(*names: str) -> Iterator[None]:
    """Let others stand in for these modules, if they are imported now and not loaded yet."""
    stand_ins = _StandIns(names)
    sys.meta_path.insert(0, stand_ins)
    try:
        yield
    finally:
        stand_ins.end()


def import_sklearn() -> None:
    """Import what all estimators stand on, without what they do not need."""
    with standing_in(*NOT_NEEDED):
        import sklearn.utils.validation  # noqa: F401
