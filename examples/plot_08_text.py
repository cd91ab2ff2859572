"""
Text, with a quarter of a million features
==========================================

Who wrote this line? Lines of Python's own library are turned into counts of the character sequences that they have, in
:math:`2^{18}` sparse features, and the model is to say which module they are from.

With many features of which rows have few, terms are sparse, too: neither time nor memory depends on the number of features.
"""

import asyncio.base_events
import inspect
import statistics
import tarfile
import turtle

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from budgetsvm import BudgetSVC
from budgetsvm.plots import plot_confusion

LINES = 700  # quick: 60
modules = [asyncio.base_events, statistics, tarfile, turtle]
texts, authors = [], []
for module in modules:
    lines = [line.strip() for line in inspect.getsource(module).splitlines()]
    lines = [line for line in dict.fromkeys(lines) if len(line) > 25][:LINES]
    texts += lines
    authors += [module.__name__.split(".")[0]] * len(lines)

# %%
# A pipeline as any other; the default gamma and C will do.

parts = train_test_split(texts, authors, stratify=authors, random_state=0)
texts_train, texts_test, authors_train, authors_test = parts
words = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=2**18)
model = make_pipeline(words, BudgetSVC(C=10, budget=300, random_state=0))
model.fit(texts_train, authors_train)
terms = model[-1].support_vectors_
print(f"{model.score(texts_test, authors_test):.1%} of the lines are told apart")
print(
    f"{terms.shape[0]} terms of {terms.shape[1]:,} features, {terms.nnz / terms.shape[0]:.0f} of them not zero"
)

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
_ = plot_confusion(model, texts_test, authors_test, ax=ax)
