"""What decides where classes win equally many pairs, compared on data sets that nobody had looked at before."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetsvm import BudgetSVC
from budgetsvm._problem.pair_targets import first_winners, head_to_head, votes

_FOLDS, _REPEATS, _ORDERS = 5, 8, 10
_FEWEST = 10  # rows of a class; smaller ones are left out


def print_rules(name: str, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Print the accuracy of every rule in percent, and paired differences with their standard errors."""
    found = 100 * np.array(list(shares(X, y)))
    tied, first, order, whole, heads = found.T
    text = f"{name:24} {len(y):6} rows, {tied.mean():4.1f} % tied: "
    text += (
        f"first {first.mean():.2f}, any order {order.mean():.2f}, all pairs {whole.mean():.2f}, "
    )
    text += f"head to head {heads.mean():.2f}"
    for title, other in (("first", first), ("any order", order), ("all pairs", whole)):
        difference = heads - other
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        text += f", less {title} {difference.mean():+.3f} ± {error:.3f}"
    print(text, flush=True)


def shares(X: NDArray[Any], y: NDArray[Any]) -> Iterator[tuple[float, ...]]:
    """Return, for every fold, how many rows are tied, and how many are right: by the first class, any order, all pairs, head to head.

    The values are the same for all rules. Any order is the mean over some of them: how classes are called says nothing.
    """
    y = np.unique(y, return_inverse=True)[1]
    enough = np.bincount(y)[y] >= _FEWEST
    X, y = X[enough], np.unique(y[enough], return_inverse=True)[1]
    k, rng = int(y.max()) + 1, np.random.default_rng(0)
    for repeat in range(_REPEATS):
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=1000 + repeat)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            machine = BudgetSVC(decision_function_shape="ovo", n_jobs=1, random_state=fold)
            values = make_pipeline(StandardScaler(), machine).fit(X[train], y[train])
            values, t = values.decision_function(X[test]), y[test]
            first = first_winners(values, k, None)
            last = first_winners(values, k, np.arange(k)[::-1])
            orders = [first_winners(values, k, rng.permutation(k)) == t for _ in range(_ORDERS)]
            rules = first, votes(values, k).argmax(axis=1), head_to_head(values, k)
            right = [float(np.mean(codes == t)) for codes in rules]
            yield float(np.mean(first != last)), right[0], float(np.mean(orders)), *right[1:]
