"""What the user is told where a polish does not do what was asked for."""

import numpy as np

from budgetsvm._common.saying import say
from budgetsvm._polish.polish import MUCH_LOST, Outcome
from budgetsvm._polish.result import Polished

_SMALL = 1e-3  # a gap that single precision may be to blame for


def warn_of(outcome: Outcome, tol: float) -> None:
    """Say what is to be said of an outcome, if anything is."""
    single = outcome.model.points.dtype == np.float32
    if outcome.lost > MUCH_LOST:
        warn_not_definite(outcome.lost, len(outcome.model))
    elif not outcome.trusted:
        warn_not_precise(outcome.polished, single=single)
    elif not outcome.polished.converged:
        warn_not_converged(outcome.polished, tol, single=single)


def warn_not_converged(polished: Polished, tol: float, *, single: bool) -> None:
    """Say that the limits came first, and what to do."""
    blame = " Single precision may allow for no less: precision='double' does."
    say(
        f"the duality gap is {polished.gap:.2g} after {polished.passes} passes, {_beside(polished, tol)}. "
        "Raise max_passes, time_limit or tol; a smaller C or scaled features also help."
        + (blame if single and polished.gap < _SMALL else "")
    )


def _beside(polished: Polished, tol: float) -> str:
    """Say what the gap is too large for: `converged` is nearly always about the gap beside P, but not always."""
    if polished.gap > tol:
        return f"above tol={tol:g}"
    what = "what a model can save of the costs, or what rows within reach cost"
    evidence = polished.evidence
    share = "more" if evidence is None else f"{_measured(polished, evidence.scale):.2g} of it, more"
    return f"which is within tol={tol:g} of P, but not beside {what}: {share} than tol"


def _measured(polished: Polished, scale: float) -> float:
    return (polished.primal - polished.dual) / scale if scale > 0 else np.inf


def warn_not_precise(polished: Polished, *, single: bool) -> None:
    """Say that rounding errors are larger than the certificate allows for."""
    way_out = (
        "precision='double' or precision='auto' would help"
        if single
        else "scale the features, take away from each what all rows have in common, or choose a smaller C"
    )
    say(
        f"the duality gap of {polished.gap:.2g} is not to be relied on: rounding errors of kernel values are "
        f"larger than that, or may be; {way_out}"
    )


def warn_not_definite(lost: float, n_terms: int) -> None:
    """Say that the terms have little to do with the kernel, as it is not positive definite."""
    what = (
        f"{n_terms} terms are left" if n_terms else "no term is left, and the model is a constant"
    )
    say(
        f"the kernel is not positive semi-definite: values as large as {lost:.2g} times its largest are not in the span of "
        f"terms that it is positive on; {what}. Kernels that are so but for a constant, as minus a distance, are solved as they "
        "are where all rows may be terms (budget='auto' or their number), the loss is that of SVC or SVR, and there is a bias; "
        "or take another kernel, as exp(-gamma * distance)"
    )
