"""
The boundary as the budget grows
================================

An exact kernel SVM keeps every row that is near its boundary, or on the wrong side of it. A budgeted one has a fixed number
of *terms*, and places them where they help most.

Terms (dots, larger ones weigh more) are not training rows. They are learned: when there is one too many,
two of them are merged into one between them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from budgetsvm import BudgetSVC

ROWS = 10_000  # quick: 500
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (ROWS, 2))
radius, angle = np.hypot(*X.T), np.arctan2(*X.T)
y = (np.sin(2 * angle + 7 * radius) > 0).astype(int)  # a spiral with two arms
y = np.where(rng.random(ROWS) < 0.05, 1 - y, y)  # one label in twenty is wrong
X_train, X_test, y_train, y_test = X[::2], X[1::2], y[::2], y[1::2]

# %%
# The same rows, four budgets. With 10 terms there is a rough idea, with 40 all arms are found; 100 make the edges sharp.

figure, panels = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for budget, ax in zip([10, 20, 40, 100], panels, strict=True):
    model = BudgetSVC(gamma=8, budget=budget, random_state=0).fit(X_train, y_train)
    DecisionBoundaryDisplay.from_estimator(
        model,
        X,
        ax=ax,
        eps=0,
        grid_resolution=300,
        response_method="decision_function",
        plot_method="pcolormesh",
        cmap="PuOr",
        vmin=-2,
        vmax=2,
    )
    weight = abs(model.dual_coef_[0])
    ax.scatter(
        *model.support_vectors_.T, s=6 + 60 * weight / weight.max(), c="black", ec="white", lw=0.8
    )
    ax.set(xticks=[], yticks=[], xlim=(-1, 1), ylim=(-1, 1), aspect="equal")
    ax.set_title(f"{budget} terms: {100 * model.score(X_test, y_test):.1f} %")
