"""
Rows on a Dask cluster
======================

Rows are in partitions, on workers that may be many machines. Partitions need not look alike: here each holds a stripe of the plane, as
files often do that were written one day after the other. The model is one of all rows, with the certificate that
it would have on a single machine, and is the same to the last bit whatever the number of workers.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.inspection import DecisionBoundaryDisplay

from budgetsvm.distributed import DaskBudgetSVC

ROWS = 24_000  # quick: 1_200
PARTITIONS = 6
rng = np.random.default_rng(0)
X = rng.uniform((0, 0), (6, 3), (ROWS, 2))
X = X[X[:, 0].argsort()]  # sorted: every partition has a stripe
y = (np.hypot(*(X - np.floor(X) - 0.5).T) < 0.38).astype(int)  # inside of circles

# %%
# A cluster in this process will do here. On a real one, give its address to ``Client``, and read the rows where they are used, by
# ``dask.dataframe.read_parquet``, say.

found = []
for n_workers in (1, 2):
    with Client(n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None):
        rows, labels = (da.from_array(a, chunks=(ROWS // PARTITIONS, *a.shape[1:])) for a in (X, y))
        model = DaskBudgetSVC(C=10, gamma=8, budget=150, random_state=0).fit(rows, labels)
        found.append(model.to_local())  # a BudgetSVC, which needs no cluster

one, two = found
print("the same, bit for bit:", np.array_equal(one.dual_coef_, two.dual_coef_))
print(f"{two.score(X, y):.1%} right, duality gap {two.duality_gap_:.4f}")

# %%
# Who has which rows, and what is learned from all of them:

figure, (parts, model) = plt.subplots(1, 2, figsize=(12, 3.4), layout="constrained")
parts.scatter(*X[::3].T, c=np.arange(ROWS)[::3] // (ROWS // PARTITIONS), cmap="tab10", s=2)
parts.set_title("rows by partition")
DecisionBoundaryDisplay.from_estimator(
    two,
    X,
    ax=model,
    eps=0,
    grid_resolution=300,
    response_method="decision_function",
    plot_method="pcolormesh",
    cmap="PuOr",
    vmin=-2,
    vmax=2,
)
model.set_title(f"the model: {len(two.support_vectors_)} terms")
for ax in (parts, model):
    ax.set(xticks=[], yticks=[], aspect="equal")
