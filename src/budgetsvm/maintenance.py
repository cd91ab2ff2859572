"""Budget maintenance: what happens when a new term exceeds the budget.

>>> from budgetsvm import BudgetSVC, maintenance
>>> BudgetSVC(maintenance=maintenance.Merge(n_terms=4))
BudgetSVC(maintenance=Merge(n_terms=4, search='table', partners='any'))
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from budgetsvm._common.checks import check_choice, check_integer
from budgetsvm.kernels import Kernel

__all__ = ["Maintenance", "Merge", "Project", "Remove"]

# Work in multiply-adds: of a golden section search, for one output and for several, and of a pair of terms.
_GOLDEN_WORK, _JOINT_GOLDEN_WORK, _PROJECT_WORK = 5000, 25000, 10


class CoreMaintenance(NamedTuple):
    """What the compiled core wants to know of a strategy."""

    name: str
    golden: bool = False
    same_sign: bool = False
    n_terms: int = 2


@dataclass(frozen=True)
class Maintenance:
    """A strategy that reduces a model to its budget. Use one of its subclasses."""

    name: ClassVar[str]
    #: Points of terms are moved: how much that costs tells whether the terms are good for something.
    makes_new_terms: ClassVar[bool] = False

    def check(self) -> None:
        """Raise a ValueError if an option makes no sense."""

    def suits(self, kernel: Kernel) -> bool:  # noqa: ARG002
        """Whether the strategy works with this kernel; most do with any."""
        return True

    def core(self) -> CoreMaintenance:
        """Return what the compiled core wants to know."""
        return CoreMaintenance(self.name)

    @property
    def steps_per_run(self) -> int:
        """For how many steps a run makes room."""
        return 1

    def work(self, size: int, n_outputs: int) -> float:  # noqa: ARG002
        """Return what a run costs beyond a visit with so many terms, in multiply-adds."""
        return 0.0


@dataclass(frozen=True)
class Merge(Maintenance):
    """Replace the term with the smallest ``|β|`` and its cheapest partner by one term.

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
    name: ClassVar[str] = "merge"
    makes_new_terms: ClassVar[bool] = True

    def check(self) -> None:
        """Raise a ValueError if an option makes no sense."""
        check_integer("Merge.n_terms", self.n_terms, least=2)
        check_choice("Merge.search", self.search, ("table", "golden"))
        check_choice("Merge.partners", self.partners, ("any", "same-sign"))

    def suits(self, kernel: Kernel) -> bool:
        """Whether two terms of this kernel have a single term near them: those of the Gaussian do."""
        return kernel.mergeable

    def core(self) -> CoreMaintenance:
        """Return what the compiled core wants to know."""
        golden, same_sign = self.search == "golden", self.partners == "same-sign"
        return CoreMaintenance(self.name, golden, same_sign, self.n_terms)

    @property
    def steps_per_run(self) -> int:
        """For how many steps a run makes room."""
        return self.n_terms - 1

    def work(self, size: int, n_outputs: int) -> float:
        """Return what a run costs beyond a visit with so many terms, in multiply-adds."""
        each = _JOINT_GOLDEN_WORK if n_outputs > 1 else _GOLDEN_WORK
        return size * each if self.search == "golden" else 0.0


@dataclass(frozen=True)
class Project(Maintenance):
    """Remove the term with the smallest ``|β|`` and project it onto the span of all others.

    Works with any kernel; a reduction costs O(budget²).
    """

    name: ClassVar[str] = "project"

    def work(self, size: int, n_outputs: int) -> float:  # noqa: ARG002
        """Return what a run costs beyond a visit with so many terms, in multiply-adds."""
        return _PROJECT_WORK * size * size


@dataclass(frozen=True)
class Remove(Maintenance):
    """Remove the term with the smallest ``|β|``. Works with any kernel; the crudest strategy."""

    name: ClassVar[str] = "remove"


#: What fits to the kernel: merging for the Gaussian one, else projection.
AUTO = "auto"
#: Names that estimators take, beside that.
BY_NAME = {
    "merge": Merge(),
    "multimerge": Merge(n_terms=3),
    "project": Project(),
    "remove": Remove(),
}


def make_maintenance(
    maintenance: object, kernel: Kernel, budget: int | None, *, needed: bool = True
) -> Maintenance:
    """Turn an estimator's parameter into a checked Maintenance; where none is `needed`, any suits the kernel."""
    if isinstance(maintenance, str):
        check_choice("maintenance", maintenance, (AUTO, *BY_NAME))
        maintenance = _suitable(kernel) if maintenance == AUTO else BY_NAME[maintenance]
    if not isinstance(maintenance, Maintenance) or type(maintenance) is Maintenance:
        message = (
            f"maintenance must be one of {', '.join(map(repr, (AUTO, *BY_NAME)))} or an object of "
            f"budgetsvm.maintenance, not {maintenance!r}"
        )
        raise TypeError(message)
    if budget is None:  # nothing to maintain
        return Remove()
    maintenance.check()
    if maintenance.suits(kernel):
        return maintenance
    if not needed:
        return _suitable(kernel)
    message = (
        f"merging needs the Gaussian kernel (kernel='rbf'): two terms of the {kernel.name} kernel have no single "
        "term near them. Choose maintenance='auto' or 'project' (accurate, O(budget²) per step) or "
        "maintenance='remove' (fast, crude) for this kernel."
    )
    raise ValueError(message)


def _suitable(kernel: Kernel) -> Maintenance:
    """Return the most accurate strategy for a kernel."""
    merge, project = BY_NAME["merge"], BY_NAME["project"]
    return merge if merge.suits(kernel) else project
