"""What lemma 2 predicts beside what was seen, and the verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from experiments.report.content import Claim
from experiments.report.wording import judge, signed, tally
from experiments.running.jobs import Result

LATE = 0.2  #: the share of the epochs that counts as the limit
_POINTS = 2.0  # percentage points by which a rate may be off
_FACTOR = 1.5  # by which it may be off, too: rates near zero tell nothing by points alone
_NOTHING = 0.5  # points: what is below is as good as none
_MOVES = 0.2  # points between the last two windows: a rate that has not settled


@dataclass(frozen=True)
class Rates:
    """What was predicted for a data set, and what was seen; all in %."""

    name: str
    exact: Result
    runs: Mapping[str, Sequence[Result]]

    @property
    def sgd(self) -> float:
        return 100 * float(self.exact["p_sgd"])

    @property
    def sca(self) -> float:
        return 100 * float(self.exact["p_sca"])

    @property
    def sca_violations(self) -> float:
        """Points at C violate the margin always, free ones at about every other visit."""
        return 100 * float(self.exact["p_bounded"] + self.exact["p_sca"] / 2)

    def late(self, solver: str, what: str, windows: int = 1) -> list[float]:
        """Return the rate in the last epochs, per seed; windows=2: in as many epochs before these."""
        length = max(1, round(LATE * len(self.runs[solver][0][what])))
        here = slice(-windows * length, (1 - windows) * length or None)
        return [100 * fmean(run[what][here]) for run in self.runs[solver]]

    def moves(self, solver: str, what: str) -> bool:
        """Return whether the rate has not settled yet: then it says little about the limit."""
        change = fmean(self.late(solver, what)) - fmean(self.late(solver, what, windows=2))
        return abs(change) > _MOVES

    def crossing(self) -> str:
        """Return the epoch from which on SCA makes fewer steps than SGD, means over seeds."""
        sca, sgd = (np.mean([run["steps"] for run in self.runs[s]], axis=0) for s in ("sca", "sgd"))
        n = min(len(sca), len(sgd))
        more = np.flatnonzero(sca[:n] >= sgd[:n])
        last = int(more[-1]) + 1 if len(more) else 0
        return f"{last + 1:,}" if last < n else "never"

    def near(self, solver: str, what: str) -> bool:
        """Return whether the lemma is right, by points and by a factor."""
        predicted = self.sgd if solver == "sgd" else self.sca
        return is_near(fmean(self.late(solver, what)), predicted, _POINTS)

    def error(self, solver: str, what: str) -> float:
        """Return how far the lemma is from what was seen, in points."""
        predicted = self.sgd if solver == "sgd" else self.sca
        return fmean(self.late(solver, what)) - predicted


def is_near(seen: float, predicted: float, points: float) -> bool:
    """Return whether two rates in % are within some points, and within a factor unless both are as good as none."""
    low, high = sorted((max(seen, _NOTHING), max(predicted, _NOTHING)))
    return high - low <= points and high <= _FACTOR * low


FACTOR_RULE = f"a factor of {_FACTOR:g}, rates below {_NOTHING:g} % counting as that"


def rates_claims(found: Sequence[Rates], where: str = "") -> list[Claim]:
    """Judge the lemma; `where` is what else there is to be said of the runs."""
    rule = (
        f"(rule: within {_POINTS:g} points and {FACTOR_RULE}, on every data set; not settled: the rate still moves by over {_MOVES:g} points "
        f"from one {LATE:.0%} of the epochs to the next, and is judged as it is)"
    )
    cases = (
        ("p(SGD) is the mean of α*/C", "sgd", "steps"),
        ("p(SCA) is the share of free variables, counting steps as its proof does", "sca", "steps"),
        ("p(SCA) is the share of free variables, counting margins below 1", "sca", "violations"),
    )
    return [
        Claim(
            statement + where,
            "section 4, Lemma 2",
            f"As predicted {tally(near)}. {_errors(found, solver, what)} {rule}",
            judge([*near.values()]),
        )
        for statement, solver, what in cases
        for near in [{r.name: r.near(solver, what) for r in found}]
    ] + [_fixed(found, where)]


def _fixed(found: Sequence[Rates], where: str) -> Claim:
    """SGD has steps for all support vectors, by their weight; SCA none but for the free variables."""
    rates = {
        r.name: (fmean(r.late("sgd", "steps")), r.sgd, fmean(r.late("sca", "steps")), r.sca)
        for r in found
    }
    met = {
        name: sgd >= p_sgd - _POINTS and sca <= p_sca + _POINTS
        for name, (sgd, p_sgd, sca, p_sca) in rates.items()
    }
    listed = ", ".join(
        f"{name} {sgd:.1f} of {p_sgd:.1f} | {sca:.1f} of {p_sca:.1f}"
        for name, (sgd, p_sgd, sca, p_sca) in rates.items()
    )
    return Claim(
        "While SGD keeps making non-trivial steps on all support vectors, after a while the dual algorithm operates only on the free variables."
        + where,
        "section 4, Budget Maintenance Rate",
        f"So it is {tally(met)}. Visits that make a step, late, in %, of the mean of α*/C for SGD | of the share of free variables for SCA: {listed} (rule: SGD has no fewer, and SCA no more, up to {_POINTS:g} points, on every data set)",
        judge([*met.values()]),
    )


def _errors(found: Sequence[Rates], solver: str, what: str) -> str:
    errors = [
        f"{r.name} {fmean(r.late(solver, what)):.1f} ({signed(r.error(solver, what), 1)})"
        + (" (not settled)" if r.moves(solver, what) else "")
        for r in found
    ]
    return f"Measured in %, and minus predicted: {', '.join(errors)}"
