"""Checks of the solution: whether the polish has converged, and whether single precision was enough."""

import numpy as np

from budgetsvm._diagnosis.finding import Finding, percent
from budgetsvm._diagnosis.subject import Subject

_SMALL_GAP = 1e-3  # that single precision may be to blame for
_SAMPLE = 2000
_OFF = 0.01  # of a margin, or of the scale of the targets


def check_convergence(subject: Subject) -> Finding | str:
    """Look at the certificate."""
    machine = subject.machine
    if not hasattr(machine, "converged_"):
        return "without a polish nothing is known about it"
    gap = float(machine.duality_gap_)
    sentence = f"the duality gap is {gap:.2g}, where tol={machine.tol:g} was asked for"
    if machine.converged_:
        return Finding("convergence", gap, sentence)
    remedy = "raise max_passes or time_limit; a smaller C or scaled features also help"
    if gap <= machine.tol:
        sentence += ", but rounding errors or outliers are too large to rely on it"
        remedy = "scale the features, or choose a smaller C"
    elif machine.time_limit is None and gap < _SMALL_GAP:
        remedy += "; so small a gap may need precision='double'"
    return Finding("convergence", gap, sentence, remedy)


def check_precision(subject: Subject) -> Finding | str:
    """Compare values of the model in single precision with those in double precision."""
    model = subject.model
    if model.is_double:
        return "the model is in double precision"
    X = subject.X[subject.sample(_SAMPLE)]
    exact = model.in_precision(np.float64).decision(X, subject.threads)
    off = float(np.max(abs(model.decision(X, subject.threads) - exact), initial=0.0))
    unit = "the scale of the targets" if subject.regresses else "the margin"
    sentence = f"rounding in single precision, as in training, moves values by up to {percent(off)} of {unit}"
    if off <= _OFF:
        return Finding("precision", off, sentence)
    remedy = (
        "precision='double', features with less of an offset and on common scales, or a smaller C"
    )
    return Finding("precision", off, sentence, remedy)
