"""
Novelty
=======

Nobody has labelled what is *not* normal. ``BudgetOneClassSVM`` learns where normal rows are, and calls everything else
new; ``nu`` is the share of the training rows that may be called so, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from budgetsvm import BudgetOneClassSVM

ROWS = 20_000  # quick: 600
X, _ = make_moons(ROWS, noise=0.08, random_state=0)
new = np.random.default_rng(0).uniform((-1.8, -1.3), (2.8, 1.8), (60, 2))

# %%
# A fit keeps at most 100 terms of 20,000 rows. The line is where rows begin to be called new, for three values of nu.

figure, panels = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for nu, ax in zip([0.01, 0.1, 0.4], panels, strict=True):
    model = BudgetOneClassSVM(nu=nu, gamma=8, budget=100, random_state=0).fit(X)
    DecisionBoundaryDisplay.from_estimator(
        model,
        new,
        ax=ax,
        eps=0.1,
        grid_resolution=200,
        response_method="decision_function",
        plot_method="contour",
        levels=[0],
        colors="black",
    )
    ax.scatter(*X[:2000].T, s=2, c="C0", alpha=0.4)
    called_new = model.predict(new) == -1
    ax.scatter(*new[called_new].T, s=30, marker="x", c="C3", label="called new")
    ax.scatter(*new[~called_new].T, s=30, marker="o", fc="none", ec="C2", label="called normal")
    share = 100 * np.mean(model.predict(X) == -1)
    ax.set(title=f"nu = {nu}: {share:.1f} % of the training rows", xticks=[], yticks=[])
_ = panels[0].legend(loc="lower left", fontsize="small", frameon=True)
