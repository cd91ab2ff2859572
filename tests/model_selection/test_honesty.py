"""Scores are of rows that terms have not seen: noise is not predicted."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from budgetsvm import BudgetSVC
from budgetsvm.model_selection import BudgetSVCCV

N, SEEDS = 400, 4


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 5)), rng.permutation(np.arange(N) % 2)


@pytest.mark.slow
def test_noise_gets_the_score_of_chance() -> None:
    means = []
    for seed in range(SEEDS):
        X, y = noise(seed)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        search = BudgetSVCCV([1.0, 100.0], [0.05, 0.5], budget=40, cv=folds, random_state=seed)
        found = search.set_params(refit=False).fit(X, y).cv_results_
        means.append(found["mean_test_score"])
    # Every cell, over all seeds: each row is scored once.
    error = 0.5 / np.sqrt(N * SEEDS)
    assert np.abs(np.mean(means, axis=0) - 0.5).max() <= 2 * error


def test_terms_that_have_seen_the_rows_held_out_do_better_than_chance() -> None:
    """Why terms are learned for every fold anew; and the test above is not blind."""
    gains = []
    for seed in range(SEEDS):
        X, y = noise(seed)
        terms = BudgetSVC(C=100, gamma=0.5, budget=40, random_state=seed).fit(X, y)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        search = BudgetSVCCV(
            [100.0], [0.5], basis=terms.support_vectors_, budget=40, cv=folds, refit=False
        )
        gains.append(search.fit(X, y).best_score_ - 0.5)
    assert np.mean(gains) > 0.05
