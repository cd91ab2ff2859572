"""What a call that trains has with it, and what it certifies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from budgetsvm._estimators.user_input import check_penalty
from budgetsvm._learn.keeper import NOTHING_KEPT, Keeper
from budgetsvm._learn.settings import Settings
from budgetsvm._polish.polish import Outcome
from budgetsvm.monitoring._observer import Observers

#: What a certificate is about, as `certifies_` says it.
FULL, SPAN = "full problem", "span"
#: The attributes that a certificate is made of.
CERTIFICATE = ("duality_gap_", "objective_", "converged_", "certifies_")
#: The attributes that a search leaves.
TUNED = ("best_params_", "best_score_", "cv_results_", "search_complete_", "budget_curve_")


@dataclass(frozen=True, eq=False)
class Training:
    """What a call that trains a machine has with it, from its begin to its end."""

    settings: Settings
    rng: np.random.Generator
    started: float  #: a value of the clock
    observers: Observers
    keeper: Keeper = NOTHING_KEPT  #: of the state of phase 1


def certify(machine: Any, outcome: Outcome) -> None:
    """Let a machine say how good its solution is, and of which problem."""
    polished = outcome.polished
    machine.duality_gap_ = polished.gap
    machine.objective_ = (polished.primal, polished.dual)
    machine.converged_ = polished.converged
    machine.certifies_ = FULL if outcome.full else SPAN
    if "C" in vars(machine):  # not of a one-class machine
        machine.C_ = check_penalty(machine.C) * outcome.factor
