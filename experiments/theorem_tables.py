"""Tables of `theorem_one`."""

import numpy as np

from experiments.content import Data, Table
from experiments.jobs import Result, Results
from experiments.scope import Scope
from experiments.theorem_bounds import VARIANTS
from experiments.theorem_cases import PROBLEMS, Case, cases, comparison


def problem_table(results: Results) -> Table:
    """κ, the optimum and what the theorem can say at best."""
    heads = (
        "problem",
        "n",
        "C",
        "γ",
        "κ",
        "λ",
        "D(α*)",
        "duality gap",
        "epochs to halve the bound",
    )
    columns = (
        "problem",
        "n",
        "C",
        "gamma",
        "kappa",
        "largest",
        "optimum",
        "gap",
        "epochs_to_halve",
    )
    shown, numbers = [], []
    for name in PROBLEMS:
        facts = comparison(results, Case(name, None, "paper"))
        halve = float(np.log(2) * (1 + facts["kappa"]) / max(2 * facts["kappa"], 1e-300))
        C, gamma, kappa, largest = (facts[key] for key in ("C", "gamma", "kappa", "largest"))
        optimum, gap = facts["optimum"], facts["relative_duality_gap"]
        numbers.append([name, facts["n"], C, gamma, kappa, largest, optimum, gap, halve])
        shown.append(
            [
                name,
                str(facts["n"]),
                f"{C:g}",
                f"{gamma:.3g}",
                f"{kappa:.2g}",
                f"{largest:.3g}",
                f"{optimum:.4f}",
                f"{gap:.0e}",
                f"{halve:.2g}",
            ]
        )
    return Table(
        "theorem-problems",
        "Problems with an exact answer",
        "κ and λ are the extreme eigenvalues of Q; the duality gap, relative to D(α*), certifies the optimum. The last column is "
        "what the theorem promises without a budget (E = 0): on a realistic problem it says nothing, as κ is next to nothing.",
        Data(heads, shown),
        Data(columns, numbers),
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


def step_table(scope: Scope, results: Results) -> Table:
    """The one-step inequality and the bound, for all definitions of E."""
    heads = (
        "problem",
        "budget",
        "step fails: E as printed",
        "E with min",
        "Nesterov's sum, E with min",
        "Ē, mended",
        "bound broken from: E as printed",
        "E with min",
        "Ē, mended",
        "E = ∞",
    )
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
        "Share of all visits (every visit of every seed, expectation over the next point by summing over all n) at which the "
        "expected progress is less than promised, and when the mean suboptimality over the seeds first exceeds the theorem's right-hand side. "
        "*E = ∞*: visits at which BSCA may move a coordinate that is optimal already; the other columns leave such coordinates out of E.",
        Data(heads, shown),
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
