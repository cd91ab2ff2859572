"""Sequences of calls on one estimator: run, checked, written down as a program, and run again.

``print(run.program())`` is a program that does the same::

    from sequences.runs import *

    run = Run("two classes", budget=20, n_jobs=1, random_state=0)
    run.partial_fit(Data(n=40))
    run.set_params(budget=5)
    run.partial_fit(Data(n=40, seed=1), fault=Fault("core", 2))
    run.finish()
"""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from oracles import certificates
from sequences import checks
from sequences.data import NAMES, Data
from sequences.faults import Fault, PythonKernel, armed, faulty_blocks
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tools.frozen import differences, frozen
from tools.plain import through_a_file

from budgetsvm import BudgetFeatures, BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm.maintenance import Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD

__all__ = ["BSCA", "BSGD", "Data", "Fault", "Merge", "Points", "Project", "PythonKernel", "Remove"]
__all__ += ["SUBJECTS", "Run"]

SUBJECTS: dict[str, Callable[..., Any]] = {
    "two classes": BudgetSVC,
    "three classes": BudgetSVC,
    "one target": BudgetSVR,
    "two targets": BudgetSVR,
    "one class": BudgetOneClassSVM,
    "features": BudgetFeatures,
}

_NO_FAULT = ("fault", None)


@dataclass(frozen=True)
class Points:
    """Points for ``basis``."""

    n: int
    d: int

    def make(self) -> Any:
        """Return them."""
        return np.random.default_rng(7).standard_normal((self.n, self.d))


def step(method: Callable[..., None]) -> Callable[..., None]:
    """Write a step down before it is done, and add the program to what goes wrong."""

    @wraps(method)
    def recorded(self: "Run", *arguments: Any, **named: Any) -> None:
        given = [*map(repr, arguments)]
        given += [
            f"{name}={value!r}" for name, value in named.items() if (name, value) != _NO_FAULT
        ]
        self.lines.append(f"run.{method.__name__}({', '.join(given)})")
        self.log(self.program())
        self.succeeded = True
        try:
            method(self, *arguments, **named)
        except Exception as error:
            self.failed = True
            error.add_note(f"\nThe program:\n\n{self.program()}")
            raise
        if self.succeeded:
            self.steps.append((method.__name__, arguments, named))

    return recorded


class Run:
    """An estimator and what was done to it. `checked`: whether to look at it after every step."""

    def __init__(
        self,
        subject: str,
        *,
        checked: bool = True,
        log: Callable[[str], object] = len,
        **parameters: Any,
    ) -> None:
        self.subject, self.checked, self.log = subject, checked, log
        self.parameters = parameters
        self.model = SUBJECTS[subject](**parameters)
        self.lines: list[str] = []
        self.steps: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.succeeded = True  # of the last step
        self.failed = False  # a check
        self.parts: list[Data] = []  # what a stream has brought since the model began
        self.whole = False  # whether the model began with the first of them
        self.room = 0  # rows that it could remember all the while
        self.single = False  # whether single precision was allowed for since then

    def program(self) -> str:
        """Return the steps so far as Python."""
        given = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        begin = ["from sequences import *", f"run = Run({self.subject!r}{given})"]
        return "\n".join([*begin, *self.lines, "run.finish()", ""])

    @property
    def is_features(self) -> bool:
        """Whether it is a transformer, which has fewer methods."""
        return self.subject == "features"

    # ---- the steps ----

    @step
    def set_params(self, **parameters: Any) -> None:
        """Change parameters; those that the estimator does not have are left out."""
        known = self.model.get_params(deep=False)
        chosen = {name: value for name, value in parameters.items() if name in known}
        if isinstance(chosen.get("basis"), Points):
            chosen["basis"] = chosen["basis"].make()
        self.model.set_params(**chosen)

    @step
    def fit(self, data: Data, fault: Fault | None = None) -> None:
        """Train from scratch, or from the fit before."""
        fresh = not getattr(self.model, "warm_start", False)
        named = {} if data.weights == "none" else {"sample_weight": data.sample_weight()}
        if named and "sample_weight" not in signature(self.model.fit).parameters:
            named = {}
        X, y = data.rows(), data.targets(self.subject)
        if not self._train(lambda: self.model.fit(X, y, **named), fault, fresh=fresh):
            return
        self.parts, self.whole = [], False
        if hasattr(self.model, "objective_") and self.checked:
            self._check_primal([data])

    @step
    def partial_fit(self, data: Data, fault: Fault | None = None) -> None:
        """Train on some more rows."""
        first = not checks.is_fitted(self.model)
        named = {} if data.weights == "none" else {"sample_weight": data.sample_weight()}
        if first and "classes" in self.subject:
            named["classes"] = self._names(data)
        X, y = data.rows(), data.targets(self.subject)
        done = self._train(lambda: self.model.partial_fit(X, y, **named), fault, fresh=first)
        if done:
            self.parts, self.whole = [*self.parts, data], first or self.whole
            room = getattr(self.model, "reservoir", 0)
            self.room = room if first else min(self.room, room)
            assert not hasattr(self.model, "objective_"), "the certificate is of another model"

    @step
    def polish_now(self, fault: Fault | None = None) -> None:
        """Solve in the span of the terms."""
        before = getattr(self.model, "objective_", None)
        if not self._train(self.model.polish_now, fault):
            return
        self.room = min(self.room, self.model.reservoir)
        if not self.checked:
            return
        if getattr(self.model, "objective_", None) not in (None, before) and self._remembers_all():
            self._check_primal(self.parts)

    @step
    def fit_stream(self, *parts: Data, form: str = "tuple", fault: Fault | None = None) -> None:
        """Train from scratch on blocks."""
        named = {"classes": self._names(parts[0])} if "classes" in self.subject else {}
        blocks = faulty_blocks([self._block(part, form) for part in parts])
        done = self._train(lambda: self.model.fit_stream(blocks, **named), fault, fresh=True)
        if not done:
            return
        self.parts, self.whole, self.room = list(parts), True, self.model.reservoir
        if hasattr(self.model, "objective_") and self.checked and self._remembers_all():
            self._check_primal(self.parts)

    @step
    def look(self, data: Data, fault: Fault | None = None) -> None:
        """Ask for answers."""
        before = checks.snapshot(self.model)[1] if self.checked else None
        X = data.rows()
        self._call(lambda: checks.answers(self.model, X), fault)
        self.succeeded = False  # a second run does not look: that must not matter
        if self.checked:
            assert checks.snapshot(self.model)[1] == before, "a look has changed the model"

    @step
    def pickled(self) -> None:
        """Go on with a model from its pickle."""
        self.succeeded = False  # nor does a second run pickle
        if self.checked:
            before = frozen(vars(self.model))
            self.model = pickle.loads(pickle.dumps(self.model))
            changed = differences(before, frozen(vars(self.model)))
            assert not changed, f"pickling has changed {changed}"

    @step
    def from_snapshot(self) -> None:
        """Go on with a model from its snapshot."""
        self.succeeded = False  # nor does a second run take one
        if not (self.checked and checks.may_have_snapshot(self.model)):
            return
        snapshot = through_a_file(snapshot_of(self.model))
        loaded = machine_of(snapshot).set_params(monitor=self.model.monitor)
        before = frozen({k: v for k, v in vars(self.model).items() if k != "monitor_"})
        changed = differences(before, frozen(vars(loaded)))
        assert not changed, f"a snapshot has changed {changed}"
        if hasattr(self.model, "monitor_"):  # which a second run, without a snapshot, has as well
            loaded.monitor_ = self.model.monitor_
        self.model = loaded

    @step
    def renewed(self) -> None:
        """Go on with an estimator of the same parameters that is not fitted."""
        before = frozen(self.model.get_params(deep=False))
        self.model = clone(self.model)
        assert frozen(self.model.get_params(deep=False)) == before
        assert not checks.is_fitted(self.model)
        self.parts, self.whole = [], False

    def finish(self) -> None:
        """Run all that succeeded a second time: failures must not have left a trace."""
        if not self.checked:
            return
        again = Run(self.subject, checked=False, **self.parameters)
        try:
            for name, arguments, named in self.steps:
                fault = named.get("fault")
                harmless = {} if fault is None else {"fault": fault.harmless()}
                getattr(again, name)(*arguments, **{**named, **harmless})
            views = checks.public_view(self.model), checks.public_view(again.model)
            changed = differences(*views) or differences(
                frozen(vars(self.model)), frozen(vars(again.model))
            )
            assert not changed, f"a second run has another {changed}"
        except Exception as error:
            error.add_note(f"\nThe program:\n\n{self.program()}")
            raise

    # ---- what steps have in common ----

    def _train(
        self, action: Callable[[], Any], fault: Fault | None, *, fresh: bool = False
    ) -> bool:
        """Do something that trains; returns whether it was done."""
        before = checks.snapshot(self.model) if self.checked else None
        parameters = frozen(self.model.get_params(deep=False))
        seen = self._call(action, fault)
        assert frozen(self.model.get_params(deep=False)) == parameters, "parameters were changed"
        if before is not None and not self.succeeded:
            after = checks.snapshot(self.model)
            changed = differences(before[1], after[1]) or differences(before[0], after[0])
            assert not changed, f"a call that failed has changed {changed}"
        if self.checked and self.succeeded:
            self.single = (self.single and not fresh) or self.model.precision != "double"
            self._check(seen)
        return self.succeeded

    def _call(self, action: Callable[[], Any], fault: Fault | None) -> list[type[Warning]]:
        """Call, and return the warnings; an error has to be one that was meant, or the fault."""
        error: BaseException | None = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with armed(fault, self.model) as fuse:
                try:
                    action()
                except BaseException as raised:
                    if isinstance(raised, KeyboardInterrupt) and not fuse.fired:
                        raise  # somebody means it
                    error = raised
        self.succeeded = error is None
        if fuse.fired:
            assert error is fuse.error, f"{fuse.error!r} became {error!r}"
        elif error is not None:
            checks.check_error(error)
        for warning in caught:
            if not issubclass(warning.category, ConvergenceWarning):
                raise warning.message if isinstance(warning.message, Warning) else RuntimeError
        return [warning.category for warning in caught]

    def _check(self, seen: list[type[Warning]]) -> None:
        checks.check_size(self.model)
        checks.check_kernel(self.model)
        if hasattr(self.model, "objective_"):
            certificates.check_certificate(self.model)
            empty = (
                len(getattr(self.model, "support_vectors_", [0])) == 0
            )  # nothing is polished then
            assert self.model.converged_ or seen or empty, "no warning"
        precision = np.finfo(np.float32 if self.single else np.float64).eps
        centre = self._centre()
        rng = np.random.default_rng(0)
        probe = centre + rng.standard_normal((6, self.model.n_features_in_))
        checks.check_answers(self.model, probe, float(precision))

    def _check_primal(self, parts: list[Data]) -> None:
        """Check the certificate of a model for these rows."""
        y = [part.targets(self.subject) for part in parts]
        given = [(part.n, part.sample_weight()) for part in parts]
        weights = np.concatenate([np.ones(n) if w is None else w for n, w in given])
        X = np.vstack([part.exact_rows() for part in parts])
        certificates.check_primal(
            self.model, X, None if y[0] is None else np.concatenate(y), weights
        )

    def _centre(self) -> Any:
        name = "components_" if self.is_features else "support_vectors_"
        points = getattr(self.model, name)
        return points.mean(axis=0) if len(points) else 0.0

    def _remembers_all(self) -> bool:
        """Whether the sample of the stream that the model keeps is all of it."""
        return self.whole and sum(part.n for part in self.parts) <= self.room

    def _names(self, data: Data) -> Any:
        return NAMES[data.names][: 2 if self.subject == "two classes" else 3]

    def _block(self, data: Data, form: str) -> Any:
        parts = (data.rows(), data.targets(self.subject), data.sample_weight())
        wanted = parts if parts[2] is not None else parts[:2]
        return list(wanted) if form == "list" else wanted
