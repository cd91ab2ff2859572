"""Find the hyper-parameters of the tasks anew: ``python -m benchmarks.tasks.search [DATA ...]``.

Only exact machines take part: what suits them is what a budget has to do with. Nothing but training rows
is used, and of these a random sample.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR, OneClassSVM

from benchmarks.problems.data_sets import Problem, data_folder, load
from benchmarks.problems.task_sets import TASK_SPECS, TaskSpec

_ROWS, _FOLDS, _SEED = 1500, 3, 0
# One class: with a kernel so narrow that all rows are support vectors, AUC may be as good as can be while
# nu has no effect. A wider kernel that does as well is preferred.
_TIE = {"classes": 0.0, "regression": 0.0, "one class": 1e-3}


def _powers(first: int, last: int, step: int = 2) -> tuple[float, ...]:
    return tuple(2.0**power for power in range(first, last + 1, step))


_GRIDS: dict[str, dict[str, Sequence[float]]] = {
    "classes": {"C": _powers(1, 5), "gamma": _powers(-9, 1)},
    "regression": {"C": _powers(-1, 5), "gamma": _powers(-9, 1), "epsilon": _powers(-4, -2, 1)},
    "one class": {"gamma": _powers(-9, 3, 1)},
}


def search(spec: TaskSpec, problem: Problem) -> tuple[dict[str, float], float]:
    """Return the parameters with the best score, and that; of ties, the first in the grid."""
    rng = np.random.default_rng(_SEED)
    chosen = rng.permutation(len(problem.y))[:_ROWS]
    X, y = problem.X[chosen], problem.y[chosen]
    grid = _GRIDS[spec.task]
    found = []
    for values in product(*grid.values()):
        parameters = dict(zip(grid, values, strict=True))
        found.append((parameters, float(np.mean(list(_scores(spec, parameters, X, y))))))
    least = max(score for _, score in found) - _TIE[spec.task]
    return next(pair for pair in found if pair[1] >= least)


def _scores(spec: TaskSpec, parameters: dict[str, float], X: Any, y: Any) -> Iterator[float]:
    """Train on some folds and test on the other: accuracy, R², or the area under the ROC curve."""
    kind = KFold if spec.task == "regression" else StratifiedKFold
    for train, test in kind(_FOLDS, shuffle=True, random_state=_SEED).split(X, y):
        if spec.task == "classes":
            yield float(SVC(**parameters).fit(X[train], y[train]).score(X[test], y[test]))
        elif spec.task == "regression":
            mean, spread = y[train].mean(), y[train].std()
            model = SVR(**parameters).fit(X[train], (y[train] - mean) / spread)
            yield float(model.score(X[test], (y[test] - mean) / spread))
        else:
            inliers = train[y[train] == spec.inliers]
            model = OneClassSVM(nu=spec.nu, **parameters).fit(X[inliers])
            yield float(roc_auc_score(y[test] == spec.inliers, model.decision_function(X[test])))


def main(names: Sequence[str]) -> None:
    """Search for the data sets named, or all."""
    for spec in TASK_SPECS:
        if not names or spec.name in names:
            parameters, score = search(spec, load(data_folder(), spec))
            powers = ", ".join(f"{name}=2^{np.log2(v):g}" for name, v in parameters.items())
            print(f"{spec.name}: {powers} ({score:.4f})", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
