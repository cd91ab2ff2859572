"""Pairs of classes: LIBSVM lets a support vector of class c know of pairs with c alone, and has it once for all of them.

Here a term may have a coefficient for every pair. In a file it then stands among the support vectors of several classes, as
few of them as have all of its pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Matrix = NDArray[np.float64]


def pair_coefficients(coef: _Matrix, counts: NDArray[np.int64]) -> _Matrix:
    """Return coefficients (pairs, terms) from those of LIBSVM, (classes - 1, terms): pairs (i, j) with i < j, in order."""
    n_classes = len(counts)
    ends = np.concatenate([[0], np.cumsum(counts)])
    of_class = [slice(ends[c], ends[c + 1]) for c in range(n_classes)]
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    result = np.zeros((len(pairs), coef.shape[1]))
    for pair, (i, j) in enumerate(pairs):
        result[pair, of_class[i]] = coef[j - 1, of_class[i]]
        result[pair, of_class[j]] = coef[i, of_class[j]]
    return result


def by_rank(pairs: _Matrix, ranks: NDArray[np.int64]) -> _Matrix:
    """Bring what is known of all pairs, (pairs, ...), into another order of classes; (b, a) is -(a, b)."""
    n_classes = len(ranks)
    first, second = np.triu_indices(n_classes, 1)
    square = np.zeros((n_classes, n_classes, *pairs.shape[1:]))
    square[ranks[first], ranks[second]] = pairs
    square[ranks[second], ranks[first]] = -pairs
    return square[first, second]


@dataclass(frozen=True, eq=False)
class Layout:
    """Support vectors in the order of their classes: which term each is, and LIBSVM's coefficients."""

    terms: NDArray[np.int64]
    coef: _Matrix
    counts: NDArray[np.int64]


def libsvm_layout(coef: _Matrix, n_classes: int) -> Layout:
    """Return where terms with coefficients (pairs, terms) stand in a file."""
    left = np.zeros(
        (n_classes, n_classes, coef.shape[1])
    )  # each pair twice; positive: for the class of the row
    first, second = np.triu_indices(n_classes, 1)
    left[first, second], left[second, first] = coef, -coef
    against = np.where(np.tri(n_classes, dtype=bool), -1.0, 1.0)
    owners: list[list[int]] = [[] for _ in range(n_classes)]
    columns: list[list[_Matrix]] = [[] for _ in range(n_classes)]
    for term in range(coef.shape[1]):
        own = left[:, :, term]
        while own.any():  # the class with the most pairs that no support vector has yet
            c = int((2 * (own != 0).sum(axis=1) + (own > 0).any(axis=1)).argmax())
            owners[c].append(term)
            columns[c].append(np.delete(own[c] * against[c], c))
            own[c, :] = own[:, c] = 0.0
    counts = np.array([len(terms) for terms in owners])
    together = [column for of_class in columns for column in of_class]
    shape = (n_classes - 1, len(together))
    matrix = np.array(together).T if together else np.zeros(shape)
    return Layout(
        np.array([term for terms in owners for term in terms], np.int64),
        np.ascontiguousarray(matrix),
        counts,
    )
