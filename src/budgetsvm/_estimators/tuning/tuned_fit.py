"""``C="tune"`` and ``gamma="tune"``: a fit that finds them first."""

from time import perf_counter
from typing import Any

from sklearn.base import clone, is_classifier

from budgetsvm._estimators.fitting.training import TUNED
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._estimators.machine import has_callbacks
from budgetsvm._estimators.tuning.folds import Folds
from budgetsvm._estimators.tuning.missing import say_cut_short
from budgetsvm._estimators.tuning.preparation import Data, Wanted
from budgetsvm._estimators.tuning.search import Found, search

_CS, _GAMMAS = 10, 9  # values; of gamma, "scale" is one of them, as their number is odd
_ROUGH = 0.1  # a gap, above which a solution that was cut short may be worse than that of other parameters
_LEAST_REST = 0.1  # of a time limit, for the fit to all rows


def fit_tuned(machine: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Find the parameters that are to be tuned, and fit the machine with them; its own stay what they are."""
    started, tuned = perf_counter(), machine._tuned
    base, data = machine._untuned(), Data(X, y, None, sample_weight)
    default = _fit_first(base, data)
    seconds = None if default is None else perf_counter() - started
    wanted = Wanted(
        Cs=_CS if "C" in tuned else [base.C],
        gammas=_GAMMAS if "gamma" in tuned else None,
        budget=base.budget,
        cv=Folds(is_classifier(base), sample_weight),
        n_jobs=base.n_jobs,
        random_state=base.random_state,
        time_limit=base.time_limit,
        verbose=int(base.verbose),
        default_seconds=seconds,
        guarded=True,
    )
    found = search(base, wanted, data, started)
    found, fitted = _better(base, found, data, started, default)
    parameters = machine.get_params(deep=False)
    machine._forget_certificate()  # and what a fit before has found
    vars(machine).update({k: v for k, v in vars(fitted).items() if k not in parameters})
    results = found.parameters, found.score, found.results, found.complete, found.curve
    vars(machine).update({k: v for k, v in zip(TUNED, results, strict=True) if v is not None})


def _fit_first(base: Any, data: Data) -> BudgetMachine | None:
    """Return the machine as it is without a search, where the time is limited: there may be none for it afterwards."""
    if base.time_limit is None or base.monitor is not None or has_callbacks(base):
        return None  # whoever follows a fit wants to see one
    return clone(base).fit(data.X, data.y, data.sample_weight)  # type: ignore[no-any-return]


def _better(
    base: Any, found: Found, data: Data, started: float, default: BudgetMachine | None
) -> tuple[Found, BudgetMachine]:
    """Return what was found, with a machine of all rows; if that was cut short, rather the one that was not."""
    if default is not None and found.is_default:
        return found, default
    fitted = refitted(base, found, data, started)
    gap = fitted.duality_gap_
    if default is None or fitted.converged_ or gap <= max(_ROUGH, default.duality_gap_):
        return found, fitted
    say_cut_short(base.time_limit, gap)
    return found.without_gain(), default


def refitted(base: Any, found: Found, data: Data, started: float) -> BudgetMachine:
    """Return a machine with what was found, trained on all rows in the time that is left."""
    own: dict[str, Any] = {"random_state": found.seed}
    if base.time_limit is not None:
        left = base.time_limit - (perf_counter() - started)
        own["time_limit"] = max(left, _LEAST_REST * base.time_limit)
    machine: Any = clone(base).set_params(**own, **found.parameters)
    machine.fit(data.X, data.y, data.sample_weight)
    return machine  # type: ignore[no-any-return]
