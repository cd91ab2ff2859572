"""Where terms for a cluster come from: a sample of all rows, or each partition and a tree that joins what they found.

    python -m experiments.cluster_terms

Both ways take the same time on a cluster with a worker for each partition: a partition makes as many visits as the client
makes on the sample. To join is on top of that, which favours the tree. What terms are worth is P of all rows after the polish.
"""

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from benchmarks.problems.data_sets import SPECS, Problem, data_folder, load, missing_files
from numpy.typing import NDArray

from budgetsvm import BudgetSVC, compress, polish
from budgetsvm._estimators.compression.compress import with_model

PARTITIONS, VISITS, BUDGET, SEEDS = 8, 50_000, 200, 3
DATA = ("ADULT", "IJCNN", "COD-RNA", "SUSY")


def learned(problem: Problem, rows: NDArray[np.int64], seed: int) -> BudgetSVC:
    """Return a model of phase 1 that has made `VISITS` visits of these rows, or a pass over them."""
    epochs = max(1, round(VISITS / len(rows)))
    model = BudgetSVC(
        C=problem.C,
        gamma=problem.gamma,
        budget=BUDGET,
        polish=False,
        epochs=epochs,
        fit_intercept=False,
        random_state=seed,
        n_jobs=1,
    )
    return model.fit(problem.X[rows], problem.y[rows])


def joined(one: BudgetSVC, other: BudgetSVC) -> BudgetSVC:
    """Return the mean of two models, of as many terms as one of them has: those of both are merged."""
    mine, theirs = one._expansion, other._expansion
    both = replace(
        mine,
        points=np.concatenate([mine.points, theirs.points + (theirs.centre - mine.centre)]),
        coef=0.5 * np.concatenate([mine.coef, theirs.coef], axis=1),
    )
    small: BudgetSVC = compress(with_model(one, both, 2 * BUDGET), BUDGET).estimator
    return small


def by_tree(problem: Problem, seed: int) -> tuple[Any, float]:
    """Return terms of all partitions, and the seconds of the longest way through the tree."""
    order = np.random.default_rng(seed).permutation(len(problem.y))
    models, seconds = [], 0.0
    for part in np.array_split(order, PARTITIONS):
        start = process_time()
        models.append(learned(problem, part, seed))
        seconds = max(seconds, process_time() - start)
    while len(models) > 1:
        start = process_time()
        pairs = zip(models[::2], models[1::2], strict=True)
        models = [joined(one, other) for one, other in pairs]
        seconds += (process_time() - start) / len(models)  # they are joined at the same time
    return models[0].support_vectors_, seconds


def by_sample(problem: Problem, seed: int) -> tuple[Any, float]:
    """Return terms of a sample of the rows, and the seconds that it takes."""
    n = len(problem.y)
    rows = np.random.default_rng(seed).choice(n, min(n, VISITS), replace=False)
    start = process_time()
    model = learned(problem, rows, seed)
    return model.support_vectors_, process_time() - start


def main() -> None:
    """Print P of both ways, in terms of the smaller mean."""
    print(f"{PARTITIONS} partitions, {VISITS:,} visits each, B = {BUDGET}, means of {SEEDS} seeds")
    print(f"{'data':8}  {'way':8}  {'P':>10}  {'± ':>8}  {'seconds':>8}")
    folder = data_folder()
    for spec in SPECS:
        if spec.name not in DATA or missing_files(folder, spec):
            continue
        problem = load(folder, spec)
        for name, find in (("sample", by_sample), ("tree", by_tree)):
            found = [find(problem, seed) for seed in range(SEEDS)]
            parameters = {"C": problem.C, "gamma": problem.gamma, "fit_intercept": False}
            values = [polish(problem.X, problem.y, Z, **parameters).primal for Z, _ in found]
            error, seconds = np.std(values) / SEEDS**0.5, np.mean([s for _, s in found])
            print(f"{spec.name:8}  {name:8}  {np.mean(values):10.0f}  {error:8.0f}  {seconds:8.2f}")


if __name__ == "__main__":
    main()
