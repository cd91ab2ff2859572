"""Fits from scratch, by all estimators with all of their parameters."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from digest_data import AWKWARD, estimator, problem
from digest_values import Parts, parts_of
from scipy.spatial.distance import cdist

from budgetsvm.kernels import Callback, Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from budgetsvm.losses import Hinge, Logistic, SquaredHinge
from budgetsvm.maintenance import Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD

Case = Callable[[], Parts]
Cases = dict[str, Case]

MACHINES = ("svc", "multi", "svr", "targets", "one-class")
EVERYONE = (*MACHINES, "features")
SOLVERS = ("bsca", "bsgd")
LOSSES = ("hinge", "squared_hinge", "logistic")
MAINTENANCE = {
    "merge": "merge",
    "multimerge": "multimerge",
    "merge-4": Merge(n_terms=4),
    "merge-golden": Merge(search="golden"),
    "merge-same-sign": Merge(partners="same-sign"),
    "merge-3-golden-same-sign": Merge(n_terms=3, search="golden", partners="same-sign"),
    "project": "project",
    "remove": "remove",
}


def fit_cases() -> Cases:
    """Return all cases of this module."""
    return gathered(
        *(_losses, _loss_objects, _maintenance, _kernels, _kernel_objects, _forms, _threads),
        *(_memory, _classes, _weights, _stopping, _basis, _one_class, _features, _numbers),
        *(_orders, _random_states, _awkward),
    )


def gathered(*makers: Callable[[], Cases]) -> Cases:
    """Return the cases that these make; no two may have the same name."""
    cases: Cases = {}
    for make in makers:
        more = make()
        if twice := sorted(cases.keys() & more.keys()):
            raise ValueError(f"cases of the same name: {', '.join(twice)}")
        cases |= more
    return cases


def fitted(
    subject: str,
    *,
    form: str = "float64",
    rows: int = 300,
    weights: str | None = None,
    **parameters: Any,
) -> Case:
    """Return a case that fits an estimator to a problem of its own."""

    def run() -> Parts:
        data = problem(subject, rows, form)
        chosen = parameters
        if parameters.get("basis") == "points":
            chosen = {**parameters, "basis": 1.5 * problem(subject).X_test[:15]}
        model = estimator(subject, **chosen)
        model.fit(data.X, data.y, sample_weight=data.weights(weights))
        return parts_of(model, data.X_test)

    return run


def grid(group: str, subjects: Iterable[str], **axes: Iterable[Any] | Mapping[str, Any]) -> Cases:
    """Return the fits of all combinations; values that have no short name of their own are mapped to one."""
    named = [
        [(f"{axis}={name}", axis, value) for name, value in _named(values)]
        for axis, values in axes.items()
    ]
    return {
        " ".join([f"{group}/{subject}", *(name for name, *_ in chosen)]): fitted(
            subject, **{axis: value for _, axis, value in chosen}
        )
        for subject in subjects
        for chosen in product(*named)
    }


def _named(values: Iterable[Any] | Mapping[str, Any]) -> list[tuple[str, Any]]:
    if isinstance(values, Mapping):
        return list(values.items())
    return [(str(value), value) for value in values]


def cauchy(X: Any, Z: Any) -> Any:
    """A kernel written in Python."""
    return 1.0 / (1.0 + cdist(X, Z, "sqeuclidean"))


def _losses() -> Cases:
    both = ("svc", "multi")
    common: dict[str, Any] = {"loss": LOSSES, "solver": SOLVERS, "fit_intercept": (False, True)}
    cases = grid("loss", both, **common, budget=(20, None))
    cases |= grid("loss", both, **common, polish=(False,))
    common = {"solver": SOLVERS, "fit_intercept": (False, True)}
    both = ("svr", "targets")
    cases |= grid("loss", both, **common, epsilon=(0.0, 0.1, 0.5))
    cases |= grid("loss", both, **common, budget=(None,))
    return cases | grid("loss", both, **common, polish=(False,))


def _loss_objects() -> Cases:
    objects = {"Hinge": Hinge(), "SquaredHinge": SquaredHinge(), "Logistic": Logistic()}
    return grid("loss-object", ("svc",), loss=objects, rows=(200,))


def _maintenance() -> Cases:
    plain = grid("maintenance", MACHINES, maintenance=MAINTENANCE, solver=SOLVERS, polish=(False,))
    polished = grid("maintenance", ("svc", "targets", "features"), maintenance=MAINTENANCE)
    objects = {"Project": Project(), "Remove": Remove()}
    return plain | polished | grid("maintenance", ("svc",), maintenance=objects, polish=(False,))


def _kernels() -> Cases:
    names = {name: name for name in ("rbf", "laplacian", "poly", "sigmoid", "linear")}
    any_kernel = {**names, "function": cauchy}
    common: dict[str, Any] = {"kernel": any_kernel, "rows": (200,)}
    forms = {"form": ("float64", "csr"), "polish": (True, False)}
    cases = grid("kernel", ("svc",), **common, **forms, maintenance=("project", "remove"))
    cases |= grid("kernel", EVERYONE[1:], **common, maintenance=("project",))
    return cases | grid("kernel", ("svc", "targets"), **common, budget=(None,), solver=SOLVERS)


def _kernel_objects() -> Cases:
    objects = {
        "Gaussian": Gaussian(0.7),
        "Laplacian": Laplacian("auto"),
        "Polynomial": Polynomial(2, 0.5, 1.0),
        "Sigmoid": Sigmoid(0.1, 0.2),
        "Linear": Linear(),
        "Callback": Callback(cauchy),
    }
    cases = grid("kernel-object", ("svc", "svr"), kernel=objects, maintenance=("remove",))
    polynomial = {"kernel": ("poly",), "degree": (2, 5), "coef0": (0.0, 1.0), "gamma": (0.3,)}
    return cases | grid("kernel-object", ("svc",), **polynomial, maintenance=("project",))


def _forms() -> Cases:
    forms = ("float64", "float32", "fortran", "strided", "csr", "csr32")
    common: dict[str, Any] = {"rows": (200,), "precision": ("single", "double", "auto")}
    cases = grid("form", EVERYONE, form=forms, **common)
    cases |= grid("form", EVERYONE, form=("frame",), rows=(200,))
    return cases | grid("form", ("svc", "targets"), **common, polish=(False,), solver=SOLVERS)


def _threads() -> Cases:
    """Enough rows and terms for several parts in the polish, and for several threads to have some each."""
    common: dict[str, Any] = {"rows": (5000,), "budget": (120,), "n_jobs": (1, 2)}
    cases = grid("threads", EVERYONE, **common)
    cases |= grid("threads", ("svc", "targets"), **common, polish=(False,))
    cases |= grid("threads", ("svc", "multi"), **common, form=("csr",), memory_limit=(1e6,))
    cases |= grid("threads", ("multi",), **common, multi_class=("weston-watkins",))
    cases |= grid("threads", ("svc",), **common, loss=("logistic",), tol=(1e-4,))
    cases |= grid("threads", ("svc", "multi"), **common, solver=("bsgd",), precision=("double",))
    common = {"rows": (5000,), "budget": (300,), "n_jobs": (1, 2), "basis": ("random",)}
    cases |= grid("threads", MACHINES, **common)
    ways = {"multi_class": ("ovr", "weston-watkins"), "n_jobs": (1, 2)}
    return cases | grid("threads", ("digits",), **ways, rows=(1500,), budget=(150,))


def _memory() -> Cases:
    limits: dict[str, Any] = {"memory_limit": (1.0, 3e4, 1e5, 1e9), "rows": (600,)}
    cases = grid("memory", MACHINES, **limits)
    cases |= grid("memory", ("svc",), **limits, loss=("squared_hinge", "logistic"))
    return cases | grid("memory", ("digits",), **limits, multi_class=("weston-watkins",))


def _classes() -> Cases:
    common: dict[str, Any] = {"multi_class": ("ovr", "weston-watkins"), "solver": SOLVERS}
    cases = grid("classes", ("digits", "multi"), **common, polish=(True, False))
    cases |= grid("classes", ("digits", "multi"), **common, fit_intercept=(True,))
    cases |= grid("classes", ("svc", "multi"), **common, budget=(None,))
    joint: dict[str, Any] = {"multi_class": ("weston-watkins",), "polish": (False,)}
    cases |= grid("classes", ("multi",), **joint, maintenance=MAINTENANCE)
    return cases | grid("classes", ("digits",), loss=("squared_hinge", "logistic"))


def _weights() -> Cases:
    weights = ("random", "zeros")
    cases = grid("weights", EVERYONE, weights=weights, solver=SOLVERS)
    cases |= grid("weights", MACHINES, weights=weights, polish=(False,))
    classes = {"dict": {0: 2.0, 1: 0.5}, "balanced": "balanced"}
    cases |= grid("weights", ("svc",), class_weight=classes, loss=LOSSES)
    classes = {"dict": {0: 2.0, 1: 0.5, 2: 1.5}, "balanced": "balanced"}
    both = ("ovr", "weston-watkins")
    return cases | grid("weights", ("multi",), class_weight=classes, multi_class=both)


def _stopping() -> Cases:
    common: dict[str, Any] = {"early_stopping": (True,), "epochs": (12,), "n_iter_no_change": (2,)}
    cases = grid("stopping", MACHINES, **common, solver=SOLVERS, polish=(True, False))
    cases |= grid(
        "stopping", ("svc", "svr"), **common, validation_fraction=(0.3,), weights=("zeros",)
    )
    return cases | grid("stopping", ("svc",), **common, budget=(None,), form=("csr",))


def _basis() -> Cases:
    cases = grid("basis", EVERYONE, basis=("random", "points"), form=("float64", "csr"))
    few: dict[str, Any] = {"basis": ("kmeans",), "rows": (150,)}  # its threads wait for each other
    cases |= grid("basis", EVERYONE, **few) | grid("basis", ("svc",), **few, form=("csr",))
    exact: dict[str, Any] = {"fit_intercept": (True,), "tol": (1e-4,)}
    return cases | grid("basis", MACHINES[:-1], basis=("random", "points"), **exact)


def _one_class() -> Cases:
    cases = grid("nu", ("one-class",), nu=(0.02, 0.2, 0.5, 0.9), solver=SOLVERS)
    cases |= grid("nu", ("one-class",), nu=(0.02, 0.5), budget=(None,), solver=SOLVERS)
    return cases | grid("nu", ("one-class",), nu=(0.1,), polish=(False,), gamma=(0.1, 20.0))


def _features() -> Cases:
    subjects = ("features", "features-svr", "features-density")
    cases = grid("features", subjects, precision=("single", "double"), solver=SOLVERS)
    cases |= grid("features", ("features",), task=("classification", "regression", "density"))
    return cases | grid("features", subjects, weights=("zeros",), epochs=(3,), form=("csr",))


def _numbers() -> Cases:
    cases = grid("number", MACHINES, tol=(0.1, 1e-5, 1e-8))
    cases |= grid("number", MACHINES, max_passes=(1, 10), tol=(1e-6,))
    cases |= grid("number", MACHINES, budget=(1, 2, 250, 400))
    cases |= grid("number", MACHINES, epochs=(0.5, 7.3), polish=(False,))
    cases |= grid("number", MACHINES, gamma=(0.001, 30.0, "auto", "scale"))
    cases |= grid("number", ("svc", "multi", "svr"), C=(1e-3, 1e3, 1e7))
    return cases | grid("number", MACHINES, time_limit=(1e6,))  # never reached, but looked at


def _orders() -> Cases:
    orders = {"bsca-uniform": BSCA(order="uniform"), "bsgd-uniform": BSGD(order="uniform")}
    return grid("order", MACHINES, solver=orders, polish=(True, False))


def _random_states() -> Cases:
    """Objects have a state, which a fit changes: each case makes its own."""
    kinds: dict[str, Callable[[], Any]] = {
        "RandomState": lambda: np.random.RandomState(0),
        "Generator": lambda: np.random.default_rng(0),
    }
    return {
        f"random-state/{subject} {name}": partial(_fitted_with, subject, make)
        for subject in EVERYONE
        for name, make in kinds.items()
    }


def _fitted_with(subject: str, make: Callable[[], Any]) -> Parts:
    return fitted(subject, random_state=make())()


def _awkward() -> Cases:
    """Rows, weights and numbers that lead to places where few fits go."""
    cases = grid("awkward", EVERYONE, form=(*AWKWARD, "csc", "csr-long"), rows=(200,))
    single: dict[str, Any] = {"form": ("shifted", "float64"), "precision": ("single",)}
    cases |= grid("awkward", ("svc", "multi", "svr"), **single, C=(1e6,), tol=(1e-5,), rows=(200,))
    far: dict[str, Any] = {
        "form": ("far", "farther"),
        "kernel": ("poly",),
        "maintenance": ("remove",),
    }
    cases |= grid("awkward", ("svc", "multi", "features"), **far, precision=("single", "double"))
    many: dict[str, Any] = {"rows": (5000,), "budget": (120,), "weights": ("heavy",)}
    cases |= grid("awkward", ("svc", "svr", "one-class"), **many, memory_limit=(2e5, 1e9))
    joint: dict[str, Any] = {"multi_class": ("weston-watkins",), "rows": (3000,), "tol": (1e-4,)}
    cases |= grid("awkward", ("multi",), **joint, memory_limit=(1.0, 3e5))
    nothing: dict[str, Any] = {"form": ("zeros",), "kernel": ("linear",), "basis": ("random",)}
    cases |= grid("awkward", MACHINES, **nothing, maintenance=("remove",))
    return cases | grid("awkward", ("one-class",), gamma=(1e-3, 300.0), nu=(0.01, 0.99))
