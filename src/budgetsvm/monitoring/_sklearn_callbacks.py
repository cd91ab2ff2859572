"""scikit-learn's callbacks, of version 1.9 and newer; with older ones nothing here does anything.

To callbacks a fit is a tree of tasks: "fit" has the parts "learn-terms", with an "epoch" each time phase 1
goes through the rows, and "polish". At the end of each they can ask for a machine as if fit ended there.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from importlib import import_module
from typing import Any, Self, TypeAlias, TypeVar

_library: Any = None
with suppress(ImportError):  # scikit-learn < 1.9
    _library = import_module("sklearn.callback")

_Fit = TypeVar("_Fit", bound=Callable[..., Any])
# Gives the attributes that the machine would have if fit ended now; None: it could not predict. A function,
# because a model is copied only if a callback wants to see it.
State: TypeAlias = Callable[[], dict[str, Any]] | None


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
        complete = None if state is None else lambda: self._completed(state())
        return {"estimator": self.machine, **self.data, "reconstruction_attributes": complete}

    def _completed(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Add what depends on the model."""
        model = attributes.get("_expansion", self.machine._expansion)
        weights = (self.data["metadata"] or {}).get("sample_weight")
        return attributes | dict(self.machine._derived(model, self.data["X"], weights))


# Of this thread. Not an attribute of the machine: data do not belong into copies and pickles of it.
_current: ContextVar[Task | None] = ContextVar("_current", default=None)


def watched(fit: _Fit) -> _Fit:
    """Let callbacks watch a method ``fit(X, y, sample_weight)``; where there are none, it is just called."""
    if _library is None:
        return fit
    signature = inspect.signature(fit)

    @_library.with_callbacks  # type: ignore[untyped-decorator]
    def run(machine: Any, arguments: inspect.BoundArguments) -> Any:
        task = Task.fit(machine, *arguments.args[1:])
        task.begin(None)
        token = _current.set(task)
        try:
            result = fit(*arguments.args)
        finally:
            _current.reset(token)
        task.end(dict)
        return result

    @wraps(fit)
    def method(machine: Any, *args: Any, **named: Any) -> Any:
        if not (hasattr(machine, "_skl_callbacks") or hasattr(machine, "_parent_callback_ctx")):
            return fit(machine, *args, **named)
        arguments = signature.bind(machine, *args, **named)
        arguments.apply_defaults()
        return run(machine, arguments)

    return method  # type: ignore[return-value]


@contextmanager
def phase(machine: Any, name: str, most_parts: int | None = None) -> Iterator[Task | None]:
    """Tell callbacks about a phase of the fit; gives None if nobody watches this machine."""
    fit = _current.get()
    if fit is None or fit.machine is not machine:
        yield None
        return
    task = fit.part(name, most_parts)
    task.begin(dict if len(machine._expansion) else None)
    yield task
    task.end(dict)


class EpochHooks:
    """Tells callbacks about the epochs of a phase."""

    def __init__(self, parent: Task, attributes: Callable[[Any], dict[str, Any]]) -> None:
        self._phase = self._epoch = parent
        self._attributes = attributes

    def begin(self, learned: Callable[[], Any] | None) -> None:
        """Start an epoch; `learned` gives what is known by then, for `attributes`."""
        self._epoch = self._phase.part("epoch")
        self._epoch.begin(self._state(learned))

    def end(self, learned: Callable[[], Any] | None) -> bool:
        """End an epoch; returns whether it is to be the last."""
        return self._epoch.end(self._state(learned))

    def _state(self, learned: Callable[[], Any] | None) -> State:
        return None if learned is None else lambda: self._attributes(learned())
