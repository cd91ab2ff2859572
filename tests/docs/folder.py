"""A folder as the commands on the pages expect it: small files by the names that they use, and the recipe's programs."""

import re
from pathlib import Path

import numpy as np
from docs.pages import ROOT
from sklearn.datasets import dump_svmlight_file, make_moons

import budgetsvm

_QUICK = re.compile(r"= [\d_]+  # quick: ([\d_]+)")


def quick(program: Path) -> str:
    """Return an example with the numbers that it has for tests."""
    return _QUICK.sub(r"= \1", program.read_text("utf-8"))


def prepare(folder: Path) -> None:
    """Write all files."""
    X, y = make_moons(300, noise=0.2, random_state=0)
    rows, labels = X.round(3), np.where(y, 1, -1)
    for name in ("ijcnn1", "ijcnn1.t", "rows.libsvm"):
        dump_svmlight_file(rows, labels, str(folder / name), zero_based=False)
    model = budgetsvm.BudgetSVC(C=32, gamma=2).fit(rows, labels)
    for name in ("big.model", "ijcnn1.model"):
        (folder / name).write_text(budgetsvm.to_libsvm(model), "utf-8")
    model.save(folder / "ijcnn1.bsvm")
    table = np.column_stack([40 + 10 * X[:, 0], 1000 * X[:, 1], y])
    header = "age,capital,income"
    np.savetxt(folder / "people.csv", table, delimiter=",", header=header, comments="", fmt="%g")
    for program in (ROOT / "examples" / "recipe").glob("*.py"):
        (folder / program.name).write_text(quick(program), "utf-8")
