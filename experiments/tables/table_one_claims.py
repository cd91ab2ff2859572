"""What table 1 says about the paper's claims; the rules are stated beside the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.report.content import Claim
from experiments.report.wording import judge, signed, tally

if TYPE_CHECKING:
    from experiments.tables.table_one import Case

_NEAR = 0.5  # points within which an accuracy is that of the paper


def claims(cases: Sequence[Case]) -> list[Claim]:
    """Judge what the paper says of its table 1."""
    known = [case for case in cases if case.spec.paper_rows]
    return [*_exact(known), *_sizes(known)]


def _exact(cases: Sequence[Case]) -> list[Claim]:
    """The accuracies of the exact SVM can be had again, where the data are the same."""
    if not cases:
        return []
    whole = [c for c in cases if c.whole and c.spec.paper_rows == c.exact["rows"]]
    seen = [f"{c.spec.name} {signed(_exact_error(c))}" for c in cases]
    named = ", ".join(c.spec.name for c in whole)
    near = {c.spec.name: abs(_exact_error(c)) <= _NEAR for c in whole}
    text = (
        f"Within {_NEAR:g} points {tally(near) if near else 'nowhere'}, where the rows are those of the paper ({named or 'none'}). Ours minus the paper's, points: {', '.join(seen)} "
        f"(rule: within {_NEAR:g} on all of these)"
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
