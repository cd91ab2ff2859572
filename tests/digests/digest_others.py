"""Monitors, phase 2 alone, the estimators inside of others, and formulas."""

from functools import partial
from typing import Any

import numpy as np
from digest_cases import LOSSES, MACHINES, Cases, cauchy, gathered
from digest_data import estimator, problem
from digest_values import ANSWERS, Parts, digest, parts_of
from sklearn.calibration import CalibratedClassifierCV

from budgetsvm import kernels, losses, polish
from budgetsvm.monitoring import Monitor, Trace, TrainingData, View

_VIEWED = (
    *("phase", "visits", "passes", "steps", "violations", "merges", "degradation", "bound"),
    *("alpha", "points", "coef"),
)
_POLISHED = ("points", "coef", "bias", "alpha", "primal", "dual", "gap", "converged", "passes")


def other_cases() -> Cases:
    """Return all cases of this module."""
    return gathered(_traces, _views, _polish_alone, _other_uses, _formulas)


# ---- monitors ----


class Views(Monitor):
    """Keeps digests of all that a monitor gets to see, but times."""

    def __init__(self, every: int, X: Any, *, aligned: bool) -> None:
        self.every, self.X, self.aligned = every, X, aligned
        self.seen: list[list[str]] = []

    def begin(self, data: TrainingData) -> None:
        """Forget an earlier fit."""
        self.seen = [[digest((len(data), data.intercept, data.n_threads))]]

    def next_visit(self, visits: int) -> int:
        """Look every so many visits."""
        return visits + self.every

    def observe(self, view: View) -> None:
        """Look at the fit, and at what the estimator would say if it ended here."""
        model = view.estimator()
        answers = [digest(getattr(model, name)(self.X)) for name in ANSWERS if hasattr(model, name)]
        self.seen.append([*(digest(getattr(view, name)) for name in _VIEWED), *answers])


def _views() -> Cases:
    ways: dict[str, dict[str, Any]] = {
        "defaults": {},
        "bsgd plain": {"solver": "bsgd", "polish": False},
        "no budget": {"budget": None},
        "project": {"maintenance": "project"},
        "random basis": {"basis": "random"},
    }
    return {
        f"monitor/{subject} {name} aligned={aligned}": partial(
            _fit_viewed, subject, aligned=aligned, **way
        )
        for subject in MACHINES
        for name, way in ways.items()
        for aligned in (True, False)
    }


def _fit_viewed(subject: str, *, aligned: bool, **parameters: Any) -> Parts:
    data = problem(subject, 200)
    views = Views(90, data.X_test, aligned=aligned)
    model = estimator(subject, monitor=views, **parameters)
    return parts_of(model.fit(data.X, data.y), data.X_test)


def _traces() -> Cases:
    ways: dict[str, dict[str, Any]] = {
        "every epoch": {},
        "every 70": {"every": 70},
        "chosen": {"every": (10, 50, 333)},
        "primal": {"objectives": ("primal",)},
        "estimated": {"effort": 2000.0},
        "scored": {"scored": True},
    }
    cases: Cases = {
        f"trace/{subject} {name} polish={polishes}": partial(
            _fit_traced, subject, polish=polishes, **way
        )
        for subject in MACHINES
        for name, way in ways.items()
        for polishes in (True, False)
    }
    return cases | {
        f"trace/features {name}": partial(_fit_traced, "features", **way)
        for name, way in ways.items()
    }


def _fit_traced(
    subject: str, *, scored: bool = False, polish: bool | None = None, **options: Any
) -> Parts:
    data = problem(subject)
    if scored:
        y_test = np.ones(len(data.X_test)) if data.y_test is None else data.y_test
        options = {**options, "X_test": data.X_test, "y_test": y_test}
    own = {} if polish is None else {"polish": polish, "epochs": 3}
    model = estimator(subject, monitor=Trace(**options), **own)
    return parts_of(model.fit(data.X, data.y), data.X_test)


# ---- phase 2 alone, and estimators inside of others ----


def _polish_alone() -> Cases:
    ways: dict[str, dict[str, Any]] = {
        **{loss: {"loss": loss} for loss in LOSSES},
        "intercept": {"fit_intercept": True, "tol": 1e-4},
        "double": {"precision": "double", "tol": 1e-8},
        "sparse": {"form": "csr"},
        "weights": {"weights": "zeros"},
        "laplacian": {"kernel": "laplacian", "maintenance": "remove"},
        "function": {"kernel": cauchy, "maintenance": "remove"},
        "low memory": {"memory_limit": 1.0},
        "two threads": {"n_jobs": 2, "rows": 5000, "points": 90},
    }
    cases: Cases = {
        f"polish/{subject} {name}": partial(_polish, subject, **way)
        for subject in ("svc", "multi")
        for name, way in ways.items()
    }
    joint = partial(_polish, "multi", multi_class="weston-watkins")
    return {**cases, "polish/multi weston-watkins": joint}


def _polish(
    subject: str,
    *,
    form: str = "float64",
    rows: int = 300,
    points: int = 25,
    weights: str | None = None,
    **parameters: Any,
) -> Parts:
    data = problem(subject, rows, form)
    Z = 1.2 * data.X_test[:points]
    given = {"C": 5.0, "n_jobs": 1, "random_state": 0, **parameters}
    result = polish(data.X, data.y, Z, sample_weight=data.weights(weights), **given)
    return {name: digest(getattr(result, name)) for name in _POLISHED}


def _other_uses() -> Cases:
    return {
        **{f"use/{subject} callback": partial(_fit_called_back, subject) for subject in MACHINES},
        "use/svc calibrated": _fit_calibrated,
        "use/svc names of classes": partial(_fit_named, "svc"),
        "use/multi names of classes": partial(_fit_named, "multi"),
        **{f"use/svr {name} targets": partial(_fit_targets, name) for name in ("wild", "equal")},
    }


def _fit_called_back(subject: str) -> Parts:
    """Watched by a callback of scikit-learn, where it has any."""
    from sklearn.callback import ScoringMonitor

    data = problem(subject)
    targets = np.ones(len(data.X)) if data.y is None else data.y
    scoring = "r2" if subject in {"svr", "targets"} else "accuracy"
    model = estimator(subject).set_callbacks(ScoringMonitor(scoring=scoring))
    return parts_of(model.fit(data.X, targets), data.X_test)


def _fit_calibrated() -> Parts:
    data = problem("svc")
    model = CalibratedClassifierCV(estimator("svc"), cv=3, ensemble=False).fit(data.X, data.y)
    return {
        name: digest(getattr(model, name)(data.X_test)) for name in ("predict", "predict_proba")
    }


def _fit_named(subject: str) -> Parts:
    data, names = problem(subject), np.array(["fir", "elm", "oak"])
    return parts_of(estimator(subject).fit(data.X, names[data.y]), data.X_test)


def _fit_targets(kind: str) -> Parts:
    """Targets with outliers, and a target that is nearly always the same."""
    data = problem("targets")
    y = data.y.copy()
    if kind == "wild":
        y[::50] *= 1e6
    else:
        y[5:, 0], y[:, 1] = 3.0, 7.0
    return parts_of(estimator("targets").fit(data.X, y), data.X_test)


def _formulas() -> Cases:
    """What kernels and losses say of themselves."""
    of_kernels = (
        *(kernels.Gaussian(0.7), kernels.Laplacian(0.3), kernels.Polynomial(3, 0.4, 1.0)),
        *(kernels.Sigmoid(0.2, 0.1), kernels.Linear(), kernels.Callback(cauchy)),
    )
    of_losses = (losses.Hinge(), losses.SquaredHinge(), losses.Logistic())
    cases: Cases = {f"formula/{kernel.name}": partial(_kernel, kernel) for kernel in of_kernels}
    return cases | {
        f"formula/{loss.name}": partial(_loss, loss)
        for loss in (*of_losses, losses.EpsilonInsensitive(0.2))
    }


def _kernel(kernel: kernels.Kernel) -> Parts:
    X = problem("multi").X
    return {"kernel": digest(kernel), "matrix": digest(kernel.matrix(X[:50], X[50:80]))}


def _loss(loss: losses.Loss) -> Parts:
    u, width = np.linspace(-3, 3, 101), 0.1
    smooth = {name: getattr(loss, name)(u, width) for name in ("slope", "smoothed", "curvature")}
    shares = loss.feasible(u / 2)
    values = {"value": loss.value(u), "conjugate": loss.conjugate(shares), "loss": loss, **smooth}
    return {name: digest(value) for name, value in values.items()}
