"""Options as plain records: a name and numbers. Only those that this package offers can be read.

A file never says which module to import: what is not among the public options is none.
"""

from dataclasses import fields as dataclass_fields
from typing import Any, TypeAlias, TypeVar

from budgetsvm import kernels, losses, maintenance, solvers
from budgetsvm._common.records import Fields, Record
from budgetsvm.kernels import Kernel, Polynomial
from budgetsvm.losses import Loss
from budgetsvm.maintenance import Maintenance
from budgetsvm.solvers import Solver

Option: TypeAlias = Kernel | Loss | Solver | Maintenance
OPTION = (Kernel, Loss, Solver, Maintenance)  #: for isinstance

_Option = TypeVar("_Option", Kernel, Loss, Solver, Maintenance)

_HOMES: dict[type[Any], Any] = {
    Kernel: kernels,
    Loss: losses,
    Solver: solvers,
    Maintenance: maintenance,
}
# Those with a name can be used; a kernel function in Python is code, and no record.
_KNOWN: dict[type[Any], dict[str, type[Any]]] = {
    kind: {
        one.name: one
        for one in (getattr(home, name) for name in home.__all__)
        if hasattr(one, "name") and one is not kernels.Callback
    }
    for kind, home in _HOMES.items()
}
_LARGEST_DEGREE = (1 << 31) - 1  # in the core


def option_record(option: Option) -> Record | None:
    """Return a record of an option, or None if it is not one of this package's own."""
    if not any(type(option) in known.values() for known in _KNOWN.values()):
        return None
    numbers = {name: getattr(option, name) for name in _numbers(type(option))}
    return {"name": option.name, **numbers}


def read_option(kind: type[_Option], fields: Fields, name: str) -> _Option:
    """Return an option of this kind from its record; in a pickle it is there itself."""
    value = fields.take(name)
    if isinstance(value, kind):
        return value
    inside = Fields(value, f"{fields.where}[{name!r}]")
    known = _KNOWN[kind]
    made = known[inside.choice("name", tuple(known))]
    numbers = {name: inside.scalar(name) for name in _numbers(made)}
    inside.end()
    option: _Option = made(**numbers)
    try:
        _check(option)
    except (TypeError, ValueError) as error:
        fields.fail(name, f"makes no sense: {error}")
    return option


def _numbers(option: Any) -> list[str]:
    """Return the names of what an option is made of, but for what a machine does not keep."""
    return [field.name for field in dataclass_fields(option) if field.compare]


def _check(option: Option) -> None:
    option.check()
    if isinstance(option, Polynomial) and option.degree > _LARGEST_DEGREE:
        message = f"degree must be at most {_LARGEST_DEGREE}"
        raise ValueError(message)
