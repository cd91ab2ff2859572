"""Train a model on any table: python train.py customers.csv stays. Writes model.joblib and report.html."""

import sys
import time

import joblib
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import budgetsvm

SECONDS = 60  # quick: 5
READ = {}  # how the file is written, as {"sep": ";", "decimal": ",", "encoding": "latin-1"}
WORDS = []  # columns that are numbers by name only, as codes of regions
LEAVE_OUT = []  # columns that say nothing of rows to come
FEWEST = 5  # rows of a label; twice as many of a regression

if len(sys.argv) != 3:
    sys.exit("a file and the column to predict, please: python train.py customers.csv stays")
path, target = sys.argv[1:]
try:
    table = pd.read_csv(path, **READ)
except (OSError, ValueError) as error:
    sys.exit(f"{path}: {str(error).strip()}\nIs READ how the file is written?")
for name in (target, *WORDS, *LEAVE_OUT):
    if name not in table:
        sys.exit(f"no column {name!r}, but {list(table)}: is READ how the file is written?")
table = table.dropna(subset=[target])  # a row without a label teaches nothing
table = table.replace([float("inf"), float("-inf")], float("nan"))  # gaps
rows, labels = table.drop(columns=[target, *LEAVE_OUT]), table[target]
if len(labels) < 2 * FEWEST:
    sys.exit(
        f"too few rows of {path} have a label in {target!r}: {len(labels)} of at least {2 * FEWEST}"
    )

regression = labels.dtype.kind in "iuf" and ((labels % 1 != 0).any() or labels.nunique() > 50)
if not regression:
    if labels.dtype.kind == "f":  # whole numbers, beside gaps
        labels = labels.astype(int)
    counts = labels.value_counts()
    if len(counts) > 100:
        sys.exit(f"{target!r} has {len(counts):,} different words; numbers, if READ is mended?")
    for label in counts.index[counts < FEWEST]:
        print(f"left out: the rows of {label!r}, of which there are {counts[label]}")
    often = counts.index[counts >= FEWEST].tolist()
    if len(often) < 2:
        found = f"only {often[0]!r} has" if often else "no label has"
        sys.exit(f"nothing to tell apart in {target!r}: {found} {FEWEST} rows or more")
    rows, labels = rows[labels.isin(often)], labels[labels.isin(often)]
print(f"{target}: " + ("a regression" if regression else f"{labels.nunique()} classes"))
stratify = None if regression else labels
parts = train_test_split(rows, labels, test_size=0.2, stratify=stratify, random_state=0)
rows_train, rows_test, labels_train, labels_test = parts

# Gaps in numbers become the median, with a column that says so; those in words are a word of their own.
numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False)
with_numbers, with_words = [], []
for name, column in rows.items():
    count, is_word = column.nunique(dropna=False), name in WORDS or column.dtype.kind not in "iuf"
    some = ", ".join(map(repr, column.dropna().unique()[:3].tolist()))
    if count < 2:
        print(f"left out: {name}, which is the same everywhere")
    elif is_word and count > 100:
        print(f"left out: {name}, with {count:,} different words ({some}, ...)")
    elif column.dtype.kind in "iu" and not is_word and count == len(rows):
        print(f"left out: {name}, another whole number in every row ({some}, ...)")
    else:
        (with_words if is_word else with_numbers).append(name)
if not (with_numbers or with_words):
    sys.exit(f"there is no column left to predict {target!r} from")
columns = make_column_transformer((numbers, with_numbers), (words, with_words))
kind = budgetsvm.BudgetSVR if regression else budgetsvm.BudgetSVC
machine = kind(C="tune", gamma="tune", time_limit=SECONDS, random_state=0)
started = time.perf_counter()
model = make_pipeline(columns, machine).fit(rows_train, labels_train)
was_short = time.perf_counter() - started > SECONDS / 2  # else not the time ended the search

score = model.score(rows_test, labels_test)
print(f"{len(rows_test):,} rows took no part. ", end="")
if regression:
    print(f"R² there: {score:.3f}")
else:
    most = labels_test.value_counts(normalize=True).iloc[0]
    print(f"right: {score:.1%} of them; the most frequent label: {most:.1%}")
print(f"chosen: {machine.best_params_}, {len(machine.support_vectors_)} terms")
if was_short and not machine.search_complete_:
    print(f"the search left something out for want of time: SECONDS above {SECONDS} may help")
print(budgetsvm.diagnose(model, rows_test, labels_test))
budgetsvm.report(model, rows_test, labels_test, "report.html")
joblib.dump(model, "model.joblib")
