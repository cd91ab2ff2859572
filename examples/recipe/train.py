"""Train a model on any table: python train.py customers.csv stays. Writes model.joblib and report.html."""

import sys

import joblib
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import budgetsvm

SECONDS = 60  # quick: 5
path, target = sys.argv[1:]
table = pd.read_csv(path).dropna(subset=[target])  # a row without a label teaches nothing
rows, labels = table.drop(columns=target), table[target]
regression = pd.api.types.is_float_dtype(labels) or (
    pd.api.types.is_integer_dtype(labels) and labels.nunique() > 50
)
stratify = None if regression else labels
parts = train_test_split(rows, labels, test_size=0.2, stratify=stratify, random_state=0)
rows_train, rows_test, labels_train, labels_test = parts

# Gaps in numbers become the median, with a column that says so; those in words are a word of their own.
numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False)
with_numbers = rows.select_dtypes("number").columns.tolist()
with_words = [name for name in rows if name not in with_numbers and rows[name].nunique() <= 100]
for name in rows.columns.difference([*with_numbers, *with_words]):
    some = ", ".join(map(repr, rows[name].dropna().unique()[:3]))
    print(f"left out: {name}, with {rows[name].nunique():,} different words ({some}, ...)")
columns = make_column_transformer((numbers, with_numbers), (words, with_words))
kind = budgetsvm.BudgetSVR if regression else budgetsvm.BudgetSVC
machine = kind(C="tune", gamma="tune", time_limit=SECONDS, random_state=0)
model = make_pipeline(columns, machine).fit(rows_train, labels_train)

score = model.score(rows_test, labels_test)
print(f"{len(rows_test):,} rows took no part. ", end="")
if regression:
    print(f"R² there: {score:.3f}")
else:
    most = labels_test.value_counts(normalize=True).iloc[0]
    print(f"right: {score:.1%} of them; the most frequent label: {most:.1%}")
print(f"chosen: {machine.best_params_}, {len(machine.support_vectors_)} terms")
if not machine.search_complete_:
    print(f"the search left something out for want of time: SECONDS above {SECONDS} may help")
print(budgetsvm.diagnose(model, rows_test, labels_test))
budgetsvm.report(model, rows_test, labels_test, "report.html")
joblib.dump(model, "model.joblib")
