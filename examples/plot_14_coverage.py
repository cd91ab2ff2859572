"""
How sure is it?
===============

A prediction by itself does not say how far off it may be. From rows that took no part in training, ``budgetsvm.conformal`` finds
an interval that holds the truth as often as you ask for, however good or bad the model is; a bad one has wide intervals.
"""

import matplotlib.pyplot as plt
import numpy as np

from budgetsvm import BudgetSVR
from budgetsvm.conformal import ConformalRegressor

ROWS = 9_000  # quick: 900
rng = np.random.default_rng(0)
x = rng.uniform(0, 6, (ROWS, 1))
y = np.sin(x[:, 0]) + 0.2 * np.sin(7 * x[:, 0]) + 0.15 * rng.standard_normal(ROWS)
(x, y), (x_held, y_held), (x_new, y_new) = ((x[i::3], y[i::3]) for i in range(3))

# %%
# Three models, from hopeless to good, and nine in ten for all of them.

figure, panels = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
line = np.linspace(0, 6, 400)[:, np.newaxis]
for budget, ax in zip([2, 6, 30], panels, strict=True):
    model = BudgetSVR(C=10, gamma=4, budget=budget, random_state=0).fit(x, y)
    intervals = ConformalRegressor(model).calibrate(x_held, y_held)
    low, high = intervals.predict_interval(x_new, coverage=0.9).T
    held = np.mean((low <= y_new) & (y_new <= high))
    ax.scatter(x_new[:1000], y_new[:1000], s=2, c="C5", alpha=0.6)
    ax.plot(line, model.predict(line), c="C0")
    ax.fill_between(
        line[:, 0], *intervals.predict_interval(line, coverage=0.9).T, color="C0", alpha=0.2
    )
    ax.set_title(f"{budget} terms: ± {(high - low).mean() / 2:.2f} hold {held:.1%}")
