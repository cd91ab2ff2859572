"""What table 1 says about the paper's claims; the rules are stated beside the figures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from experiments.report.content import Claim
from experiments.report.wording import judge, seconds_text, signed

if TYPE_CHECKING:
    from experiments.tables.table_one import Case

#: Points of test accuracy within which a model is as good as another.
EXACT_IS_NEAR = 0.5
_PAPERS = ("bsgd", "bsca")


def claims(cases: Sequence[Case]) -> list[Claim]:
    """Judge what the paper says of its table 1, and of accuracy beside it."""
    known = [case for case in cases if case.spec.paper_rows]
    return [*_exact(known), _nearly_exact(cases), _faster(cases), _dual_is_better(cases)]


def _exact(cases: Sequence[Case]) -> list[Claim]:
    """The accuracies of the exact SVM can be had again, where the data are the same."""
    if not cases:
        return []
    whole = [c for c in cases if c.whole and c.spec.paper_rows == c.exact["rows"]]
    seen = [f"{c.spec.name} {signed(_exact_error(c))}" for c in cases]
    named = ", ".join(c.spec.name for c in whole)
    text = (
        f"ours minus the paper's, points: {', '.join(seen)} (rule: within {EXACT_IS_NEAR:g} on {named or 'none'}, "
        "where the rows are those of the paper)"
    )
    verdict = judge([abs(_exact_error(c)) <= EXACT_IS_NEAR for c in whole])
    return [Claim("Test accuracies of the exact SVM", "table 1", text, verdict)]


def _exact_error(case: Case) -> float:
    return float(case.exact["svc_accuracy"]) - case.spec.paper_accuracy


def _nearly_exact(cases: Sequence[Case]) -> Claim:
    losses = {m: [case.loss(m) for case in cases] for m in (*_PAPERS, "two-phase")}
    texts = [
        f"{m}: " + ", ".join(f"{c.spec.name} {signed(-c.loss(m))}" for c in cases) for m in losses
    ]
    text = (
        f"points against `SVC` after five epochs: {'; '.join(texts)} (rule: at most {EXACT_IS_NEAR:g} lost by the "
        "mean of BSGD and of BSCA on every data set; two-phase is ours, and is not judged)"
    )
    return Claim(
        "All budgeted models reach an accuracy nearly indistinguishable from the exact SVM's",
        "section 4, Learning Performance",
        text,
        judge([loss <= EXACT_IS_NEAR for m in _PAPERS for loss in losses[m]]),
    )


def _faster(cases: Sequence[Case]) -> Claim:
    texts = [
        f"{c.spec.name} {seconds_text(c.golden_seconds('bsca'))} ({seconds_text(c.seconds('bsca'))} by a table) "
        f"against {seconds_text(c.exact_seconds)}"
        for c in cases
    ]
    text = (
        f"seconds of BSCA with golden section and of `SVC`: {', '.join(texts)} (rule: less than `SVC` by both; where our "
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
        "section 4, Discussion",
        f"BSCA and BSGD after five epochs: {', '.join(texts)} (rule: the greater mean on every data set)",
        judge([bsca > bsgd for bsgd, bsca in means]),
    )
