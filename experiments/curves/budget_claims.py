"""What BSCA with two budgets says about appendix B; the rules are stated beside the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.curves.panels import column, learning
from experiments.curves.runs import luck_of_rows
from experiments.report.content import Claim
from experiments.report.wording import judge, signed, tally
from experiments.running.jobs import Result

_RISEN = 0.1  # a P that ends by this share above its least has drifted
_MUCH = 1.5  # times as fast
_LESS = 0.5  # points: what a budget may lack, and still suffices
_FAR = 1.0  # points below the exact SVM: no good result
_LEVELS = (5.0, 2.0, 1.0, 0.5)  # points below the exact SVM
_LEVEL = 0.1  # points: no difference
_LARGE = 1.0  # a root mean square of f̃ − f as large as the margin: gradients say nothing any more
_WHERE = "appendix B"
_SCORES = "accuracies on 5,000 test rows, corrected by what the last models do on all"
_LARGEST = ("SUSY", "COVTYPE")


@dataclass(frozen=True)
class Budgets:
    """Runs of BSCA with two budgets, by problem and budget, and accuracies of the exact SVM in %."""

    runs: dict[tuple[str, int], list[Result]]
    exact: dict[str, float]
    small: int
    usual: int

    def median(self, name: str, budget: int, what: str) -> NDArray[np.float64]:
        """Return a column of phase 1, median over seeds."""
        found = [column(run, what)[learning(run)] for run in self.runs[name, budget]]
        return np.asarray(np.median(found, axis=0))

    def late_score(self, name: str, budget: int) -> float:
        """Return the median accuracy in % over the last quarter of the run, mean over seeds."""
        scores = [np.array(run["often"]["score"]) for run in self.runs[name, budget]]
        late = 100 * float(np.mean([np.median(s[-max(1, len(s) // 4) :]) for s in scores]))
        return late - self._luck(name)

    def _luck(self, name: str) -> float:
        """Return by how many points frequent looks at a problem are too good."""
        return luck_of_rows([*self.runs[name, self.small], *self.runs[name, self.usual]])

    def lacks(self, name: str) -> float:
        """Return by how many points the small budget is behind the usual one, late."""
        return self.late_score(name, self.usual) - self.late_score(name, self.small)

    def seconds(self, name: str, budget: int, points: float) -> float:
        """Return the seconds until the accuracy is within some points of the exact SVM, median over seeds."""
        found = []
        for run in self.runs[name, budget]:
            wanted = (self.exact[name] + self._luck(name) - points) / 100
            good = np.array(run["often"]["score"]) >= wanted
            found.append(run["often"]["cpu"][int(np.argmax(good))] if good.any() else np.inf)
        return float(np.median(found))

    def rise(self, name: str, budget: int) -> float:
        """Return by what share the median P ends above its least."""
        values = self.median(name, budget, "primal")
        return float(values[-1] / values.min() - 1)

    def dual_rise(self, name: str) -> float:
        """Return by what share of its size D has risen, at the small budget, since P was least."""
        dual = self.median(name, self.small, "dual")
        since = dual[int(np.argmin(self.median(name, self.small, "primal")))]
        return float((dual[-1] - since) / max(abs(dual).max(), 1e-300))

    def drifts(self, name: str) -> bool:
        """Return whether P rises at the small budget."""
        return self.rise(name, self.small) > _RISEN


def claims(found: Budgets) -> list[Claim]:
    """Judge all statements of appendix B about the size of the budget."""
    return [
        _much_faster(found),
        _suboptimal(found),
        _mixed(found),
        _suffices(found),
        _larger_is_faster(found),
        _underpins(found),
        _drift(found),
        _cause(found),
    ]


def dual_falls(found: Budgets) -> str:
    """Say where D at the small budget ends below its best, by more than a tenth of it."""
    met = {}
    for name in found.exact:
        values = found.median(name, found.small, "dual")
        met[name] = bool(values[-1] < values.max() - _RISEN * abs(values.max()))
    return tally(met)


def _much_faster(found: Budgets) -> Claim:
    ratios = {
        name: float(np.divide(*(_least(found.runs[name, b]) for b in (found.usual, found.small))))
        for name in found.exact
    }
    faster = {name: ratio >= _MUCH for name, ratio in ratios.items()}
    texts = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return Claim(
        f"B = {found.small} is much faster than B = {found.usual} for the same number of epochs.",
        _WHERE,
        f"{_MUCH:g} times as fast or more {tally(faster)}. Seconds of the processor at B = {found.usual} / B = {found.small}, least of all seeds: {texts} (rule: {_MUCH:g} everywhere)",
        judge([*faster.values()]),
    )


def _least(runs: Sequence[Result]) -> float:
    return float(min(run["cpu"] for run in runs))


def _suboptimal(found: Budgets) -> Claim:
    lost = {name: found.lacks(name) for name in found.exact}
    behind = {name: value > _LESS for name, value in lost.items()}
    texts = ", ".join(f"{name} {signed(value)}" for name, value in lost.items())
    return Claim(
        f"For some of the problems B = {found.small} is already rather small, resulting in sub-optimal learning behavior.",
        _WHERE,
        f"BSCA is behind by more than {_LESS:g} points {tally(behind)}. Points that B = {found.small} lacks to B = {found.usual} in the last quarter of the looks: {texts} (rule: on one at least; {_SCORES})",
        "held" if any(behind.values()) else "did not hold",
    )


def _mixed(found: Budgets) -> Claim:
    """Which budget is first within so many points, on every data set where one of both gets there."""
    first: dict[str, str] = {}
    for name in found.exact:
        times = {b: found.seconds(name, b, _FAR) for b in (found.small, found.usual)}
        if np.isfinite([*times.values()]).any():
            first[name] = f"B = {min(times, key=lambda b: times[b])}"
    winners = set(first.values())
    texts = ", ".join(f"{name} {winner}" for name, winner in first.items())
    return Claim(
        "When it comes to achieving a good test error quickly, the results are mixed.",
        _WHERE,
        f"{'Either budget is first somewhere' if len(winners) > 1 else 'One budget is first everywhere' if winners else 'None gets there'}. First within {_FAR:g} point of the exact SVM, seconds of the processor, median of seeds: "
        f"{texts or 'none'}; on {len(found.exact) - len(first)} none is (rule: either budget is first somewhere; {_SCORES})",
        "not tested" if not winners else "held" if len(winners) > 1 else "did not hold",
    )


def _suffices(found: Budgets) -> Claim:
    names = [name for name in found.exact if name in _LARGEST] or list(found.exact)
    enough = {name: found.lacks(name) <= _LESS for name in names}
    texts = ", ".join(f"{name} {signed(found.lacks(name))}" for name in names)
    return Claim(
        f"The small budget B = {found.small} suffices on COVERTYPE and SUSY.",
        _WHERE,
        f"It suffices {tally(enough)}. Points that it lacks to B = {found.usual} in the last quarter of the looks: {texts} (rule: {_LESS:g} at most, on both; our SUSY has 32,739 rows)",
        judge([*enough.values()]),
    )


def _larger_is_faster(found: Budgets) -> Claim:
    """On IJCNN, or on the only problem there is."""
    name = "IJCNN" if "IJCNN" in found.exact else next(iter(found.exact))
    lost = found.exact[name] - found.late_score(name, found.small)
    met, texts = [lost > _FAR], []
    for points in _LEVELS:
        times = [found.seconds(name, b, points) for b in (found.small, found.usual)]
        if np.isfinite(times).any():
            met.append(times[1] < times[0])
            shown = [f"{t:.2f} s" if np.isfinite(t) else "never" for t in times]
            texts.append(f"within {points:g} points {' | '.join(shown)}")
    return Claim(
        f"The provided number of epochs does not suffice to reach good results on IJCNN with B = {found.small}, where the solver with B = {found.usual} is significantly faster.",
        _WHERE,
        f"The epochs {'do not suffice' if met[0] else 'suffice'}: late, {lost:.2f} points are missing to the exact SVM; the larger budget is there first at {sum(met[1:])} of {len(met) - 1} levels that one of both reaches. "
        f"Seconds of the processor, B = {found.small} | {found.usual}: {'; '.join(texts) or 'no level is reached'} (rule: more than {_FAR:g} point is missing, and first at all levels)",
        judge(met),
    )


def _underpins(found: Budgets) -> Claim:
    """Whether the budget with the smaller P at the end has the greater accuracy, too."""
    met, level = {}, []
    for name in found.exact:
        P = [found.median(name, b, "primal")[-1] for b in (found.small, found.usual)]
        if abs(found.lacks(name)) < _LEVEL:
            level.append(name)
        else:
            met[name] = bool((P[1] < P[0]) == (found.lacks(name) > 0))
    lead = (
        f"The budget with the smaller P at the end has the greater accuracy in the last quarter {tally(met)}"
        if met
        else "No data set tells"
    )
    return Claim(
        "The objectives at both budgets (figure 7) underpin the results of the test accuracy.",
        _WHERE,
        f"{lead}; accuracies are level on {', '.join(level) or 'none'} (rule: everywhere but where they differ by less than {_LEVEL:g} points)",
        judge([*met.values()]),
    )


def _drift(found: Budgets) -> Claim:
    rises = {
        name: (found.rise(name, found.small), found.rise(name, found.usual), found.dual_rise(name))
        for name in found.exact
    }
    met = {name: a > _RISEN and a > b and dual > 0 for name, (a, b, dual) in rises.items()}
    rising = {name: a > _RISEN for name, (a, _, _) in rises.items()}
    texts = ", ".join(
        f"{name} {100 * a:.0f} | {100 * b:.0f} and {signed(100 * dual, 0)}"
        for name, (a, b, dual) in rises.items()
    )
    return Claim(
        f"There is a drift effect of the dual solver, in particular at the smaller budget B = {found.small}, with both objectives rising.",
        _WHERE,
        f"Both rise, and P more than at the larger budget, {tally(met)}. P alone rises by more than {100 * _RISEN:.0f} % {tally(rising)}. In %: what P has at the end above its least, B = {found.small} | {found.usual}, and the rise of D since "
        f"P was least, B = {found.small}: {texts} (rule: both rise at B = {found.small}, P by more than {100 * _RISEN:.0f} % and by more than at B = {found.usual}, everywhere)",
        judge([*met.values()]),
    )


def _cause(found: Budgets) -> Claim:
    """The gradient is 1 − y f̃, so that f̃ − f is the error of it."""
    errors = {
        name: float(np.sqrt(found.median(name, found.small, "departure")[-1] / _rows(found, name)))
        for name in found.exact
    }
    drifting = {name: value > _LARGE for name, value in errors.items() if found.drifts(name)}
    lead = (
        f"Where there is a drift, the gradient is off by more than the margin {tally(drifting)}"
        if drifting
        else "There is no drift"
    )
    texts = ", ".join(f"{name} {value:.2g}" for name, value in errors.items())
    return Claim(
        "The drift can happen if the weight degradation becomes large and the gradient computed from the budgeted representation does not properly reflect the dual gradient any more.",
        _WHERE,
        f"{lead}. Root of the mean (f̃ − f)² at the end, B = {found.small}: {texts} (rule: above {_LARGE:g} wherever P drifts)",
        judge([*drifting.values()]),
    )


def _rows(found: Budgets, name: str) -> Any:
    return found.runs[name, found.small][0]["rows"]
