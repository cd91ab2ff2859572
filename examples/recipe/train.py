"""Train a model on any table: python train.py customers.csv stays. Writes model.joblib and report.html."""

import sys

import joblib
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import budgetsvm

SECONDS = 60  # quick: 5
path, target = sys.argv[1:]
table = pd.read_csv(path).dropna(subset=[target])  # a row without a label teaches nothing
rows, labels = table.drop(columns=target), table[target]
parts = train_test_split(rows, labels, test_size=0.2, stratify=labels, random_state=0)
rows_train, rows_test, labels_train, labels_test = parts

# Gaps in numbers become the median, with a column that says so; those in words are a word of their own.
numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False)
columns = make_column_transformer(
    (numbers, make_column_selector(dtype_include="number")),
    (words, make_column_selector(dtype_exclude="number")),
)
machine = budgetsvm.BudgetSVC(C="tune", gamma="tune", time_limit=SECONDS, random_state=0)
model = make_pipeline(columns, machine).fit(rows_train, labels_train)

print(
    f"right: {model.score(rows_test, labels_test):.1%} of {len(rows_test):,} rows that took no part"
)
print(f"the most frequent label: {labels_test.value_counts(normalize=True).iloc[0]:.1%}")
print(f"chosen: {machine.best_params_}, {len(machine.support_vectors_)} terms")
if not machine.search_complete_:
    print(f"the search was not over after {SECONDS} s: more SECONDS may find better ones")
print(budgetsvm.diagnose(model, rows_test, labels_test))
budgetsvm.report(model, rows_test, labels_test, "report.html")
joblib.dump(model, "model.joblib")
