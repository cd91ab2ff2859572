"""What the paper concludes from Theorem 1, and what became of it, in runs with the paper's merging."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from experiments.report.content import Claim
from experiments.report.wording import judge
from experiments.running.jobs import Result, Results
from experiments.scope import Scope
from experiments.theory.theorem.bounds import SUMS
from experiments.theory.theorem.cases import Case, cases, comparison, long_run, rows
from experiments.theory.theorem.tables import looseness

WHERE = "section 4, Optimization Progress of BSCA"
_DISCUSSION = f"{WHERE}, discussion"
_ROUNDING = 1e-9  # of a coordinate's loss

# Two phases: a first epoch with at least this share of the progress without a budget, whose rate changes by less
# than this factor from its first part to its last; and in the last quarter less than this share of it.
_EARLY, _STEADY, _LATE = 0.8, 3.0, 0.1
# A run has come to rest if its last epoch moved α by less than this, relative to ‖α*‖.
_REST = 1e-3
_APART = 1e-2
_FAR = 0.1  # of C: a violation that no rule should stop at
_SMALL_ERROR = 0.5
_RELATED = 0.5  # a rank correlation from which on two quantities go together


def discussed(scope: Scope, results: Results) -> list[Claim]:
    """Judge all statements."""
    limited = [case for case in cases(scope) if case.budget is not None]
    return [
        _degradation_limits(scope, results),
        _related(scope, results),
        _small_early(scope, results),
        _phases(scope, results),
        _limit(scope, results),
        _violations([long_run(results, case) for case in limited if case.merging == "paper"]),
        _stopping([long_run(results, case) for case in limited if case.merging == "paper"]),
    ]


def _papers(scope: Scope) -> list[Case]:
    """Return the settings with a budget that merge as the paper does."""
    return [c for c in cases(scope) if c.budget is not None and c.merging == "paper"]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Return a rank correlation; 0 where one of both is constant, so that there is none."""
    if len(set(one)) < 2 or len(set(other)) < 2:
        return 0.0
    return float(spearmanr(one, other)[0])


def _degradation_limits(scope: Scope, results: Results) -> Claim:
    found = [comparison(results, case) for case in cases(scope)]
    visits = sum(c["steps"]["visits"] for c in found)
    fails = {name: max(c["steps"][name] for c in found) for name in SUMS}
    excess = max(c["losses"]["excess"] for c in found)
    loose = looseness(scope, results)
    ends = [_ends(comparison(results, case)) for case in _papers(scope)]
    together = _correlation(*zip(*ends, strict=True))
    met = [max(fails.values()) == 0 and excess <= _ROUNDING, together >= _RELATED]
    return Claim(
        "The precision to which the optimum can be approximated is limited by the relative approximation error, or indirectly by the weight degradation.",
        _DISCUSSION,
        f"A visit loses no more than ½ mean (f̃ − f)² ≤ (λ/2n) ‖w̃ − w‖² to the budget, at any of {visits:,} visits (largest excess of a coordinate: {excess:.0e}); "
        f"proved in docs/theory.md. Over {len(ends)} settings, the suboptimality at the end and λ‖w̃ − w‖² have a rank correlation of {together:.2f}. Late in a run the bound allows for {np.median(loose['last']):.1f} times what is lost (median), and "
        f"added up over all visits for {np.median(loose['final']):.0f} times the suboptimality (rule: no visit exceeds it, and a rank correlation of {_RELATED:g} or more; in part if one of both)",
        judge(met),
    )


def _ends(found: Result) -> tuple[float, float]:
    """Return the suboptimality at the end, relative to the optimum, and the distance, medians over seeds."""
    gap, distance = (
        float(np.median(np.array(found["series"][name])[:, -1])) for name in ("gap", "distance")
    )
    return gap / found["optimum"], distance / found["optimum"]


def _related(scope: Scope, results: Results) -> Claim:
    """Over the looks of a run, medians over seeds."""
    found: dict[str, list[float]] = {}
    for case in _papers(scope):
        series = comparison(results, case)["series"]
        for name in ("worst", "printed", "mean"):
            pairs = zip(series[name], series["distance"], strict=True)
            found.setdefault(name, []).append(float(np.median([_correlation(*p) for p in pairs])))
    met = [value >= _RELATED for name in ("printed", "worst") for value in found[name]]
    counts = [sum(v >= _RELATED for v in found[name]) for name in ("printed", "worst")]
    medians = [f"{np.median(found[name]):.2f}" for name in ("worst", "printed", "mean")]
    return Claim(
        "We interpret E as a dual quantity related to the weight degradation error ‖w̃ − w‖².",
        WHERE,
        f"As printed, E is related to it in {counts[0]} of {len(found['worst'])} settings, with the minimum, which the proof needs, in {counts[1]}. Median rank correlation over a run, as printed {medians[1]}, with the minimum {medians[0]}, Ē {medians[2]} "
        f"(rule: {_RELATED:g} or more by both, in all settings; in part if by one of both somewhere)",
        judge(met),
    )


def _small_early(scope: Scope, results: Results) -> Claim:
    """Ē ≤ S / (2 Σ J(w)): where progress is large it must be small."""
    early, late = [], []
    limited = [comparison(results, case) for case in _papers(scope)]
    for case, found in zip(_papers(scope), limited, strict=True):
        epochs, error = np.array(found["epochs"]), np.median(found["series"]["mean"], axis=0)
        full = epochs * rows(scope) > (case.budget or 0)
        early.append(float(np.median(error[full & (epochs <= max(1.0, epochs[full][0]))])))
        late.append(float(np.median(error[epochs >= 0.75 * epochs[-1]])))
    infinite, above = (
        np.median([found["errors"][name] for found in limited])
        for name in ("spoils", "worst_above_one")
    )
    met = [a < _SMALL_ERROR and a < b for a, b in zip(early, late, strict=True)]
    return Claim(
        "The relative approximation error is small as long as the progress is sufficiently large, which is the case in early iterations.",
        _DISCUSSION,
        f"Ē is below {_SMALL_ERROR:g} in the first epoch, once the budget is full, and larger later, in {sum(met)} of {len(met)} settings: median {np.median(early):.2f} early, "
        f"{np.median(late):.2f} in the last quarter. E with the minimum is not small: it is infinite at {100 * infinite:.0f} % of the visits, and above 1 at {100 * above:.0f} % "
        "(medians), coordinates that are optimal left out (rule: in all settings)",
        judge(met),
    )


def _phases(scope: Scope, results: Results) -> Claim:
    parts: dict[str, list[bool]] = {"unaffected": [], "steady": [], "stalls": [], "keeps": []}
    for case in _papers(scope):
        own = comparison(results, case)
        free = comparison(results, Case(case.problem, None, "paper"))
        epochs = np.array(own["epochs"])
        logs = [
            np.log(np.maximum(1e-300, np.median(run["series"]["gap"], axis=0)))
            for run in (own, free)
        ]
        one, last = np.searchsorted(epochs, 1.0), np.searchsorted(epochs, 0.75 * epochs[-1])
        falls = [log[0] - log[one] for log in logs]
        rates = [-np.diff(logs[0])[k] / np.diff(epochs)[k] for k in (0, one - 1)]
        parts["unaffected"].append(bool(falls[0] >= _EARLY * falls[1]))
        parts["steady"].append(bool(0 < rates[0] <= _STEADY * rates[1] <= _STEADY**2 * rates[0]))
        late = [log[last] - log[-1] for log in logs]
        parts["stalls"].append(bool(late[0] < _LATE * late[1]))
        parts["keeps"].append(bool(logs[0][-1] <= logs[0].min() + np.log(1.1)))
    counts = {name: sum(met) for name, met in parts.items()}
    n = len(_papers(scope))
    return Claim(
        "Early, BSCA is nearly unaffected by the budget and multiplicative progress at a fixed rate is achieved; then progress gradually decays until BSCA stalls.",
        _DISCUSSION,
        f"In the first epoch ln(D(α*) − D(α)) falls by {100 * _EARLY:.0f} % or more of its fall without a budget in {counts['unaffected']} of {n} settings, at a fixed rate in {counts['steady']}; in the last quarter of the run by less than "
        f"{100 * _LATE:.0f} % of it in {counts['stalls']}; and D still has its best value then, up to a tenth of the suboptimality, in {counts['keeps']}: elsewhere it has fallen again, and BSCA does not stall at its best point (rule: all four in all "
        f"settings, a rate being fixed if it changes by less than a factor of {_STEADY:g} from the beginning of the epoch to its end; in part if one of the four in more than half of them)",
        "held"
        if min(counts.values()) == n
        else "held in part"
        if max(counts.values()) > n / 2
        else "did not hold",
    )


def _limit(scope: Scope, results: Results) -> Claim:
    """By the paper's merging; runs with our defaults are shown beside them."""
    limited = [case for case in cases(scope) if case.budget is not None]
    found = {case: long_run(results, case) for case in limited}
    moved = {case: float(np.median([run[-1] for run in found[case]["moved"]])) for case in limited}
    papers = [case for case in limited if case.merging == "paper"]
    first = [np.median([run[0] for run in found[case]["moved"]]) for case in papers]
    apart = [found[case]["apart"] for case in papers]
    by_merging = "; ".join(
        f"{merging} merging {min(some):.0e} to {max(some):.0e}, median {np.median(some):.0e}"
        for merging in ("paper", "default")
        for some in [[moved[case] for case in limited if case.merging == merging]]
    )
    moving, many = bool(np.median([moved[c] for c in papers]) > _REST), min(apart) > _APART
    rest = "Runs keep moving." if moving else "Runs come to rest, or creep."
    return Claim(
        "BSCA does not converge to a unique point; the algorithm approaches a limit distribution.",
        f"{_DISCUSSION} and footnote",
        f"{rest} Runs that visit the points in another order end elsewhere, {min(apart):.2f} to {max(apart):.2f} of ‖α*‖ apart. In epoch {found[limited[0]]['epochs'][-1]:,} α moves by these shares of ‖α*‖ (first epoch: "
        f"{min(first):.2f} to {max(first):.2f}): {by_merging} (rule: with the paper's merging, a median above {_REST:.0e}, and ends more than {_APART:.0e} apart everywhere; in part if one of both)",
        judge([moving, many]),
    )


def _ends_of(limited: Sequence[Result]) -> tuple[list[float], list[float]]:
    """Return the largest violations at the end, relative to C: with the exact w(α), and with w̃."""
    hidden = [float(np.median(found["hidden"])) / found["C"] for found in limited]
    visible = [
        float(np.median([run[-1] for run in found["visible"]])) / found["C"] for found in limited
    ]
    return hidden, visible


def _violations(limited: Sequence[Result]) -> Claim:
    hidden, visible = _ends_of(limited)
    return Claim(
        "The KKT violations do not decay to zero.",
        _DISCUSSION,
        f"Not with the exact w(α): at the end of the long runs the largest violation is a step of {min(hidden):.2f} C to {max(hidden):.2f} C. But with w̃, which is all that BSCA can see, it is {min(visible):.0e} C to {max(visible):.0e} C "
        f"(rule: both stay above {_REST:.0e} C in all settings; in part if the first do)",
        "held"
        if min(hidden) > _REST and min(visible) > _REST
        else "held in part"
        if min(hidden) > _REST
        else "did not hold",
    )


def _stopping(limited: Sequence[Result]) -> Claim:
    """A rule that never stops is none, nor is one that stops far from the optimum."""
    hidden, visible = _ends_of(limited)
    useless = [v > _REST or h > _FAR for h, v in zip(hidden, visible, strict=True)]
    early = sum(v <= _REST for v in visible)
    return Claim(
        "A stopping criterion based on thresholding KKT violations is not viable.",
        "section 3",
        f"It is of no use in {sum(useless)} of {len(useless)} settings: with w̃ it would stop in {early} of them, where the exact violations are {min(hidden):.2f} C to {max(hidden):.2f} C (rule: violations of w̃ stay above {_REST:.0e} C, or "
        f"fall below while the exact ones are above {_FAR:g} C, in all settings)",
        judge(useless),
    )
