"""
Several targets at once
=======================

A pen on a plotter: from the time, both coordinates are to be predicted. ``BudgetSVR`` learns all targets on the same terms,
so that a second target costs nearly nothing: one kernel value per term serves both.

Targets are standardised inside. That one of them is in millimetres and the other in metres does not matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from budgetsvm import BudgetSVR

ROWS = 20_000  # quick: 800
rng = np.random.default_rng(0)
time = rng.uniform(0, 2 * np.pi, ROWS)
truth = np.column_stack(
    [
        300 * (np.sin(time) + 0.35 * np.sin(6 * time)),  # millimetres
        0.3 * (np.cos(time) + 0.35 * np.cos(6 * time)),  # metres
    ]
)
seen = truth + rng.standard_normal(truth.shape) * [30, 0.03]

# %%
# Eight terms are too few for all loops, 25 are plenty. R² is measured against the curve without noise.

figure, panels = plt.subplots(
    1, 3, figsize=(12, 4.2), layout="constrained", sharex=True, sharey=True
)
order = np.linspace(0, 2 * np.pi, 1000)
for budget, ax in zip([8, 10, 25], panels, strict=True):
    model = BudgetSVR(C=100, gamma=6, budget=budget, random_state=0).fit(time[:, np.newaxis], seen)
    fitness = model.score(time[:, np.newaxis], truth)
    ax.scatter(*seen[:3000].T, s=1, c="C5", alpha=0.5)
    ax.plot(*model.predict(order[:, np.newaxis]).T, c="C1", lw=2)
    ax.set(title=f"{len(model.support_vectors_)} terms: R² = {fitness:.3f}", xlabel="mm")
_ = panels[0].set_ylabel("m")
