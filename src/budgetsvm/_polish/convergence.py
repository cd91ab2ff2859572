"""What the user is told where a polish does not do what was asked for."""

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

from budgetsvm._polish.result import Polished

_SMALL = 1e-3  # a gap that single precision may be to blame for


def warn_not_converged(polished: Polished, tol: float, *, single: bool) -> None:
    """Say that the limits came first, and what to do."""
    blame = " Single precision may allow for no less: precision='double' does."
    say(
        f"the duality gap is {polished.gap:.2g} after {polished.passes} passes, above tol={tol:g}. "
        "Raise max_passes, time_limit or tol; a smaller C or scaled features also help."
        + (blame if single and polished.gap < _SMALL else "")
    )


def warn_not_precise(polished: Polished, *, single: bool) -> None:
    """Say that rounding errors are larger than the certificate allows for."""
    way_out = (
        "precision='double' or precision='auto' would help"
        if single
        else "scale the features, or choose a smaller C or a larger gamma"
    )
    say(
        f"the duality gap of {polished.gap:.2g} is not to be relied on: computed anew in float64 on a "
        f"sample of the rows, the objective is another one; {way_out}"
    )


def say(message: str, category: type[Warning] = ConvergenceWarning) -> None:
    """Warn, and name the line of the user's that called us."""
    warnings.warn(message, category, stacklevel=_levels_to_user())


def _levels_to_user() -> int:
    """Return how far up the line is that called fit: the first one outside of this package."""
    frame, levels = sys._getframe(1), 1
    inner = ("budgetsvm.", "sklearn.callback.")
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(inner):
        frame, levels = frame.f_back, levels + 1
    return levels
