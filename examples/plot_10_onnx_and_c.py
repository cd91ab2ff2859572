"""
A model in ONNX and in C
========================

A trained model is a few hundred numbers. ``to_onnx`` writes it for any runtime of ONNX, ``to_c`` as one header that every C compiler
takes, with points in 32, 16 or 8 bits: for a program without Python, or for a chip with a few kilobytes.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

import budgetsvm

X, y = load_digits(return_X_y=True)
X = StandardScaler().fit_transform(X).astype(np.float32)
model = budgetsvm.BudgetSVC(C=10, budget=150, multi_class="ovr", random_state=0).fit(X[::2], y[::2])
X, y = X[1::2], y[1::2]

# %%
# ONNX: the graph gives labels and decision values.

graph = budgetsvm.to_onnx(model, X).SerializeToString()
labels, _ = onnxruntime.InferenceSession(graph).run(None, {"X": X})
agreement, right = [np.mean(labels == model.predict(X))], [np.mean(labels == y)]
kilobytes, names = [len(graph) / 1000], ["ONNX"]

# %%
# C: a program that includes the header, reads rows and prints labels.

PROGRAM = """
#include <stdio.h>
#include "digits.h"
int main(void) {
    float row[DIGITS_FEATURES];
    while (fread(row, sizeof row, 1, stdin) == 1) printf("%d\\n", (int)digits_labels[digits_predict(row)]);
}
"""


def run_in_c(header):
    """Return what the compiled program says of all rows."""
    with TemporaryDirectory() as folder:
        Path(folder, "digits.h").write_text(header.text)
        Path(folder, "main.c").write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
        done = subprocess.run(
            [Path(folder, "main")], input=X.tobytes(), capture_output=True, check=True
        )
    return np.array(done.stdout.split(), dtype=int)


for storage in ("float32", "float16", "int8"):
    header = budgetsvm.to_c(model, name="digits", storage=storage)
    labels = run_in_c(header)
    names.append(f"C, {storage}")
    kilobytes.append(header.n_bytes / 1000)
    agreement.append(np.mean(labels == model.predict(X)))
    right.append(np.mean(labels == y))

# %%
# Eight bits per number are enough to read digits.

figure, (size, quality) = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained", sharey=True)
size.bar_label(size.barh(names, kilobytes), fmt="%.0f kB", padding=4)
size.set(xlabel="size of the model", xlim=(0, 1.2 * max(kilobytes)))
quality.plot(np.multiply(agreement, 100), names, "o", c="C2", label="as the model in Python")
quality.plot(np.multiply(right, 100), names, "s", c="C1", label="right")
quality.set(xlabel="labels, %")
size.invert_yaxis()
_ = quality.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
