"""What is refused: the errors and their messages, and models that calls failed on."""

from functools import partial
from typing import Any

import numpy as np
from digest_cases import EVERYONE, Cases, fitted, gathered
from digest_data import estimator, problem
from digest_sequences import Step, after_each
from digest_values import Parts, parts_of
from scipy import sparse

from budgetsvm.maintenance import Merge
from budgetsvm.streams import read_blocks


def error_cases() -> Cases:
    """Return all cases of this module."""
    return gathered(_failures, _wrong_parameters, _wrong_values, _wrong_calls)


def _failures() -> Cases:
    """A call that fails leaves the model as it was."""
    return {f"failure/{subject}": partial(_fail_between, subject) for subject in EVERYONE}


def _fail_between(subject: str) -> Parts:
    data, model = problem(subject), estimator(subject)

    def fail() -> None:
        broken = data.X.copy()
        broken[7, 1] = np.nan
        for call in (model.fit, model.partial_fit):
            try:
                call(broken, data.y)
            except ValueError:
                continue
            raise AssertionError("NaN was not refused")

    first, second = data.blocks(2)
    steps: list[Step] = [
        partial(model.partial_fit, *first),
        fail,
        partial(model.partial_fit, *second),
    ]
    return after_each(model, data.X_test, steps)


def _wrong_parameters() -> Cases:
    wrong: dict[str, dict[str, Any]] = {
        "budget": {"budget": 0},
        "kernel": {"kernel": "cosine"},
        "kernel to merge": {"kernel": "linear", "maintenance": "merge"},
        "gamma": {"gamma": -1.0},
        "solver": {"solver": "smo"},
        "maintenance": {"maintenance": "forget"},
        "merge": {"maintenance": Merge(n_terms=1)},
        "basis": {"basis": "corners"},
        "basis too large": {"basis": "points", "budget": 5},
        "precision": {"precision": "half"},
        "threads": {"n_jobs": 0},
        "epochs": {"epochs": -1},
        "monitor": {"monitor": "trace"},
    }
    return {
        f"error/{subject} {name}": fitted(subject, **parameters)
        for subject in ("svc", "svr", "one-class", "features")
        for name, parameters in wrong.items()
    }


def _wrong_values() -> Cases:
    cases: Cases = {
        "svc C": fitted("svc", C=0.0),
        "svc loss": fitted("svc", loss="absolute"),
        "svc tol": fitted("svc", tol=0.0),
        "svc class weight": fitted("svc", class_weight={0: -1.0, 1: 1.0}),
        "svc stopping": fitted("svc", early_stopping=True, basis="random"),
        "svr epsilon": fitted("svr", epsilon=-0.1),
        "one-class nu": fitted("one-class", nu=1.0),
        "multi loss": fitted("multi", multi_class="weston-watkins", loss="logistic"),
    }
    return {f"error/{name}": run for name, run in cases.items()}


def _wrong_calls() -> Cases:
    cases: Cases = {
        "svc not fitted": lambda: estimator("svc").predict([[0.0, 0.0]]),
        "svc no probabilities": lambda: estimator("svc").predict_proba([[0.0, 0.0]]),
        "svc one class": lambda: estimator("svc").fit([[0.0], [1.0]], [1, 1]),
        "svc no rows to polish": lambda: estimator("svc").fit([[0.0], [1.0]], [0, 1]).polish_now(),
        "svc no blocks": lambda: estimator("svc").fit_stream([]),
        "svc too few features": lambda: _too_few_features("svc"),
        "features too few features": lambda: _too_few_features("features"),
        "sparse not finite": lambda: estimator("svc").fit(
            sparse.csr_array([[np.inf], [1]]), [0, 1]
        ),
        "svc partial_fit balanced": lambda: _go_on_with("svc", class_weight="balanced"),
        "svc partial_fit kernel": lambda: _go_on_with("svc", gamma=7.0),
        "svc partial_fit stopping": lambda: _go_on_with("svc", early_stopping=True),
        "svr partial_fit basis": lambda: _go_on_with("svr", basis="random"),
        "features partial_fit task": lambda: _go_on_with("features", task="density"),
        "no such file": lambda: estimator("svc").fit_stream(read_blocks("no/such/file.csv")),
    }
    return {f"error/{name}": run for name, run in cases.items()}


def _go_on_with(subject: str, **changes: Any) -> Any:
    """Change parameters that a stream cannot go on with."""
    (X, y), second = problem(subject).blocks(2)
    return estimator(subject).partial_fit(X, y).set_params(**changes).partial_fit(*second)


def _too_few_features(subject: str) -> Parts:
    data = problem(subject)
    return parts_of(estimator(subject).fit(data.X, data.y), data.X_test[:, :1])
