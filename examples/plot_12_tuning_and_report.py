"""
Tuning, and a report
====================

C, gamma and the budget are found together. For a gamma, terms are learned once and serve all C; cells that lead nowhere are left on
the way. What was found goes into a page of its own, with advice.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from budgetsvm.model_selection import BudgetSVCCV
from budgetsvm.plots import plot_budget_curve, plot_grid

ROWS = 4_000  # quick: 300
X, y = make_moons(ROWS, noise=0.3, random_state=0)
X_test, y_test = make_moons(2_000, noise=0.3, random_state=1)

# %%
# Thirty cells and a curve of budgets, by three folds.

search = BudgetSVCCV(
    [0.1, 1, 10, 100, 1000], [0.05, 0.2, 1, 4, 16, 64], budget="auto", cv=3, random_state=0
)
search.fit(X, y)
print(search.best_params_)
print(f"{search.score(X_test, y_test):.1%} on rows that took no part")

figure, (grid, curve) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
plot_grid(search, ax=grid)
_ = plot_budget_curve(search, ax=curve)

# %%
# The page: one file that asks for nothing from the network. ``budgetsvm report`` writes it on the command line.

with TemporaryDirectory() as folder:
    page = Path(folder, "moons.html")
    search.report(X_test, y_test, page)
    print(f"{page.stat().st_size / 1000:.0f} kB of HTML")
