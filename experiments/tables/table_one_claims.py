"""What table 1 says about the paper's claims; the rules are stated beside the figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from experiments.report.content import Claim
from experiments.report.wording import judge, seconds_text, signed, tally

if TYPE_CHECKING:
    from experiments.tables.table_one import Case

#: Points of test accuracy within which a model is as good as another.
EXACT_IS_NEAR = 0.5
_PAPERS = ("bsgd", "bsca")


def claims(cases: Sequence[Case]) -> list[Claim]:
    """Judge what the paper says of its table 1, and of accuracy beside it."""
    known = [case for case in cases if case.spec.paper_rows]
    return [
        *_exact(known),
        *_sizes(known),
        _nearly_exact(cases),
        _faster(cases),
        _dual_is_better(cases),
    ]


def _exact(cases: Sequence[Case]) -> list[Claim]:
    """The accuracies of the exact SVM can be had again, where the data are the same."""
    if not cases:
        return []
    whole = [c for c in cases if c.whole and c.spec.paper_rows == c.exact["rows"]]
    seen = [f"{c.spec.name} {signed(_exact_error(c))}" for c in cases]
    named = ", ".join(c.spec.name for c in whole)
    near = {c.spec.name: abs(_exact_error(c)) <= EXACT_IS_NEAR for c in whole}
    text = (
        f"Within {EXACT_IS_NEAR:g} points {tally(near) if near else 'nowhere'}, where the rows are those of the paper ({named or 'none'}). Ours minus the paper's, points: {', '.join(seen)} "
        f"(rule: within {EXACT_IS_NEAR:g} on all of these)"
    )
    verdict = judge([*near.values()])
    return [Claim("Test accuracies of the exact SVM", "table 1", text, verdict)]


def _sizes(cases: Sequence[Case]) -> list[Claim]:
    """Of the paper's rows, as table 1 has them."""
    if not cases:
        return []
    rows = [c.spec.paper_rows for c in cases]
    return [
        Claim(
            "The range of sizes spans more than two orders of magnitude.",
            "appendix A",
            f"{min(rows):,} to {max(rows):,} rows in the paper: a factor of {max(rows) / min(rows):.0f} (rule: above 100). Ours: {min(c.visited_rows for c in cases):,} to {max(c.visited_rows for c in cases):,}",
            judge([max(rows) > 100 * min(rows)]),
        )
    ]


def _exact_error(case: Case) -> float:
    return float(case.exact["svc_accuracy"]) - case.spec.paper_accuracy


def _nearly_exact(cases: Sequence[Case]) -> Claim:
    losses = {m: [case.loss(m) for case in cases] for m in (*_PAPERS, "two-phase")}
    texts = [
        f"{m}: " + ", ".join(f"{c.spec.name} {signed(-c.loss(m))}" for c in cases) for m in losses
    ]
    near = {c.spec.name: max(c.loss(m) for m in _PAPERS) <= EXACT_IS_NEAR for c in cases}
    text = (
        f"Both are near {tally(near)}. Points against `SVC` after five epochs: {'; '.join(texts)} (rule: at most {EXACT_IS_NEAR:g} lost by the "
        "mean of BSGD and of BSCA on every data set; two-phase is ours, and is not judged)"
    )
    return Claim(
        "All budgeted models reach an accuracy nearly indistinguishable from the exact SVM's",
        "section 5, Learning Performance",
        text,
        judge([loss <= EXACT_IS_NEAR for m in _PAPERS for loss in losses[m]]),
    )


def _faster(cases: Sequence[Case]) -> Claim:
    texts = [
        f"{c.spec.name} {seconds_text(c.golden_seconds('bsca'))} ({seconds_text(c.seconds('bsca'))} by a table) "
        f"against {seconds_text(c.exact_seconds)}"
        for c in cases
    ]
    less = {
        c.spec.name: max(c.golden_seconds("bsca"), c.seconds("bsca")) < c.exact_seconds
        for c in cases
    }
    text = (
        f"Faster {tally(less)}. Seconds of BSCA with golden section and of `SVC`: {', '.join(texts)} (rule: less than `SVC` by both; where our "
        "`SVC` had a subset, the paper's time)"
    )
    times = [(c, seconds("bsca")) for c in cases for seconds in (c.golden_seconds, c.seconds)]
    return Claim(
        "Budget methods reduce the training time of kernel SVMs",
        "abstract",
        text,
        judge([seconds < case.exact_seconds for case, seconds in times]),
    )


def _dual_is_better(cases: Sequence[Case]) -> Claim:
    means = [[fmean(c.accuracies(m)) for m in _PAPERS] for c in cases]
    texts = [
        f"{c.spec.name} {bsca:.2f} against {bsgd:.2f}"
        for c, (bsgd, bsca) in zip(cases, means, strict=True)
    ]
    return Claim(
        "The dual solver is superior in terms of test accuracy",
        "section 5, Discussion",
        f"BSCA is better {tally({c.spec.name: bsca > bsgd for c, (bsgd, bsca) in zip(cases, means, strict=True)})}. BSCA and BSGD after five epochs: {', '.join(texts)} (rule: the greater mean on every data set)",
        judge([bsca > bsgd for bsgd, bsca in means]),
    )
