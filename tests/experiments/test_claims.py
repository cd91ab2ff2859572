"""Verdicts follow from the numbers: runs made by hand for which a claim is known to hold, or not to."""

from typing import Any

import numpy as np
import pytest
from experiments.curves import accuracy_claims, budget_claims, merging, objective_claims, peaks
from experiments.curves.golden import _best_point
from experiments.curves.runs import luck_of_rows
from experiments.curves.speedups import Comparison
from experiments.problems import MADE
from experiments.report.content import Claim
from experiments.report.error_bars import difference
from experiments.scope import Scope
from experiments.tables.rate_claims import is_near
from experiments.theory.theorem import discussion_claims

EPOCHS = np.arange(1, 41)


def run(
    *, score: Any = 0.9, primal: Any = 100.0, dual: Any = 50.0, departure: Any = 1.0
) -> dict[str, Any]:
    """Return a run of 40 epochs and as many looks; numbers are those of all looks."""
    columns = {"score": score, "primal": primal, "dual": dual, "departure": departure}
    given = {k: (np.zeros(40) + v).tolist() for k, v in columns.items()}
    zero = np.zeros(40).tolist()
    often = {"visits": (100 * EPOCHS).tolist(), "epochs": EPOCHS.tolist()}
    often |= {"cpu": (0.1 * EPOCHS).tolist(), **{k: given[k] for k in ("score", "primal")}}
    return {
        "columns": {
            **given,
            "phase": ["learn"] * 40,
            "epochs": EPOCHS.tolist(),
            "dual_error": zero,
            "apparent_dual": given["dual"],
        },
        "often": often,
        "accuracy": 100 * given["score"][-1],
        "cpu": 4.0,
        "rows": 100,
    }


def seeds(count: int = 5, spread: float = 0.001, **values: Any) -> list[dict[str, Any]]:
    """Return runs whose accuracies differ a little."""
    score = values.pop("score", 0.9)
    return [run(score=score + spread * (seed - 2), **values) for seed in range(count)]


def named(claims: list[Claim], words: str) -> Claim:
    """Return the claim whose statement has these words."""
    (found,) = [claim for claim in claims if words in claim.statement]
    return found


def test_a_difference_counts_from_two_standard_errors_on() -> None:
    near = difference([1.0, 2.0, 3.0], [0.5, 1.5, 2.5])
    assert near.mean == 0.5
    assert near.error == pytest.approx(np.sqrt(2 / 3))
    assert not near.above
    assert not near.below
    assert difference([11.0, 12.0, 13.0], [1.0, 2.0, 3.0]).above
    assert difference([1.0, 2.0, 3.0], [11.0, 12.0, 13.0]).below
    assert near.text() == "+0.50 ± 0.82"
    assert difference([1.0], [2.0]).below, "one seed has no error that is known"


def judged_accuracy(bsgd: float, bsca: float, **more: Any) -> list[Claim]:
    runs = {
        ("A", method, budget): seeds(score=score, **more)
        for method, score in (("bsgd", bsgd), ("bsca", bsca))
        for budget in (200, 500)
    }
    runs |= {("A", m, b): seeds() for m in ("bsca-default", "two-phase") for b in (200, 500)}
    runs |= {("A", f"{m}-golden", 500): seeds() for m in ("bsgd", "bsca")}
    curves = accuracy_claims.Curves(runs, {"A": 90.0}, 200, 500, {"A": 5.0})
    return accuracy_claims.claims(curves, [40])


@pytest.mark.parametrize(
    ("bsgd", "bsca", "words", "verdict"),
    [
        (0.8, 0.9, "superior in terms of test accuracy", "held"),
        (0.9, 0.9, "superior in terms of test accuracy", "did not hold"),
        (0.8995, 0.9, "superior in terms of test accuracy", "did not hold"),  # may be luck
        (0.895, 0.895, "nearly indistinguishable", "held"),
        (0.895, 0.88, "nearly indistinguishable", "did not hold"),
        (0.8, 0.9, "converges significantly faster", "held"),
        (0.9, 0.8, "converges significantly faster", "did not hold"),
        (0.9, 0.85, "BSCA fails on IJCNN", "held"),
        (0.9, 0.88, "BSCA fails on IJCNN", "held in part"),
        (0.88, 0.88, "BSCA fails on IJCNN", "did not hold"),
        (0.86, 0.9, "BSGD fails", "held"),
        (0.88, 0.9, "BSGD fails", "did not hold"),
        (0.9, 0.9, "plug-in replacement", "held"),
        (0.9, 0.88, "plug-in replacement", "did not hold"),
        (0.895, 0.895, "effective for reducing", "held"),
        (0.88, 0.895, "effective for reducing", "held in part"),
    ],
)
def test_verdicts_about_the_accuracy(bsgd: float, bsca: float, words: str, verdict: str) -> None:
    assert named(judged_accuracy(bsgd, bsca), words).verdict == verdict


SWING = np.where(EPOCHS % 2, 90.0, 110.0)
RAMP = np.maximum(100.0, 400.0 - 20 * EPOCHS)  # near its level from epoch 14 on


@pytest.mark.parametrize(
    ("bsgd", "bsca", "words", "verdict"),
    [
        ({"primal": 200.0}, {"primal": 100.0}, "clearly outperforms", "held"),
        ({"primal": 102.0}, {"primal": 100.0}, "clearly outperforms", "did not hold"),
        ({"primal": SWING}, {}, "oscillates less", "held"),
        ({}, {"primal": SWING}, "oscillates less", "did not hold"),
        ({"primal": RAMP}, {}, "stabilizes faster", "held"),
        ({}, {"primal": RAMP}, "stabilizes faster", "did not hold"),
        ({"primal": SWING, "score": SWING / 200}, {}, "increased stability", "held"),
        ({"primal": SWING}, {}, "increased stability", "did not hold"),
        ({}, {"dual": np.minimum(EPOCHS, 20.0)}, "major additional", "held"),
        ({}, {"dual": 50.0 - abs(EPOCHS - 20.0)}, "major additional", "did not hold"),
        ({"dual": -1.0}, {}, "stays negative", "held in part"),
    ],
)
def test_verdicts_about_the_objectives(
    bsgd: dict[str, Any], bsca: dict[str, Any], words: str, verdict: str
) -> None:
    runs = {("A", "bsgd"): seeds(**bsgd), ("A", "bsca"): seeds(**bsca)}
    assert named(objective_claims.claims(runs, ["A"]), words).verdict == verdict


def test_a_curve_settles_where_it_does_not_leave_its_level_any_more() -> None:
    assert objective_claims.settling(run(primal=RAMP)) == 14
    assert objective_claims.settling(run()) == 1


DIPS = np.where(EPOCHS % 4 == 0, 0.8, 0.9)
EARLY_DIPS = np.where((EPOCHS % 4 == 0) & (EPOCHS < 15), 0.8, 0.9)


def test_verdicts_about_peaks() -> None:
    assert peaks.last_peak(run(score=DIPS)) == 40
    assert peaks.last_peak(run(score=EARLY_DIPS)) == 12
    assert peaks.last_peak(run()) == 0
    assert peaks.share_of_peaks(run(score=DIPS)) == pytest.approx(0.25, abs=0.02)
    worse = {"A": [seeds(score=DIPS), seeds(score=EARLY_DIPS)]}
    assert peaks._series(worse).verdict == "held"
    assert peaks._much_longer(worse).verdict == "held"
    same = {"A": [seeds(score=DIPS), seeds(score=DIPS)]}
    assert peaks._series(same).verdict == "did not hold"
    assert peaks._much_longer(same).verdict == "did not hold"


def judged_budgets(small: dict[str, Any], usual: dict[str, Any]) -> list[Claim]:
    runs = {("A", 200): seeds(**small), ("A", 500): seeds(**usual)}
    return budget_claims.claims(budget_claims.Budgets(runs, {"A": 90.0}, 200, 500))


RISING = 100.0 + EPOCHS
GROWING = 10.0 + EPOCHS


@pytest.mark.parametrize(
    ("small", "usual", "words", "verdict"),
    [
        ({"primal": RISING, "dual": GROWING}, {}, "drift effect", "held"),
        ({"primal": RISING, "dual": -GROWING}, {}, "drift effect", "did not hold"),
        ({"primal": RISING, "dual": GROWING}, {"primal": RISING}, "drift effect", "did not hold"),
        ({"primal": RISING, "departure": 10_000.0}, {}, "drift can happen", "held"),
        ({"primal": RISING, "departure": 1.0}, {}, "drift can happen", "did not hold"),
        ({}, {}, "drift can happen", "not tested"),
        ({"score": 0.88}, {}, "already rather small", "held"),
        ({}, {}, "already rather small", "did not hold"),
        ({}, {}, "suffices", "held"),
        ({"score": 0.88}, {}, "suffices", "did not hold"),
        ({"score": 0.88}, {}, "provided number of epochs", "held in part"),
        ({"score": 0.8}, {}, "provided number of epochs", "held"),
        ({"score": 0.88, "primal": 200.0}, {}, "underpin", "held"),
        ({"score": 0.88, "primal": 50.0}, {}, "underpin", "did not hold"),
        ({}, {}, "much faster", "did not hold"),
        ({}, {}, "results are mixed", "did not hold"),
    ],
)
def test_verdicts_about_the_budget(
    small: dict[str, Any], usual: dict[str, Any], words: str, verdict: str
) -> None:
    assert named(judged_budgets(small, usual), words).verdict == verdict


@pytest.mark.parametrize(("rho", "between"), [(0.5, True), (1.0, True), (-0.5, False)])
def test_where_merged_points_lie(rho: float, between: bool) -> None:
    along, across = _best_point(rho, 0.6)
    assert (0 <= along <= 1) == between
    assert across == 0


@pytest.mark.parametrize(
    ("seen", "predicted", "near"),
    [
        (20.0, 21.0, True),
        (20.0, 24.0, False),  # by points
        (4.0, 2.5, False),  # by a factor
        (0.3, 0.0, True),  # as good as none, both
        (0.0, 0.9, False),
    ],
)
def test_rates_near_zero_are_compared_by_a_factor(
    seen: float, predicted: float, near: bool
) -> None:
    assert is_near(seen, predicted, 2.0) == near


def test_who_does_not_get_there_is_not_the_faster_one() -> None:
    never, both = (np.inf, np.inf), (1.0, 2.0)

    def compare(seconds: tuple[float, float]) -> float:
        return Comparison("A", 200, "P", 1.0, both, seconds, never, never, (3.0, 9.0)).speed_up()

    assert compare((8.0, 4.0)) == 2
    assert compare((np.inf, 5.0)) == 1, "not 0.6, though its run is shorter"
    assert compare((np.inf, 1.0)) == 3, "at least"
    assert compare((2.0, np.inf)) == pytest.approx(2 / 9)
    assert np.isnan(compare(never))


def test_some_test_rows_may_be_easier_than_all() -> None:
    runs = seeds()
    assert luck_of_rows(runs) == pytest.approx(0)
    easier = [{**one, "accuracy": one["accuracy"] - 0.5} for one in runs]
    assert luck_of_rows(easier) == pytest.approx(0.5)


def test_an_exception_alone_does_not_make_a_claim_hold() -> None:
    judge = objective_claims._but_adult
    assert judge({"A": True, "ADULT": False}) == "held"
    assert judge({"A": True, "ADULT": True}) == "held in part"
    assert judge({"A": False, "ADULT": False}) == "did not hold"


@pytest.mark.parametrize(
    ("steps", "verdict"), [(0.1, "held"), (0.4, "did not hold"), (0.9, "did not hold")]
)
def test_bsca_fixes_variables_if_few_violators_make_steps(steps: float, verdict: str) -> None:
    def history(share: float) -> list[dict[str, Any]]:
        return [{"history": [{"steps": share, "violations": 0.5, "merges": share}] * 8}]

    scope = Scope((MADE,), None, quick=True, seeds=1)
    runs = {
        (MADE.name, method, budget): history(share)
        for method, share in (("bsgd", 0.5), ("bsca", steps))
        for budget in (20, 40, 60)
    }
    assert merging._fixes(scope, runs).verdict == verdict


@pytest.mark.parametrize(
    ("hidden", "visible", "violations", "stopping"),
    [
        (0.5, 0.5, "held", "held"),  # it never stops
        (0.5, 1e-6, "held in part", "held"),  # it stops far from the optimum
        (1e-6, 1e-6, "did not hold", "did not hold"),  # it stops where it should
    ],
)
def test_what_violations_say(hidden: float, visible: float, violations: str, stopping: str) -> None:
    runs = [{"C": 1.0, "hidden": [hidden], "visible": [[1.0, visible]]}]
    assert discussion_claims._violations(runs).verdict == violations
    assert discussion_claims._stopping(runs).verdict == stopping
