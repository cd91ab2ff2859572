"""What the curves of both objectives say about the paper's claims; the rules are stated beside the figures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.curves.panels import column, final, learning
from experiments.report.content import Claim, Verdict
from experiments.report.error_bars import RULE, Difference, difference, listed
from experiments.report.wording import judge, tally
from experiments.running.jobs import Result

# A dual curve that falls by no more than this share of its range, or its own error, is monotone.
_TOLERATED_FALL = 0.02
_CLEARLY = 1.05  # times: what is called clearly better here
_SETTLED = 0.25  # a P that stays as near to its late level, relative to it, has stabilised
_LATE = 0.25  # of the looks at the end
_SECTION = "section 5, Optimization Performance"

Runs = dict[Any, list[Result]]  #: by problem and method


def claims(runs: Runs, names: Sequence[str]) -> list[Claim]:
    """Judge all statements about objectives."""
    return [
        _monotone(runs, names),
        _primal_is_not(runs, names),
        _better(runs, names),
        _steadier(runs, names),
        _settles(runs, names),
        _stability(runs, names),
        _negative(runs, names),
        _complications(runs, names),
    ]


def _gains(
    runs: Runs, names: Sequence[str], value: Callable[[Result], float]
) -> dict[str, Difference]:
    """Return what BSGD has more of something than BSCA, by problem."""
    return {
        name: difference(*([value(run) for run in runs[name, m]] for m in ("bsgd", "bsca")))
        for name in names
    }


def fall(run: Result, name: str = "dual") -> float:
    """Return by how much D falls below its best so far, as a share of its range, beyond its error."""
    dual, error = (column(run, part)[learning(run)] for part in (name, "dual_error"))
    error = error if name == "dual" else np.zeros(len(dual))
    best = np.maximum.accumulate(dual)
    extent = max(float(np.ptp(np.append(dual, 0.0))), 1e-300)
    return max(0.0, float(np.max(best - dual - 2 * error))) / extent


def unrest(run: Result, name: str) -> float:
    """Return the mean step between looks in the second half of them, as a share of the level."""
    values = column(run, name)[learning(run)]
    late = values[len(values) // 2 :]
    return float(np.mean(np.abs(np.diff(late))) / np.mean(np.abs(late)))


def _monotone(runs: Runs, names: Sequence[str]) -> Claim:
    falls = {(name, m): max(map(fall, runs[name, m])) for name in names for m in ("bsgd", "bsca")}
    bad = {key: value for key, value in falls.items() if value > _TOLERATED_FALL}
    texts = ", ".join(f"{m.upper()} on {name} {100 * v:.0f} %" for (name, m), v in bad.items())
    apparent = max(fall(run, "apparent_dual") for name in names for run in runs[name, "bsca"])
    return Claim(
        "Dual objective function values are smooth and monotonic in all cases.",
        _SECTION,
        f"{len(falls) - len(bad)} of {len(falls)} curves are monotone. Largest fall of D from its peak, as a share of its range: {texts or 'none above 2 %'}. Of 1ᵀα − ½‖w̃‖², which is not D but "
        f"easily mistaken for it: BSCA {100 * apparent:.0f} % at the most (rule: no fall by more than {100 * _TOLERATED_FALL:g} %, beyond two standard errors of D, in any seed, everywhere; smooth is not judged by itself)",
        judge([key not in bad for key in falls]),
    )


def _primal_is_not(runs: Runs, names: Sequence[str]) -> Claim:
    rises = {
        f"{method.upper()} on {name}": max(_rise(run) for run in runs[name, method])
        for name in names
        for method in ("bsgd", "bsca")
    }
    jumps = {name: value > _TOLERATED_FALL for name, value in rises.items()}
    return Claim(
        "Primal curves are not monotone.",
        _SECTION,
        f"{sum(jumps.values())} of {len(jumps)} curves rise by more than {100 * _TOLERATED_FALL:g} % from one look to the next: {', '.join(f'{n} {100 * v:.0f} %' for n, v in rises.items())} at the most "
        "(rule: all of them)",
        judge([*jumps.values()]),
    )


def _looks(run: Result) -> tuple[Any, Any]:
    """Return epochs and P, wherever P was looked at."""
    values = np.array(run["often"]["primal"], dtype=float)
    known = np.isfinite(values)
    return np.array(run["often"]["epochs"], dtype=float)[known], values[known]


def _rise(run: Result) -> float:
    """Return by which share P rises at the most from one look to the next."""
    _, values = _looks(run)
    return float(np.max(np.diff(values) / values[:-1]))


def _better(runs: Runs, names: Sequence[str]) -> Claim:
    gains = _gains(runs, names, lambda run: float(np.log(final([run], "primal")[0])))
    wins = {n: gain.above and gain.mean > np.log(_CLEARLY) for n, gain in gains.items()}
    texts = ", ".join(
        f"{n} {np.exp(g.mean):.2f} ({np.exp(g.mean - 2 * g.error):.2f} to {np.exp(g.mean + 2 * g.error):.2f})"
        for n, g in gains.items()
    )
    return Claim(
        "Overall, BSCA clearly outperforms BSGD across all problems; the dual approach is superior in terms of optimization behavior.",
        f"{_SECTION}; section 1; section 5, Discussion",
        f"Better by more than {100 * (_CLEARLY - 1):.0f} % {tally(wins)}. Final P of BSGD / P of BSCA, geometric means over seeds and {RULE}: {texts} (rule: above {_CLEARLY:g}, and above 1 by over {RULE}, everywhere)",
        judge([*wins.values()]),
    )


def _steadier(runs: Runs, names: Sequence[str]) -> Claim:
    gains = _gains(runs, names, lambda run: 100 * unrest(run, "primal"))
    calmer = {name: gain.above for name, gain in gains.items()}
    return Claim(
        "BSCA generally oscillates less, with the exception of ADULT.",
        _SECTION,
        f"It oscillates less {tally(calmer)}. Mean change of P between looks in the second half of them, BSGD's minus BSCA's, in % of its level: {listed(gains, 1)} (rule: less, by over {RULE}, on all but ADULT, and not there; did not hold if nowhere)",
        _but_adult(calmer),
    )


def _but_adult(met: dict[str, bool]) -> Verdict:
    """Judge what is to be so everywhere but on ADULT."""
    if not any(value for name, value in met.items() if name != "ADULT"):
        return "did not hold"
    return judge([value != (name == "ADULT") for name, value in met.items()])


def settling(run: Result) -> float:
    """Return the epoch from which on P stays near the level that it has late in the run."""
    epochs, values = _looks(run)
    level = float(np.median(values[-max(1, round(_LATE * len(values))) :]))
    far = np.flatnonzero(np.abs(values / level - 1) > _SETTLED)
    return float(epochs[min(far[-1] + 1, len(epochs) - 1)]) if len(far) else float(epochs[0])


def _settles(runs: Runs, names: Sequence[str]) -> Claim:
    gains = _gains(runs, names, settling)
    sooner = {name: gain.above for name, gain in gains.items()}
    texts = ", ".join(
        f"{name} {np.mean(list(map(settling, runs[name, 'bsgd']))):.1f} | {np.mean(list(map(settling, runs[name, 'bsca']))):.1f}"
        for name in names
    )
    return Claim(
        "BSCA generally stabilizes faster, with the exception of ADULT.",
        _SECTION,
        f"It stabilises sooner {tally(sooner)}. Epochs until P stays within {100 * _SETTLED:.0f} % of its median over the last quarter of the looks, BSGD | BSCA, means over seeds: {texts} "
        f"(rule: sooner, by over {RULE}, on all but ADULT, and not there; did not hold if nowhere)",
        _but_adult(sooner),
    )


def _stability(runs: Runs, names: Sequence[str]) -> Claim:
    """Both of P and of the accuracy, on all data sets: the conclusions make no exception."""
    parts = {
        "P": _gains(runs, names, lambda run: 100 * unrest(run, "primal")),
        "accuracy": _gains(runs, names, lambda run: 100 * unrest(run, "score")),
    }
    met = {name: all(gains[name].above for gains in parts.values()) for name in names}
    texts = "; ".join(f"{what}: {listed(gains, 1)}" for what, gains in parts.items())
    return Claim(
        "We demonstrate increased stability over primal budgeted training.",
        "section 6",
        f"Both P and the accuracy are steadier {tally(met)}. Mean change between looks in the second half of them, BSGD's minus BSCA's, in % of the level: {texts} (rule: both less, by over {RULE}, everywhere)",
        judge([*met.values()]),
    )


def _negative(runs: Runs, names: Sequence[str]) -> Claim:
    """The caption of the paper's figure 1 says of two problems that D of BSGD stays below zero."""
    ends = {name: float(np.median(final(runs[name, "bsgd"], "dual"))) for name in names}
    curves = {name: [column(r, "dual")[learning(r)] for r in runs[name, "bsgd"]] for name in names}
    below = [name for name in names if (np.median(curves[name], axis=0) < 0).all()]
    return Claim(
        "The dual objective stays negative for BSGD on two problems.",
        "section 5, figure 1",
        f"It stays negative on {len(below)}: {', '.join(below) or 'none'}. Final D, median: {', '.join(f'{n} {v:.3g}' for n, v in ends.items())} (rule: the median over seeds is below zero at all looks, on two problems; in part if on one or on more)",
        "held" if len(below) == 2 else "held in part" if below else "did not hold",
    )


def _complications(runs: Runs, names: Sequence[str]) -> Claim:
    """A dual solver whose D falls has a complication: that of w̃ and w that have parted."""
    falls = {name: float(np.median([fall(run) for run in runs[name, "bsca"]])) for name in names}
    fine = {name: value <= 0.1 for name, value in falls.items()}
    return Claim(
        "The correspondence between w and w̃ is only approximate; luckily, this does not impose major additional complications.",
        "section 3",
        f"D keeps what it has gained {tally(fine)}. What D, which coordinate ascent never makes smaller, loses from its peak, in % of its range, median over seeds: {', '.join(f'{n} {100 * v:.0f}' for n, v in falls.items())} (rule: 10 % at most, beyond two standard errors of D, everywhere)",
        judge([*fine.values()]),
    )
