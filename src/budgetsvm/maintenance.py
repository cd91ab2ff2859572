"""Budget maintenance: what happens when a new term exceeds the budget.

>>> from budgetsvm import BudgetSVC, maintenance
>>> BudgetSVC(maintenance=maintenance.Merge(n_terms=4))
BudgetSVC(maintenance=Merge(n_terms=4, search='table', partners='any'))
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from budgetsvm._common.checks import check_choice, check_integer
from budgetsvm.kernels import Kernel

CoreMaintenance: TypeAlias = tuple[str, bool, bool, int]

__all__ = ["Maintenance", "Merge", "Project", "Remove"]


@dataclass(frozen=True)
class Maintenance:
    """A strategy that reduces a model to its budget. Use one of its subclasses."""

    def check(self, kernel: Kernel) -> None:
        """Raise a ValueError if the strategy does not work with this kernel; most do with any."""

    def core(self) -> CoreMaintenance:
        """Return what the compiled core wants to know."""
        return (type(self).__name__.lower(), False, False, 2)


@dataclass(frozen=True)
class Merge(Maintenance):
    """Replace the term with the smallest |β| and its cheapest partner by one term.

    Needs the Gaussian kernel.

    Parameters
    ----------
    n_terms : int, default=2
        How many terms are merged into one. More than two is multi-merge (Qaadan & Glasmachers 2018):
        maintenance runs less often and each time costs a little more accuracy; 3 to 5 are sensible.
    search : {"table", "golden"}, default="table"
        How candidates are ranked: by a precomputed table of the degradation, or by a golden section
        search per candidate as in the paper (the same up to rounding, and much slower).
    partners : {"any", "same-sign"}, default="any"
        Whether terms with coefficients of opposite sign may be merged. The paper merges equal signs
        only; considering both is more accurate (see the theory page of the documentation). With several
        outputs a term has a row of coefficients, and the sign is that of the inner product of two rows.
    """

    n_terms: int = 2
    search: Literal["table", "golden"] = "table"
    partners: Literal["any", "same-sign"] = "any"

    def check(self, kernel: Kernel) -> None:
        """Raise a ValueError if an option makes no sense, or with any but the Gaussian kernel."""
        check_integer("Merge.n_terms", self.n_terms, least=2)
        check_choice("Merge.search", self.search, ("table", "golden"))
        check_choice("Merge.partners", self.partners, ("any", "same-sign"))
        if not kernel.mergeable:
            message = (
                f"merging needs the Gaussian kernel (kernel='rbf'): two terms of the {kernel.name} "
                "kernel have no single term near them. Choose maintenance='project' (accurate, "
                "O(budget²) per step) or maintenance='remove' (fast, crude) for this kernel."
            )
            raise ValueError(message)

    def core(self) -> CoreMaintenance:
        """Return what the compiled core wants to know."""
        return ("merge", self.search == "golden", self.partners == "same-sign", self.n_terms)


@dataclass(frozen=True)
class Project(Maintenance):
    """Remove the term with the smallest |β| and project it onto the span of all others.

    Works with any kernel; a reduction costs O(budget²).
    """


@dataclass(frozen=True)
class Remove(Maintenance):
    """Remove the term with the smallest |β|. Works with any kernel; the crudest strategy."""


_BY_NAME = {
    "merge": Merge(),
    "multimerge": Merge(n_terms=3),
    "project": Project(),
    "remove": Remove(),
}


def make_maintenance(maintenance: object, kernel: Kernel, budget: int | None) -> Maintenance:
    """Turn an estimator's parameter into a checked Maintenance."""
    if isinstance(maintenance, str):
        check_choice("maintenance", maintenance, tuple(_BY_NAME))
        maintenance = _BY_NAME[maintenance]
    if not isinstance(maintenance, Maintenance):
        message = (
            f"maintenance must be one of {', '.join(map(repr, _BY_NAME))} or an object of "
            f"budgetsvm.maintenance, not {maintenance!r}"
        )
        raise TypeError(message)
    if budget is None:  # nothing to maintain
        return Remove()
    maintenance.check(kernel)
    return maintenance
