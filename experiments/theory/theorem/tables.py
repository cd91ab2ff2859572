"""Tables of `theorem_one`."""

import numpy as np

from experiments.report.content import Data, Table
from experiments.running.jobs import Result, Results
from experiments.scope import Scope
from experiments.theory.theorem.bounds import VARIANTS
from experiments.theory.theorem.cases import PROBLEMS, Case, cases, comparison

_PROBLEM_HEADS = {
    "problem": "problem",
    "n": "n",
    "C": "C",
    "gamma": "γ",
    "kappa": "κ",
    "largest": "λ",
    "optimum": "D(α*)",
    "relative_duality_gap": "duality gap",
    "epochs_to_halve": "epochs to halve the bound",
}
_FORMATS = ("s", "d", "g", ".3g", ".2g", ".3g", ".4f", ".0e", ".2g")


def problem_table(results: Results) -> Table:
    """κ, the optimum and what the theorem can say at best."""
    numbers = []
    for name in PROBLEMS:
        facts = comparison(results, Case(name, None, "paper"))
        kappa = max(facts["kappa"], 1e-300)
        halve = float(np.log(2) * (1 + kappa) / (2 * kappa))
        facts = {**facts, "problem": name, "epochs_to_halve": halve}
        numbers.append([facts[key] for key in _PROBLEM_HEADS])
    shown = [
        [format(cell, how) for cell, how in zip(row, _FORMATS, strict=True)] for row in numbers
    ]
    return Table(
        "theorem-problems",
        "Problems with an exact answer",
        "κ and λ are the extreme eigenvalues of Q; the duality gap, relative to D(α*), certifies the "
        "optimum. The last column is "
        "what the theorem promises without a budget (E = 0): on a realistic problem it says nothing, as "
        "κ is next to nothing.",
        Data((*_PROBLEM_HEADS.values(),), shown),
        Data((*_PROBLEM_HEADS,), numbers),
    )


_COLUMNS = (
    "problem",
    "budget",
    "merging",
    "visits",
    "printed_step_fails",
    "worst_step_fails",
    "worst_step_fails_at_E_below_1",
    "nesterov_step_fails",
    "mended_step_fails",
    "printed_bound_broken_from_epoch",
    "worst_bound_broken_from_epoch",
    "mended_bound_broken_from_epoch",
    "visits_that_may_spoil",
    "worst_E_above_1",
    "mean_E_above_1",
)


_STEP_HEADS = (
    "problem",
    "budget",
    "visit: E as printed",
    "visit: E with min",
    "visit: Nesterov's sum",
    "visit: mended",
    "bound: E as printed",
    "bound: E with min",
    "bound: mended",
    "E = ∞",
)


def step_table(scope: Scope, results: Results) -> Table:
    """The one-step inequality and the bound, for all definitions of E."""
    shown, numbers = [], []
    for case in cases(scope):
        found = comparison(results, case)
        steps, errors = found["steps"], found["errors"]
        breaks = [found["broken"][name]["first_epoch"] for name in VARIANTS]
        numbers.append(_numbers(case, steps, errors, breaks))
        shares = [steps[name] for name in ("printed", "worst", "nesterov", "mended")]
        shown.append(
            [
                case.problem,
                case.label,
                *map(_percent, shares),
                *("never" if epoch is None else f"epoch {epoch:.1f}" for epoch in breaks),
                _percent(errors["spoils"]),
            ]
        )
    return Table(
        "theorem-steps",
        "How often the theorem and the step behind it fail",
        "*Visit*: share of all visits (of all seeds; the expectation over the next point is a sum over all "
        "n) at which the expected progress is less than promised; *Nesterov's sum* is D(α*) − D(α) + "
        "½‖α − α*‖², with the minimum. *Bound*: when the mean suboptimality over the seeds first exceeds the "
        "right-hand side. *E = ∞*: visits at which BSCA may move a coordinate that is optimal already; the "
        "other columns leave such coordinates out of E.",
        Data(_STEP_HEADS, shown),
        Data(_COLUMNS, numbers),
    )


def _numbers(
    case: Case, steps: Result, errors: Result, breaks: list[float | None]
) -> list[str | int | float | None]:
    return [
        case.problem,
        case.budget,
        case.merging,
        steps["visits"],
        steps["printed"],
        steps["worst"],
        steps["worst_below_one"],
        steps["nesterov"],
        steps["mended"],
        *breaks,
        errors["spoils"],
        errors["worst_above_one"],
        errors["mean_above_one"],
    ]


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f} %" if share >= 0.0005 else "< 0.1 %"
