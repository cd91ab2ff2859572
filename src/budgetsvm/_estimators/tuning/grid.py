"""The cells of a search: values of C, gamma and, if asked, budgets."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import ParameterGrid

from budgetsvm._common.checks import check_count
from budgetsvm._estimators.machine import resolve
from budgetsvm._estimators.user_input import AUTO, check_penalty
from budgetsvm.kernels import Kernel, make_kernel
from budgetsvm.kernels._interface import KernelWithGamma

#: A number of values, or these values.
Values: TypeAlias = int | ArrayLike

# The middle of the values, and the farthest of them, as a multiple and a part of it; of gamma it is that of "scale".
_MIDDLE_C, _FARTHEST_C, _FARTHEST_GAMMA = 10.0, 100.0, 32.0


@dataclass(frozen=True)
class Line:
    """All C with the same terms: a gamma (None: the kernel has none) and a budget (None: that of the machine)."""

    gamma: float | None
    budget: int | None

    def parameters(self) -> dict[str, Any]:
        """Return what it sets of a machine."""
        own = {"gamma": self.gamma, "budget": self.budget}
        return {name: value for name, value in own.items() if value is not None}


@dataclass(frozen=True)
class Grid:
    """Values of C, rising, and lines; a cell is a C on a line."""

    Cs: tuple[Any, ...]
    gammas: tuple[float, ...]  #: rising; none where the kernel has no gamma
    budgets: tuple[int, ...]  #: rising; none where the machine has the only one

    @property
    def lines(self) -> list[Line]:
        """All lines, in the order of the cells."""
        gammas: Sequence[float | None] = self.gammas or (None,)
        budgets: Sequence[int | None] = self.budgets or (None,)
        return [Line(gamma, budget) for budget in budgets for gamma in gammas]

    @property
    def middle(self) -> Any:
        """The C that terms are learned with."""
        return self.Cs[len(self.Cs) // 2]

    def cells(self) -> list[dict[str, Any]]:
        """Return the parameters of all cells, in the order of scikit-learn: one C after the other, all lines of each."""
        values = {"C": self.Cs, "budget": self.budgets, "gamma": self.gammas}
        return list(ParameterGrid({name: list(own) for name, own in values.items() if own}))

    def with_budgets(self, budgets: Sequence[int]) -> "Grid":
        """Return the same grid for these budgets."""
        return Grid(self.Cs, self.gammas, tuple(budgets))


def penalties(Cs: Values) -> tuple[Any, ...]:
    """Return values of C, rising; a number asks for so many around 1, more of them above than below."""
    given = _listed("Cs", Cs, _MIDDLE_C, _FARTHEST_C)
    for C in given:
        _named("Cs", C, check_penalty)
    return tuple(sorted({*given}, key=check_penalty))


def gammas_for(gammas: Values | None, machine: Any, X: Any) -> tuple[float, ...]:
    """Return values of gamma, rising, for the kernel of a machine and rows; a number asks for so many around "scale".

    None: it has the one of the machine, and there is nothing to try.
    """
    if gammas is None:
        return ()
    kernel = make_kernel(machine.kernel, "scale", machine.degree, machine.coef0)
    if not (isinstance(machine.kernel, str) and isinstance(kernel, KernelWithGamma)):
        if np.ndim(gammas) == 0:
            return ()
        message = f"gammas={gammas!r} cannot be tried with kernel={machine.kernel!r}, which has none of its own"
        raise ValueError(message)
    given = _listed("gammas", gammas, _number(kernel, X), _FARTHEST_GAMMA)
    numbers = []
    for gamma in given:
        made = _named("gammas", gamma, _kernel_of(machine))
        numbers.append(_number(made, X))
    return tuple(sorted({*numbers}))


def budgets_of(budget: Any) -> tuple[int, ...]:
    """Return the budgets to be tried; none for a single one, or where the data decide."""
    if budget is None or np.ndim(budget) == 0:
        return ()
    given = list(budget)
    if not given:
        raise ValueError("budget is a list without budgets in it")
    return tuple(sorted({check_count("budget", each, least=1) for each in given}))


def is_auto(budget: Any) -> bool:
    """Whether the budget is to be found by its curve."""
    return isinstance(budget, str) and budget == AUTO


def _listed(name: str, values: Values, middle: float, farthest: float) -> list[Any]:
    """Return values that are given, or so many around the middle, which is one of them where their number is odd."""
    if np.ndim(values) == 0:
        single: object = values  # whatever it is said to be
        if not isinstance(single, Real):
            message = f"{name} must be a number of values, or a list of some, not {values!r}"
            raise TypeError(message)
        count = check_count(name, values, least=1)
        powers = np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
        least, most = np.finfo(float).tiny, np.finfo(float).max  # of features in odd units
        with np.errstate(over="ignore"):
            return [float(x) for x in np.clip(middle * farthest**powers, least, most)]
    given = list(values)  # type: ignore[arg-type]
    if not given:
        message = f"{name} must be a number of values, or a list of some, not {values!r}"
        raise ValueError(message)
    return [each.item() if isinstance(each, np.generic) else each for each in given]


def _named(name: str, value: Any, check: Any) -> Any:
    """Check one of several values; the message says of which parameter it is."""
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        message = f"{name} has {value!r} in it: {error}"
        raise type(error)(message) from error


def _kernel_of(machine: Any) -> Any:
    return lambda gamma: make_kernel(machine.kernel, gamma, machine.degree, machine.coef0)


def _number(kernel: Kernel, X: Any) -> float:
    resolved = resolve(kernel, X)
    assert isinstance(resolved, KernelWithGamma)
    return float(resolved.gamma)
