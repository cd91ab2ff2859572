"""scikit-learn's callbacks, of version 1.9 and newer; with older ones nothing here does anything.

To callbacks a fit is a tree of tasks: "fit" has the parts "learn-terms", with an "epoch" each time phase 1
goes through the rows, and "polish". At the end of each they can ask for a machine as if fit ended there.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self, TypeAlias, cast

from budgetsvm.monitoring._observer import FitObserver, LearnMoment, Phase

_library: Any = None
with suppress(ImportError):  # scikit-learn < 1.9
    _library = import_module("sklearn.callback")

# Gives the attributes that the machine would have if fit ended now; None: it could not predict. A function,
# because a model is copied only if a callback wants to see it.
State: TypeAlias = Callable[[], dict[str, Any]] | None

_NAMES = {"learn": "learn-terms", "polish": "polish"}  # of tasks


class _NoCallbackSupport:
    """A base class that adds nothing."""


#: Base class of estimators, for ``set_callbacks``.
CallbackSupport: Any = _NoCallbackSupport if _library is None else _library.CallbackSupportMixin


@dataclass(frozen=True, eq=False)
class Task:
    """A part of a fit, whose begin and end callbacks hear about."""

    machine: Any
    context: Any  #: a CallbackContext
    data: dict[str, Any]  #: X, y and metadata, as they were given to fit

    @classmethod
    def fit(cls, machine: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Return the task of a whole fit; sets up all callbacks."""
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        phases = machine._learns_terms + machine._polishes
        context = machine._init_callback_context(max_subtasks=phases)
        return cls(machine, context, {"X": X, "y": y, "metadata": metadata})

    def part(self, name: str, most_parts: int | None = 0) -> Self:
        """Return a new part of this task, which itself may have so many (None: nobody knows)."""
        context = self.context.subcontext(task_name=name, max_subtasks=most_parts)
        return replace(self, context=context)

    def begin(self, state: State) -> None:
        """Call the hooks."""
        self.context.call_on_fit_task_begin(**self._told(state))

    def end(self, state: State) -> bool:
        """Call the hooks; returns whether one of them wants no more tasks like this."""
        return bool(self.context.call_on_fit_task_end(**self._told(state)))

    def _told(self, state: State) -> dict[str, Any]:
        X, weights = self.data["X"], (self.data["metadata"] or {}).get("sample_weight")
        complete = None if state is None else lambda: self.machine._ended(state(), X, weights)
        return {"estimator": self.machine, **self.data, "reconstruction_attributes": complete}


# Of this thread. Not an attribute of the machine: data do not belong into copies and pickles of it.
_current: ContextVar[Task | None] = ContextVar("_current", default=None)


def runner(fit: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what runs a method ``fit(X, y, sample_weight)`` with callbacks; None: there is no such thing."""
    if _library is None:
        return None

    @_library.with_callbacks  # type: ignore[untyped-decorator]
    def run(machine: Any, arguments: inspect.BoundArguments) -> Any:
        task = Task.fit(machine, *arguments.args[1:])
        task.begin(None)
        token = _current.set(task)
        try:
            result = fit(*arguments.args, **arguments.kwargs)
        finally:
            _current.reset(token)
        task.end(dict)
        return result

    return cast(Callable[..., Any], run)


def callbacks_of(machine: Any) -> list[FitObserver]:
    """Return what tells scikit-learn's callbacks of the fit of a machine that is running, if there are any."""
    fit = _current.get()
    return [CallbackObserver(fit)] if fit is not None and fit.machine is machine else []


class CallbackObserver(FitObserver):
    """Tells scikit-learn's callbacks about phases and epochs."""

    def __init__(self, fit: Task) -> None:
        self._fit = self._phase = self._epoch = fit

    def begin_phase(self, phase: Phase) -> None:
        """Call the hooks."""
        if phase.name not in _NAMES:
            return
        self._phase = self._fit.part(_NAMES[phase.name], phase.most_epochs)
        self._phase.begin(dict if len(self._fit.machine._expansion) else None)

    def end_phase(self, phase: Phase) -> None:
        """Call the hooks."""
        if phase.name in _NAMES:
            self._phase.end(dict)

    def begin_epoch(self, moment: LearnMoment) -> None:
        """Call the hooks."""
        self._epoch = self._phase.part("epoch")
        self._epoch.begin(self._state(moment) if moment.size else None)

    def end_epoch(self, moment: LearnMoment) -> bool:
        """Call the hooks; returns whether this epoch is to be the last."""
        return self._epoch.end(self._state(moment))

    def _state(self, moment: LearnMoment) -> State:
        learned = moment.learned
        return None if learned is None else lambda: self._fit.machine._state_after(learned())
