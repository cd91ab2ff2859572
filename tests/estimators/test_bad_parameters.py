"""Bad parameters get a message that names the value and the way out, before any work is lost."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from budgetsvm import BudgetOneClassSVM, BudgetSVC, BudgetSVR
from budgetsvm.kernels import Gaussian, Polynomial
from budgetsvm.maintenance import Merge
from budgetsvm.solvers import BSCA

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBERS = X[:, 0] + X[:, 1] ** 2
TARGETS = {BudgetSVC: LABELS, BudgetSVR: NUMBERS, BudgetOneClassSVM: None}

OF_ALL = [
    ({"budget": 0}, "budget must be at least 1, not 0"),
    ({"gamma": 0}, "gamma must be a finite number > 0, not 0"),
    ({"tol": 0}, "tol must be a finite number > 0, not 0"),
    ({"tol": np.nan}, "tol must be .* not nan"),
    ({"max_passes": 0}, "max_passes must be at least 1, not 0"),
    ({"reservoir": -1}, "reservoir must be at least 0, not -1"),
    ({"reservoir": 1.5}, "reservoir must be an integer, not 1.5"),
    ({"validation_fraction": 0}, "validation_fraction must be .* not 0"),
    ({"validation_fraction": 1}, "validation_fraction must be .* not 1"),
    ({"validation_fraction": np.nan}, "validation_fraction must be .* not nan"),
    ({"n_iter_no_change": 0}, "n_iter_no_change must be at least 1, not 0"),
    ({"time_limit": -1}, "time_limit must be .* not -1"),
    ({"memory_limit": 0}, "memory_limit must be .* not 0"),
    ({"epochs": -1}, "epochs must be a finite number > 0, not -1"),
    ({"kernel": "laplacian", "maintenance": "merge"}, "merging needs the Gaussian kernel"),
    ({"polish": "False"}, "polish must be True or False, not 'False'"),
    ({"early_stopping": "no"}, "early_stopping must be True or False, not 'no'"),
    ({"warm_start": 2}, "warm_start must be True or False, not 2"),
    ({"verbose": "high"}, "verbose must be a number, not 'high'"),
    ({"basis": "random", "polish": False}, "set polish=True and a budget, or basis"),
]

OF_CLASSIFIERS = [
    ({"loss": "log"}, "loss must be one of 'hinge'.* not 'log'"),
    ({"loss": 3}, "loss must be .* not 3"),
    ({"multi_class": "crammer"}, "multi_class must be one of .* not 'crammer'"),
    (
        {"multi_class": "weston-watkins", "loss": "logistic"},
        "'weston-watkins' needs loss='hinge', not 'logistic'",
    ),
    ({"break_ties": "first"}, "break_ties must be True, False or 'head_to_head', not 'first'"),
    ({"C": 0}, "C must be a finite number > 0, not 0"),
    ({"C": -1.5}, "C must be .* not -1.5"),
    ({"C": np.nan}, "C must be .* not nan"),
    ({"C": -np.inf}, "C must be .* not -inf"),
    ({"C": "1"}, "C must be a number, 'scale' or 'tune', not '1'"),
    ({"C": True}, "C must be a number, not True"),
    ({"gamma": -2}, "gamma must be .* not -2"),
    ({"gamma": np.inf}, "gamma must be .* not inf"),
    ({"coef0": "a"}, "coef0 must be a number, not 'a'"),  # as of SVC, whatever the kernel
    ({"degree": -1}, "degree must be at least 0, not -1"),
    ({"degree": 2.5}, "degree must be an integer, not 2.5"),
    ({"kernel": "linear", "gamma": -1, "maintenance": "remove"}, "gamma must be .* not -1"),
    ({"kernel": np.dot, "gamma": "wide", "maintenance": "remove"}, "gamma must be .* not 'wide'"),
    ({"gamma": "large"}, "gamma must be .*'scale', 'auto' or 'tune', not 'large'"),
    ({"kernel": Gaussian(gamma=-1)}, "gamma must be .* not -1"),
    ({"kernel": "gauss"}, "kernel must be one of 'rbf'.* not 'gauss'"),
    ({"kernel": 3}, "kernel must be .* not 3"),
    ({"kernel": "poly", "degree": 0, "maintenance": "remove"}, "degree must be at least 1"),
    ({"kernel": "poly", "coef0": np.nan, "maintenance": "remove"}, "coef0 must be"),
    ({"kernel": Polynomial(degree=1.5), "maintenance": "remove"}, "degree must be an integer"),
    ({"budget": -5}, "budget must be at least 1, not -5"),
    ({"budget": 2.5}, "budget must be an integer, not 2.5"),
    ({"epochs": 0}, "epochs must be a finite number > 0, not 0"),
    ({"epochs": "many"}, "epochs must be a number, not 'many'"),
    ({"solver": "sgd"}, "solver must be one of 'bsca', 'bsgd', not 'sgd'"),
    ({"solver": 1}, "solver must be .* not 1"),
    ({"solver": BSCA(order="sorted")}, "order must be one of 'permutation', 'uniform'"),
    ({"maintenance": "forget"}, "maintenance must be one of 'auto', 'merge'.* not 'forget'"),
    ({"maintenance": None}, "maintenance must be .* not None"),
    ({"maintenance": Merge(n_terms=1)}, "Merge.n_terms must be at least 2, not 1"),
    ({"maintenance": Merge(search="newton")}, "Merge.search must be one of"),
    ({"maintenance": Merge(partners="none")}, "Merge.partners must be one of"),
    ({"precision": "half"}, "precision must be one of 'auto', 'single', 'double', not 'half'"),
    ({"n_jobs": 0}, "n_jobs must be .* not 0"),
    ({"n_jobs": 1.5}, "n_jobs must be an integer, not 1.5"),
    ({"class_weight": {0: -1.0, 1: 1.0}}, "class weights must be positive"),
    ({"class_weight": "even"}, "^class_weight must be a dict, 'balanced' or None, not 'even'"),
    ({"class_weight": [1, 2]}, r"^class_weight must be .* not \[1, 2\]"),
    ({"random_state": "seed"}, "seed"),
    ({"max_passes": 1.5}, "max_passes must be an integer"),
    ({"tol": "small"}, "tol must be a number"),
    ({"time_limit": 0}, "time_limit must be a finite number > 0"),
    ({"memory_limit": -1}, "memory_limit must be a finite number > 0"),
    ({"epochs": "none"}, "epochs must be"),
]

OF_REGRESSION = [
    ({"epsilon": -0.1}, "epsilon must be .* not -0.1"),
    ({"epsilon": np.nan}, "epsilon must be .* not nan"),
    ({"epsilon": "0"}, "epsilon must be a number, not '0'"),
    ({"C": 0}, "C must be .* not 0"),
    ({"C": np.nan}, "C must be .* not nan"),
]

OF_DETECTORS = [
    ({"nu": 0}, "nu must be between 0 and 1, not 0"),
    ({"nu": 1}, "nu must be between 0 and 1, not 1"),
    ({"nu": -0.5}, "nu must be between 0 and 1, not -0.5"),
    ({"nu": np.nan}, "nu must be .* not nan"),
    ({"nu": "half"}, "nu must be a number, not 'half'"),
]

ALL = [
    *[(BudgetSVC, *case) for case in OF_CLASSIFIERS],
    *[(BudgetSVR, *case) for case in OF_REGRESSION],
    *[(BudgetOneClassSVM, *case) for case in OF_DETECTORS],
    *[(estimator, *case) for estimator in TARGETS for case in OF_ALL],
]


@pytest.mark.parametrize(("estimator", "parameters", "message"), ALL)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters(estimator, parameters, message, method):
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(estimator(**parameters), method)(X, TARGETS[estimator])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"basis": np.zeros((31, 2))}, r"basis has 31 points.*budget=30"),
        ({"basis": np.zeros((5, 3))}, "basis has 3 features, but X has 2"),
        ({"basis": np.zeros(5)}, "2D array"),
        ({"basis": np.zeros((0, 2))}, "0 sample"),
        ({"basis": np.full((5, 2), np.nan)}, "NaN"),
        ({"basis": "leaned"}, "basis must be one of 'learned', 'random', 'kmeans', not 'leaned'"),
        ({"basis": np.zeros((5, 2)), "polish": False}, "polish=True"),
        ({"basis": "kmeans", "budget": None}, "budget"),
    ],
)
def test_bases(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BudgetSVC(**{"budget": 30, **parameters}).fit(X[:, :2], LABELS)


@pytest.mark.parametrize("kernel", ["laplacian", "poly", "sigmoid", "linear", lambda A, B: A @ B.T])
def test_a_kernel_without_merging(kernel):
    with pytest.raises(ValueError, match=r"merging needs the Gaussian kernel.*'project'.*'remove'"):
        BudgetSVC(kernel=kernel, maintenance="merge").fit(X, LABELS > 0)
    BudgetSVC(kernel=kernel, maintenance="remove", epochs=1, budget=10).fit(X, LABELS > 0)
    merging = BudgetSVC(kernel=kernel, maintenance="merge")
    # nothing to merge
    clone(merging).set_params(budget=None, epochs=1).fit(X, LABELS > 0)
    clone(merging).set_params(basis="random", budget=10).fit(X, LABELS > 0)


@pytest.mark.parametrize("function", [lambda A, _: A.sum(axis=1), lambda A, B: A @ B.T * np.nan])
def test_a_bad_kernel_function(function):
    with pytest.raises(ValueError, match="the kernel function returned"):
        BudgetSVC(kernel=function, maintenance="remove").fit(X, LABELS > 0)


@pytest.mark.parametrize("machine", [BudgetSVC, BudgetSVR])
@pytest.mark.parametrize("name", ["C", "gamma"])
@pytest.mark.parametrize("value", ["find", "Scale", ""])
def test_all_words_are_named(machine: Any, name: str, value: str) -> None:
    """Those that a machine takes; a kernel by itself is not looked for."""
    X, y = np.eye(4), np.arange(4) % 2
    with pytest.raises(ValueError, match=f"{name} must be .*'scale'.* 'tune', not '{value}'"):
        machine(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match='gamma must be "scale", "auto" or a positive number'):
        machine(kernel=Gaussian(gamma="find")).fit(X, y)
    with pytest.raises(ValueError, match='gamma must be "scale", "auto" or a positive number'):
        BudgetOneClassSVM(gamma="find").fit(X)
