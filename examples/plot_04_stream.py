"""
A stream
========

Rows come in blocks, and there is no room to keep them. ``partial_fit`` learns from a block and forgets it; the model never has
more terms than its budget, however long the stream is.

Whenever a good model is wanted, ``polish_now`` solves the SVM in the span of the terms, on a sample of all rows seen so far
(``reservoir=``). ``fit_stream`` does both for a stream that ends.
"""

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np

from budgetsvm import BudgetSVC

BLOCKS = 80  # quick: 8
rng = np.random.default_rng(0)


def block(n_rows=500):
    """Return rows on a chessboard, one label in twenty being wrong."""
    X = rng.uniform(0, 4, (n_rows, 2))
    y = np.floor(X).sum(axis=1) % 2
    return X, np.where(rng.random(n_rows) < 0.05, 1 - y, y)


# %%
# The model is polished every tenth block: a copy of it, to see what difference that makes.

model = BudgetSVC(C=1, gamma=4, budget=60, random_state=0)
X_test, y_test = block(5000)
learned, polished = [], []
for number in range(1, BLOCKS + 1):
    model.partial_fit(*block(), classes=[0, 1])
    learned.append((500 * number, 100 * model.score(X_test, y_test)))
    if number % 10 == 0 or number == 2:
        polished.append((500 * number, 100 * deepcopy(model).polish_now().score(X_test, y_test)))

figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
ax.plot(*np.transpose(learned), label="after partial_fit")
ax.plot(*np.transpose(polished), "o-", label="after polish_now, too")
ax.axhline(95, c="grey", ls=":", label="nobody can do better")
ax.set(xlabel="rows seen", ylabel="test accuracy, %")
_ = ax.legend(loc="lower right")
print(f"{len(model.support_vectors_)} terms after {500 * BLOCKS:,} rows")
