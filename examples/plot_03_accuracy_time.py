"""
Accuracy against time
=====================

How good is a model after a second? The exact SVM has to make do with as many rows as it can digest in that time; the
budgeted one sees all of them.

Two numbers buy accuracy: rows for the exact machine, terms for the budgeted one.
"""

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from budgetsvm import BudgetSVC

ROWS = 20_000  # quick: 1_000
rng = np.random.default_rng(0)
X = rng.uniform(-1.7, 1.7, (ROWS + 5000, 6))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.4 * rng.standard_normal(len(X)) > 0
X, X_test, y, y_test = X[:ROWS], X[ROWS:], y[:ROWS], y[ROWS:]


def measure(model, n_rows=ROWS):
    """Return the processor seconds of a fit, and the accuracy in percent."""
    start = process_time()
    model.fit(X[:n_rows], y[:n_rows])
    return process_time() - start, 100 * model.score(X_test, y_test)


# %%
# All have the same C and gamma. Seconds are those of the machine that this page was made on.

terms, sizes = (25, 50, 100, 200, 400), (500, 1000, 2000, 4000, 8000)
measure(BudgetSVC(budget=25), 500)  # whoever is first pays for loading libraries
series = {
    "BudgetSVC, 25 to 400 terms": [
        measure(BudgetSVC(C=10, gamma=0.3, budget=b, random_state=0)) for b in terms
    ],
    "SVC on 500 to 8,000 rows": [measure(SVC(C=10, gamma=0.3), n) for n in sizes],
    "Nystroem(25 to 100) + LinearSVC": [
        measure(make_pipeline(Nystroem(gamma=0.3, n_components=b, random_state=0), LinearSVC(C=10)))
        for b in terms[:3]
    ],
}

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for (name, points), marker in zip(series.items(), "os^", strict=True):
    ax.plot(*np.transpose(points), f"{marker}-", label=name)
ax.set(xscale="log", xlabel="processor seconds of a fit", ylabel="test accuracy, %")
_ = ax.legend()
