"""Tables of `theorem_one`."""

import numpy as np

from experiments.report.content import Data, Table
from experiments.running.jobs import Result, Results
from experiments.scope import Scope
from experiments.theory.theorem.bounds import SUMS, VARIANTS
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
    "departure_step_fails",
    "distance_step_fails",
    "printed_bound_broken_from_epoch",
    "worst_bound_broken_from_epoch",
    "mended_bound_broken_from_epoch",
    "departure_bound_broken_from_epoch",
    "distance_bound_broken_from_epoch",
    "largest_mean_of_gap_over_product",
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
    "visit: mended, both sums",
    "bound: E as printed",
    "bound: E with min",
    "bound: mended, both sums",
    "E = ∞",
)


def step_table(scope: Scope, results: Results) -> Table:
    """The one-step inequality and the bound, for all definitions of E."""
    shown, numbers = [], []
    for case in cases(scope):
        found = comparison(results, case)
        steps, errors = found["steps"], found["errors"]
        breaks = [found["broken"][name]["first_epoch"] for name in (*VARIANTS, *SUMS)]
        numbers.append(_numbers(case, found, breaks))
        ours = max(steps[name] for name in ("mended", *SUMS))
        shares = [*(steps[name] for name in ("printed", "worst", "nesterov")), ours]
        first = min((epoch for epoch in breaks[2:] if epoch is not None), default=None)
        shown.append(
            [
                case.problem,
                case.label,
                *map(_percent, shares),
                *("never" if e is None else f"epoch {e:.1f}" for e in (*breaks[:2], first)),
                _percent(errors["spoils"]),
            ]
        )
    return Table(
        "theorem-steps",
        "How often the theorem and the step behind it fail",
        "*Visit*: share of all visits (of all seeds; the expectation over the next point is a sum over all "
        "n) at which the expected progress is less than promised; *Nesterov's sum* is D(α*) − D(α) + "
        "½‖α − α*‖², with the minimum. *Bound*: when the mean over the seeds first exceeds the mean "
        "right-hand side; of the mended one, when the mean of ΔD / ∏ r exceeds D(α*), which is what is proved. *E = ∞*: visits at which BSCA may "
        "move a coordinate that is optimal already. With the minimum nothing is promised there, nor by its bound from the first of them on.",
        Data(_STEP_HEADS, shown),
        Data(_COLUMNS, numbers),
    )


def _numbers(
    case: Case, found: Result, breaks: list[float | None]
) -> list[str | int | float | None]:
    steps, errors = found["steps"], found["errors"]
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
        *(steps[name] for name in SUMS),
        *breaks,
        found["divided"],
        errors["spoils"],
        errors["worst_above_one"],
        errors["mean_above_one"],
    ]


_LOSS_HEADS = (
    "problem",
    "budget",
    "lost, first epoch",
    "½ mean (f̃ − f)²",
    "(λ/2n) ‖w̃ − w‖²",
    "lost, last epoch",
    "½ mean (f̃ − f)²",
    "(λ/2n) ‖w̃ − w‖²",
    "bound / gap at the end",
)


def loss_table(scope: Scope, results: Results) -> Table:
    """What the budget costs per visit, and what the sums allow for."""
    shown: list[list[str]] = []
    numbers: list[list[str | int | float | None]] = []
    for case in cases(scope):
        if case.budget is None:
            continue
        losses = comparison(results, case)["losses"]
        values = [losses[w][name] for w in ("first", "last") for name in ("lost", *SUMS)]
        finals = [losses["final"][name] for name in SUMS]
        shown.append([case.problem, case.label, *(f"{v:.2g}" for v in values), f"{finals[0]:.2g}"])
        numbers.append(
            [case.problem, case.budget, case.merging, *values, *finals, losses["excess"]]
        )
    columns = ("problem", "budget", "merging")
    columns += tuple(f"{when}_{name}" for when in ("first", "last") for name in ("lost", *SUMS))
    return Table(
        "theorem-losses",
        "What a visit loses to the budget, and what the sums allow",
        "Mean over all visits of the first and of the last epoch: the expected progress of exact steps minus that of BSCA's, beside what the two "
        f"sums say it is at most. {_looseness(scope, results)} Last column: the bound by Σ(f̃ − f)², added up over all visits, divided by the mean suboptimality.",
        Data(_LOSS_HEADS, shown),
        Data((*columns, "final_departure", "final_distance", "largest_excess"), numbers),
    )


def looseness(scope: Scope, results: Results) -> dict[str, list[float]]:
    """Return how many times too much the sum by the departure allows for, and the bound at the end."""
    limited = [comparison(results, case) for case in cases(scope) if case.budget is not None]
    found = {
        when: [
            c["losses"][when]["departure"] / max(c["losses"][when]["lost"], 1e-300) for c in limited
        ]
        for when in ("first", "last")
    }
    return {**found, "final": [c["losses"]["final"]["departure"] for c in limited]}


def _looseness(scope: Scope, results: Results) -> str:
    loose = looseness(scope, results)
    first, last = (np.median(loose[when]) for when in ("first", "last"))
    return (
        f"By Σ(f̃ − f)² that is {first:.2g} times as much as is lost in the first epoch, and {last:.2g} times in the last one "
        f"({min(loose['last']):.2g} to {max(loose['last']):.2g}), median over the settings."
    )


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f} %" if share >= 0.0005 else "< 0.1 %"
