"""Sequences of calls on one estimator: one fit after the other, and streams."""

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from digest_cases import EVERYONE, LOSSES, MACHINES, SOLVERS, Cases, gathered
from digest_data import estimator, problem
from digest_values import Parts, parts_of
from sklearn.base import clone

from budgetsvm.streams import read_blocks

Step = Callable[[], object]


def sequence_cases() -> Cases:
    """Return all cases of this module."""
    return gathered(_warm_starts, _copies, _partial_fits, _streams, _files, _polish_now)


def after_each(model: Any, X: Any, steps: list[Step]) -> Parts:
    """Take the steps, and look at the model after each."""
    parts: Parts = {}
    for number, step in enumerate(steps, 1):
        step()
        parts |= {f"{number}.{name}": value for name, value in parts_of(model, X).items()}
    return parts


# ---- one fit after the other ----


def _warm_starts() -> Cases:
    """Changes that keep the terms, and others that do not."""
    changes: dict[str, list[dict[str, Any]]] = {
        "same": [{}, {}],
        "tol": [{"tol": 0.1}, {"tol": 1e-4}],
        "budget": [{"budget": 10}, {"budget": 30}],
        "gamma": [{"gamma": 0.5}, {"gamma": "scale"}],
        "basis": [{"basis": "random"}, {"basis": "learned"}],
        "solver": [{"solver": "bsgd"}, {"polish": False}],
    }
    own: dict[str, dict[str, list[dict[str, Any]]]] = {
        "svc": {"C": [{"C": 50.0}, {"C": 0.5}], "loss": [{"loss": name} for name in LOSSES]},
        "multi": {"C": [{"C": 50.0}, {"C": 0.5}], "way": [{"multi_class": "weston-watkins"}]},
        "svr": {"C": [{"C": 50.0}], "epsilon": [{"epsilon": 0.3}, {"fit_intercept": False}]},
        "one-class": {"nu": [{"nu": 0.4}, {"nu": 0.05}]},
    }
    return {
        f"warm-start/{subject} {name}": partial(_fit_again, subject, steps)
        for subject in MACHINES
        for name, steps in {**changes, **own.get(subject, {})}.items()
    }


def _fit_again(subject: str, changes: list[dict[str, Any]]) -> Parts:
    data, model = problem(subject), estimator(subject, warm_start=True)

    def fit(change: dict[str, Any], weights: str | None = None) -> None:
        model.set_params(**change).fit(data.X, data.y, sample_weight=data.weights(weights))

    steps: list[Step] = [partial(fit, change) for change in [{}, *changes]]
    return after_each(model, data.X_test, [*steps, partial(fit, {}, "random")])


def _copies() -> Cases:
    ways = {"pickled": _fit_pickled, "cloned": _fit_cloned}
    return {
        f"copy/{subject} {name}": partial(fit, subject)
        for name, fit in ways.items()
        for subject in EVERYONE
    }


def _fit_pickled(subject: str) -> Parts:
    """A model from a pickle goes on learning."""
    data, model = problem(subject), estimator(subject)
    first, second = data.blocks(2)
    again = pickle.loads(pickle.dumps(model.partial_fit(*first)))
    parts = parts_of(again, data.X_test)
    return parts | after_each(again, data.X_test, [partial(again.partial_fit, *second)])


def _fit_cloned(subject: str) -> Parts:
    data = problem(subject)
    model = clone(estimator(subject, budget=15).fit(data.X, data.y))
    return parts_of(model.fit(data.X, data.y), data.X_test)


# ---- streams ----


def _partial_fits() -> Cases:
    """The budget goes up and down while a model learns block by block."""
    ways: dict[str, dict[str, Any]] = {
        "bsca": {},
        "bsgd": {"solver": "bsgd"},
        "multimerge": {"maintenance": "multimerge"},
        "project": {"maintenance": "project"},
        "remove": {"maintenance": "remove"},
        "double": {"precision": "double"},
        "csr": {"form": "csr"},
        "laplacian": {"kernel": "laplacian", "maintenance": "project"},
    }
    budgets = {"steady": (20, 20, 20), "down": (20, 10, 5), "up": (5, 20, 40), "none": (None, 20)}
    cases: Cases = {
        f"partial-fit/{subject} {name} budget={pattern}": partial(
            _fit_blocks, subject, sizes, **way
        )
        for subject in EVERYONE
        for name, way in ways.items()
        for pattern, sizes in budgets.items()
        if name in SOLVERS or pattern == "down"
    }
    return cases | {
        f"partial-fit/{subject} after fit": partial(_go_on, subject) for subject in EVERYONE
    }


def _fit_blocks(
    subject: str, budgets: tuple[int | None, ...], form: str = "float64", **parameters: Any
) -> Parts:
    data, model = problem(subject, form=form), estimator(subject, **parameters)

    def fit(budget: int | None, X: Any, y: Any) -> None:
        model.set_params(budget=budget).partial_fit(X, y)

    blocks = zip(budgets, data.blocks(len(budgets)), strict=True)
    steps: list[Step] = [partial(fit, budget, *block) for budget, block in blocks]
    return after_each(model, data.X_test, steps)


def _go_on(subject: str) -> Parts:
    """A stream begins where a fit has ended."""
    data, model = problem(subject), estimator(subject)
    steps: list[Step] = [partial(model.fit, data.X, data.y)]
    steps += [partial(model.partial_fit, *block) for block in data.blocks(2)]
    return after_each(model, data.X_test, steps)


def _streams() -> Cases:
    ways: dict[str, dict[str, Any]] = {
        "defaults": {},
        "bsgd": {"solver": "bsgd"},
        "small reservoir": {"reservoir": 150},
        "no reservoir": {"reservoir": 0},
        "plain": {"polish": False},
        "no budget": {"budget": None},
        "two threads": {"n_jobs": 2, "budget": 100, "rows": 4000},
    }
    return {
        f"stream/{subject} {name} weights={kind}": partial(_fit_stream, subject, kind, **way)
        for subject in MACHINES
        for name, way in ways.items()
        for kind in (None, "zeros")
    }


def _fit_stream(subject: str, kind: str | None, rows: int = 600, **parameters: Any) -> Parts:
    data, model = problem(subject, rows), estimator(subject, **parameters)
    blocks: list[Any] = data.blocks(4)
    if kind is not None:
        weights = np.split(data.weights(kind), 4)
        blocks = [(*block, some) for block, some in zip(blocks, weights, strict=True)]
    return parts_of(model.fit_stream(blocks), data.X_test)


def _files() -> Cases:
    """Blocks that are read from files, in all formats."""
    label: dict[str, Any] = {"target": "label"}
    ways: dict[str, dict[str, Any]] = {
        "libsvm": {"ending": ".libsvm"},
        "libsvm zero-based": {"ending": ".svm", "zero_based": True},
        "csv": {"ending": ".csv", **label, "header": True},
        "csv last column": {"ending": ".csv", "target": -1},
        "csv features": {"ending": ".csv", **label, "features": ["x1", "x0"]},
        "csv gzip": {"ending": ".csv.gz", **label},
        "csv bzip2": {"ending": ".csv.bz2", **label},
        "tsv xz": {"ending": ".tsv.xz", **label},
        "parquet": {"ending": ".parquet", **label},
        "parquet features": {"ending": ".parquet", **label, "features": ["x1", "x0"]},
    }
    cases: Cases = {
        f"file/{subject} {name}": partial(_fit_file, subject, **way)
        for subject in ("svc", "multi", "svr")
        for name, way in ways.items()
    }
    names = {"names": np.array(["fir", "elm, or ash", "oak"])}  # which have to be quoted
    return cases | {
        f"file/multi names {ending}": partial(_fit_file, "multi", ending=ending, **names, **label)
        for ending in (".csv", ".parquet")
    }


def _fit_file(subject: str, *, ending: str, names: Any = None, **options: Any) -> Parts:
    """Read the rows from two files in a folder."""
    data, model = problem(subject), estimator(subject)
    with TemporaryDirectory() as folder:
        for number, (X, y) in enumerate(data.blocks(2)):
            path = Path(folder, f"part{number}{ending}")
            _write(path, X, y if names is None else names[y], options.get("zero_based", False))
        blocks = read_blocks(folder, rows=128, **options)
        model.fit_stream(blocks)
        count = blocks.n_features
    return parts_of(model, data.X_test[:, :count])


def _write(path: Path, X: Any, y: Any, zero_based: bool) -> None:
    import pandas as pd
    from sklearn.datasets import dump_svmlight_file

    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(label=y)
    if path.suffix in {".libsvm", ".svm"}:
        dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, sep="\t" if ".tsv" in path.suffixes else ",", index=False)


def _polish_now() -> Cases:
    return {
        f"polish-now/{subject} reservoir={reservoir} solver={solver}": partial(
            _polish_between, subject, reservoir=reservoir, solver=solver
        )
        for subject in MACHINES
        for reservoir in (100, 10_000)
        for solver in SOLVERS
    }


def _polish_between(subject: str, **parameters: Any) -> Parts:
    """Polish after every block, and once more with a smaller budget."""
    data, model = problem(subject, 600), estimator(subject, **parameters)
    steps: list[Step] = []
    for block in data.blocks(3):
        steps += [partial(model.partial_fit, *block), model.polish_now]
    steps.append(lambda: model.set_params(budget=8).polish_now())
    return after_each(model, data.X_test, steps)
