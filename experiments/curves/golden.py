"""Merging as in the paper, by golden section search, beside a table and beside partners of any sign."""

from collections.abc import Sequence

import numpy as np

from experiments.curves.panels import column
from experiments.curves.runs import budgets, curve_jobs, gather
from experiments.report.content import Cell, Claim, Data, Section, Table
from experiments.report.wording import judge, mean_and_spread, seconds_text
from experiments.running.jobs import Job, Result, Results
from experiments.scope import Scope

# What is compared, for either solver: the paper's search, the same partners by a table, any sign.
_ENDINGS = ("-golden", "", "-default")
_SOLVERS = ("bsgd", "bsca")
_METHODS = [f"{solver}{ending}" for solver in _SOLVERS for ending in _ENDINGS]


def jobs(scope: Scope) -> list[Job]:
    """List the runs."""
    return curve_jobs(scope, _METHODS, budgets(scope)[1:2])


def section(scope: Scope, results: Results) -> Section:
    """Compare the three after as many epochs as the slowest of them has."""
    shown, numbers = [], []
    budget = budgets(scope)[1]
    found = gather(scope, results, _METHODS, [budget])
    for spec in scope.specs:
        for solver in _SOLVERS:
            runs = [found[spec.name, f"{solver}{ending}", budget] for ending in _ENDINGS]
            epochs = float(column(runs[0][0], "epochs")[-1])
            values = {name: [_values(r, name, epochs) for r in runs] for name in _NAMES}
            shown.append((spec.name, solver.upper(), f"{epochs:.2g}", *_cells(values)))
            numbers += [
                (spec.name, f"{solver}{ending}", seed, epochs, *line)
                for place, ending in enumerate(_ENDINGS)
                for seed, line in enumerate(zip(*(values[n][place] for n in _NAMES), strict=True))
            ]
    claims = [_share(numbers), _convex()]
    return Section(
        "The paper's search, and ours", [_ABOUT], [_table(scope, shown, numbers)], claims
    )


_NAMES = ("primal", "score", "cpu")
_ABOUT = (
    "The paper merges the term of least weight with the partner of equal sign that a golden section search for each of the others finds to "
    "be the cheapest. A table of the degradation over (ρ, κ) ranks them as well, up to rounding, in a small part of the time; all other "
    "figures use it for the paper's merging. Our default considers partners of either sign, too."
)


def _values(runs: Sequence[Result], name: str, epochs: float) -> list[float]:
    """Return a column after so many epochs, for every seed."""
    found = []
    for run in runs:
        place = int(np.argmin(abs(column(run, "epochs") - epochs)))
        found.append(float(column(run, name)[place]))
    return found


def _cells(values: dict[str, list[list[float]]]) -> list[str]:
    objective = [f"{np.median(seeds):.3g}" for seeds in values["primal"]]
    scores = [mean_and_spread([100 * s for s in seeds]) for seeds in values["score"]]
    seconds = [seconds_text(min(seeds)) for seeds in values["cpu"]]
    return [*objective, *scores, *seconds]


def _table(scope: Scope, shown: list[tuple[str, ...]], numbers: list[tuple[Cell, ...]]) -> Table:
    kinds = ("golden", "table", "any sign")
    columns = (
        *("data", "solver", "epochs"),
        *(f"P, {kind}" for kind in kinds),
        *(f"accuracy, {kind}" for kind in kinds),
        *(f"seconds, {kind}" for kind in kinds),
    )
    caption = (
        f"B = {budgets(scope)[1]}, {scope.seeds} seeds: median of P, mean ± standard deviation of the test accuracy in % (up to 20,000 rows), "
        "fewest seconds of the processor. Golden: as in the paper. Table: the same partners, ranked by a table. Any sign: our defaults."
    )
    names = ("data", "method", "seed", "epochs", *_NAMES)
    title = "Merging by golden section, by a table, and with partners of any sign"
    return Table("golden", title, caption, Data(columns, shown), Data(names, numbers))


def _share(numbers: list[tuple[Cell, ...]]) -> Claim:
    """What golden section takes beyond the same run with a table is time of maintenance."""
    times: dict[tuple[Cell, str], list[float]] = {}
    for name, method, _, _, _, _, seconds in numbers:
        times.setdefault((name, str(method)), []).append(float(seconds or 0))
    least = {
        (name, solver): 1 - min(times[name, solver]) / min(times[name, f"{solver}-golden"])
        for name, solver in dict.fromkeys((k[0], k[1].split("-")[0]) for k in times)
    }
    listed = ", ".join(f"{s.upper()} on {n} {100 * v:.0f} %" for (n, s), v in least.items())
    return Claim(
        "Budget maintenance can consume a considerable share of the overall runtime.",
        "section 4, Budget Maintenance Rate",
        f"The golden section searches alone take {100 * min(least.values()):.0f} to {100 * max(least.values()):.0f} % of it: {listed} (rule: {100 * _CONSIDERABLE:.0f} % or more in one case at least)",
        "held" if max(least.values()) >= _CONSIDERABLE else "did not hold",
    )


def _convex() -> Claim:
    """Where the best point of a merge lies, for coefficients of equal and of opposite sign."""
    rng = np.random.default_rng(0)
    inside, off = {1: 0, -1: 0}, 0.0
    for sign in inside:
        for _ in range(_PAIRS):
            along, across = _best_point(sign * rng.uniform(0.01, 1), rng.uniform(0.01, 0.99))
            inside[sign] += bool(abs(along - 0.5) <= 0.5 + _SPACING / 2)
            off = max(off, across)
    on_line, convex = off <= _SPACING, inside[1] == _PAIRS
    return Claim(
        "For the Gaussian kernel the optimal merged point lies on the line spanned by both points, and it is a convex combination if merging is restricted to points of the same class.",
        "section 2, SVMs on a Budget",
        f"On the line {'always' if on_line else 'not always'}: the best point of a grid in a plane through both is {off:.2g} of their distance away from it at the most. Between them in {inside[1]} of {_PAIRS} random pairs with coefficients of equal "
        f"sign, and in {inside[-1]} of {_PAIRS} with opposite signs: the sign decides, which is that of the class in BSGD, but not in BSCA, which takes steps back (rule: on the line, and between points of equal sign, always)",
        judge([on_line, convex]),
    )


def _best_point(rho: float, kappa: float) -> tuple[float, float]:
    """Return where the square of ρ k(z, x₁) + k(z, x₂) is largest: along the line, and across it, in units of ‖x₁ − x₂‖.

    κ = k(x₁, x₂), so that k(z, x) is κ to the power of the squared distance in these units.
    """
    along = np.arange(-3, 4, _SPACING)[:, None]
    across = np.arange(0, 1, _SPACING)
    value = rho * kappa ** ((1 - along) ** 2 + across**2) + kappa ** (along**2 + across**2)
    i, j = np.unravel_index(np.argmax(value**2), value.shape)
    return float(along[i, 0]), float(across[j])


_SPACING = 0.01  # of the grid
_CONSIDERABLE = 0.25
_PAIRS = 200
