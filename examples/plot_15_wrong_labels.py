"""
What would help: wrong labels found
===================================

``diagnose`` looks at a model and its data, and says in words what would make it better, with a number. Here one label in eight is
wrong. The advice names the rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from budgetsvm import BudgetSVC, diagnose

ROWS = 3_000  # quick: 400
X, truth = make_moons(ROWS, noise=0.15, random_state=0)
wrong = np.random.default_rng(0).random(ROWS) < 1 / 8
y = np.where(wrong, 1 - truth, truth)

# %%
# The whole diagnosis, in words:

model = BudgetSVC(gamma=2, budget=50, random_state=0).fit(X, y)
diagnosis = diagnose(model, X, y)
print(diagnosis)

# %%
# It looks at some hundreds of rows, and suspects those whose ten neighbours all have the other label:

suspects = np.zeros(ROWS, bool)
for advice in diagnosis.advice:
    if advice.about == "labels":
        suspects[list(advice.rows)] = True

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.scatter(*X.T, c=np.where(y, "#2166ac", "#e08214"), s=6, alpha=0.6)
for chosen, colour, name in (
    (wrong, "black", "suspected, and wrong"),
    (~wrong, "C3", "suspected, but right"),
):
    some = X[suspects & chosen]
    ax.scatter(*some.T, s=70, fc="none", ec=colour, lw=1.5, label=f"{name}: {len(some)}")
ax.set(xticks=[], yticks=[])
_ = ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2)
