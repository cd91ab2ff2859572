"""What the user is told where a polish does not do what was asked for."""

import numpy as np

from budgetsvm._common.saying import say
from budgetsvm._polish.result import Polished

_SMALL = 1e-3  # a gap that single precision may be to blame for


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
