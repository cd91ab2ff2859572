"""What random sequences are made of: parameters, data and faults, as Hypothesis draws them."""

from typing import Any

from hypothesis import strategies as st
from sequences.runs import BSCA, BSGD, Data, Fault, Merge, Points, Project, PythonKernel, Remove

_MERGES = ["merge", "multimerge", Merge(n_terms=4), Merge(search="golden")]
_MERGES += [Merge(partners="same-sign"), Merge(5, "golden", "same-sign")]
_OTHERS = ["project", "remove", Project(), Remove()]
_KERNELS = ["laplacian", "poly", "sigmoid", "linear", PythonKernel(0.5), PythonKernel(2.0)]

#: Parameters of all estimators; what one does not have is left out.
_VALUES: dict[str, list[Any]] = {
    "C": [1e-3, 0.03, 1.0, 32.0, 1e3, 1e5],
    "gamma": ["scale", "auto", 1e-3, 0.1, 1.0, 30.0],
    "degree": [1, 2, 3, 5],
    "coef0": [0.0, 1.0],
    "budget": [1, 2, 3, 5, 10, 20, 40, None],
    "solver": ["bsca", "bsgd", BSCA(order="uniform"), BSGD(order="uniform")],
    "epochs": ["auto", 0.5, 1, 3],
    "polish": [True, True, False],
    "basis": ["learned", "learned", "random", "kmeans", Points(3, 2), Points(12, 2)],
    "fit_intercept": [False, True],
    "tol": [1e-1, 1e-2, 1e-3, 1e-5],
    "max_passes": [5, 60],
    "memory_limit": [None, 1.0, 1e4, 1e6],
    "early_stopping": [False, True],
    "validation_fraction": [0.1, 0.5],
    "n_iter_no_change": [1, 3],
    "reservoir": [0, 5, 30, 300],
    "warm_start": [False, True],
    "precision": ["auto", "single", "double"],
    "random_state": [0, 1],
    "n_jobs": [1, 1, 2],
    "loss": ["hinge", "squared_hinge", "logistic"],
    "multi_class": ["ovo", "ovr", "weston-watkins"],
    "class_weight": [None, "balanced", {0: 2.0, 1: 0.1}, {"a": 5.0, "b": 1.0}],
    "epsilon": [0.0, 0.1, 1.0],
    "nu": [0.01, 0.1, 0.5, 0.9],
    "task": ["auto", "density"],
}

#: Where every sequence begins: fast, and the same whatever the machine.
BEGIN = {"budget": 10, "n_jobs": 1, "max_passes": 60, "reservoir": 300, "random_state": 0}


@st.composite
def changes(draw: st.DrawFn, subject: str) -> dict[str, Any]:
    """Some parameters with new values; kernels come with a maintenance that suits them, mostly."""
    own = {
        "two classes": {"epsilon", "nu", "task", "multi_class"},
        "three classes": {"epsilon", "nu", "task"},
        "one target": {"nu", "task", "loss", "multi_class", "class_weight"},
        "two targets": {"nu", "task", "loss", "multi_class", "class_weight"},
        "one class": {"C", "epsilon", "task", "loss", "multi_class", "class_weight"},
        "features": {"nu", "epsilon", "loss", "multi_class", "class_weight", "tol", "polish"},
    }
    names = [*(name for name in _VALUES if name not in own[subject]), "kernel", "maintenance"]
    chosen: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)):
        if name == "kernel" and draw(st.booleans()):
            chosen[name] = draw(st.sampled_from(_KERNELS))
            chosen["maintenance"] = draw(st.sampled_from(_OTHERS))
        elif name == "kernel":
            chosen[name] = "rbf"
        elif name == "maintenance":
            chosen[name] = draw(st.sampled_from(_MERGES + _OTHERS))
        else:
            chosen[name] = draw(st.sampled_from(_VALUES[name]))
    return chosen


@st.composite
def data(draw: st.DrawFn, width: int) -> Data:
    """Rows: ordinary ones with a little that is out of the ordinary."""
    chosen: dict[str, Any] = {
        "n": draw(st.sampled_from([20, 40, 80, 3])),
        "d": draw(st.sampled_from([width] * 7 + [3])),
        "seed": draw(st.integers(0, 5)),
    }
    oddities: dict[str, list[Any]] = {
        "form": ["fortran", "csr"],
        "dtype": ["float32"],
        "shift": [1e3, -10.0],
        "scale": [0.0, 1e-3, 1e3, 30.0],
        "duplicates": [True],
        "constant": [True],
        "weights": ["equal", "wide", "zeros", "huge"],
        "names": [1],
        "spread": [0.0, 1e-6, 1e6, 1e160],
    }
    for name in draw(st.lists(st.sampled_from(list(oddities)), max_size=2, unique=True)):
        chosen[name] = draw(st.sampled_from(oddities[name]))
    return Data(**chosen)


def faults(*places: str) -> st.SearchStrategy[Fault | None]:
    """No fault half of the time; early and late ones alike."""
    counts = {"core": 40, "line": 3000, "monitor": 12, "kernel": 200, "blocks": 3}

    @st.composite
    def fault(draw: st.DrawFn) -> Fault:
        where = draw(st.sampled_from(places))
        count = int(counts[where] ** draw(st.floats(0, 1, width=16)))
        return Fault(where, max(1, count), draw(st.booleans()))  # type: ignore[arg-type]

    return st.none() | fault()
