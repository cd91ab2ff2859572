"""
Compressing a model of LIBSVM
=============================

A model was trained by LIBSVM years ago. It has thousands of support vectors, predictions take too long, and the training data
are gone. ``compress`` needs neither them nor labels: it looks for fewer terms that are the same function.

Rows like those to come, without labels, help: then coefficients are fitted to what the large model says of these.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from libsvm.svmutil import svm_save_model, svm_train
from sklearn.datasets import make_moons

import budgetsvm

ROWS = 4_000  # quick: 400
X, y = make_moons(ROWS, noise=0.35, random_state=0)
X_new, y_new = make_moons(4_000, noise=0.35, random_state=1)

# %%
# First LIBSVM, and a file of its own.

with TemporaryDirectory() as folder:
    path = str(Path(folder, "moons.model"))
    svm_save_model(path, svm_train(y, X, "-c 1 -g 2 -q"))
    large = budgetsvm.load(path)
print(f"{len(large.support_vectors_):,} support vectors, {large.score(X_new, y_new):.1%} right")

# %%
# Then smaller and smaller ones. Some 20 terms say the same as all of them, and are that much faster.

sizes = [3, 5, 8, 12, 20, 30, 50, 80]
alone = [budgetsvm.compress(large, size) for size in sizes]
helped = [budgetsvm.compress(large, size, X) for size in sizes]

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for found, name in ((alone, "from the model alone"), (helped, "with rows, without labels")):
    same = [100 * (c.estimator.predict(X_new) == large.predict(X_new)).mean() for c in found]
    ax.plot(sizes, same, "o-", label=name)
ax.set(xscale="log", xlabel="terms", ylabel="labels as those of the large model, %")
ax.set_xticks(sizes, sizes, minor=False)
ax.minorticks_off()
_ = ax.legend(loc="lower right")
