"""
A file that is larger than memory
=================================

Two worker processes with 400 MB each, of which Python and its libraries take half, learn from a file whose rows would take more than both have
together. Blocks of the file are read where they are used; what a worker has no room for, Dask writes to its disk, and kernel values that nobody
can keep are computed anew in every pass. Only the time tells the difference.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, SubprocessCluster

from budgetsvm.distributed import DaskBudgetSVC, read_libsvm

ROWS = 500_000  # quick: 3_000
FEATURES, LIMIT = 250, 400e6
rng = np.random.default_rng(0)

# %%
# Images of digits would look like this: hundreds of small numbers per row, in LIBSVM's format. Two corners decide together about the class.

folder = TemporaryDirectory()
path = Path(folder.name, "rows.libsvm")
line = np.frombuffer("".join(f" {j + 1}:0" for j in range(FEATURES)).encode() + b"\n", np.uint8)
digits = np.flatnonzero((line == ord("0")) & np.append(line[1:] <= ord(" "), False))
with path.open("wb") as file:
    for start in range(0, ROWS, 10_000):
        values = rng.integers(0, 10, (min(10_000, ROWS - start), FEATURES), np.uint8)
        text = np.tile(line, (len(values), 1))
        text[:, digits] = values + ord("0")
        above = (values[:, 0] + values[:, -1]) > 9
        labels = np.where(above[:, np.newaxis], *np.frombuffer(b"+1-1", np.uint8).reshape(2, 2))
        file.write(np.hstack([labels, text]).tobytes())
print(f"{path.stat().st_size / 1e6:.0f} MB of text, {8e-6 * ROWS * FEATURES:.0f} MB of numbers")

# %%
# Memory is looked at while the model is trained. The kernel looks at all features, of which two matter.

seen, done = [], Event()
workers = SubprocessCluster(
    n_workers=2, threads_per_worker=1, worker_kwargs={"memory_limit": LIMIT}
)
with workers as cluster, Client(cluster) as client:

    def look() -> None:
        """Write down what the workers take, until all is done."""
        begun = perf_counter()
        while not done.wait(0.2):
            info = client.scheduler_info(n_workers=2)["workers"].values()
            seen.append([perf_counter() - begun, *(one["metrics"]["memory"] for one in info)])

    client.wait_for_workers(2)
    watcher = Thread(target=look)
    watcher.start()
    blocks = read_libsvm(path, n_features=FEATURES, block_bytes=1 << 23)
    model = DaskBudgetSVC(C=10, gamma=2e-5, budget=60, random_state=0, n_jobs=1).fit(blocks)
    done.set()
    watcher.join()

X, y = blocks[-1].compute()
folder.cleanup()
right = model.to_local().score(X, y)
print(f"{len(blocks)} blocks, {right:.1%} right, duality gap {model.duality_gap_:.4f}")

# %%
# What the workers took:

seconds, *taken = np.array(seen).T
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.axhline(LIMIT / 1e6, color="tab:red", linewidth=1, label="limit of a worker")
for number, memory in enumerate(taken):
    ax.plot(seconds, memory / 1e6, label=f"worker {number + 1}")
ax.set(xlabel="seconds", ylabel="MB", ylim=0)
ax.legend()
