"""The usual data sets, by name: from a folder, or from the LIBSVM data page.

>>> from budgetsvm import datasets
>>> datasets.names()[:5]
['adult', 'ijcnn', 'cod-rna', 'covtype', 'susy']

These five are those of *Dual SVM Training on a Budget*; the others are for many classes, for regression and for
novelty detection. :func:`load` finds their files, reads, splits and scales them, and keeps the arrays in a cache; what
it returns has good values of C and gamma, too.
"""

from budgetsvm.datasets._dataset import Dataset
from budgetsvm.datasets._load import load, names

__all__ = ["Dataset", "load", "names"]
