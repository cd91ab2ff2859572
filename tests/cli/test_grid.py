"""``budgetsvm cv --grid``: what it prints, what it searches, and what it refuses; by the program itself where that matters."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.model_selection import KFold, StratifiedKFold

from budgetsvm import cli
from budgetsvm.model_selection import BudgetSVCCV, BudgetSVRCV

PROGRAM = Path(sys.executable).with_name("budgetsvm")
X, Y = make_moons(150, noise=0.25, random_state=0)
X = X.round(3)
SMALL = ("cv", "--grid", "-v", "3", "-B", "20", "--log2c", "-1,5,3", "--log2g", "2,-2,-2")


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, np.where(Y > 0, 1, -1), "moons", zero_based=False)
    dump_svmlight_file(X, 100 * np.sin(2 * X[:, 0]), "waves", zero_based=False)
    rows = np.column_stack([X, Y])
    np.savetxt("moons.csv", rows, delimiter=",", header="a,b,side", comments="")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")
def test_the_program_prints_a_table_and_words_for_train() -> None:
    done = run(*SMALL, "moons")
    assert done.returncode == 0
    assert "search" in done.stderr
    *table, empty, score, words = done.stdout.splitlines()
    assert empty == ""
    assert table[0].split() == ["gamma", "C", "0.5", "4", "32"]
    assert [line.split()[0] for line in table[1:]] == ["0.25", "1", "4"]
    numbers = re.findall(r"\d+\.\d\d\*?", "\n".join(line[10:] for line in table[1:]))
    assert len(numbers) == 9
    best = [number for number in numbers if number.endswith("*")]
    assert len(best) == 1
    assert float(best[0][:-1]) == max(float(number.rstrip("*")) for number in numbers)
    assert score.startswith(f"Cross Validation Accuracy = {float(best[0][:-1]):.4g}"[:33])
    trained = run("train", "-q", *words.split(), "moons", "model")
    assert (trained.returncode, trained.stderr) == (0, "")


OTHERS = [
    "--scale standard --target side --header --format csv -wlabel 2 --jobs 1 --no-header",
    "-t 1 -d 2 -r 0.5 -g 0.25 -B 30 --log2g null",
    "-b 1 --seed 3 --precision double --memory-limit 1e9 --maintenance remove",
    "-e 0.1 --class-weight balanced --delimiter ;",
    "-w-1 2.5 -w1 0.1 --loss squared_hinge",
    "-e 0.05 -g 0.123456789012345 --log2g null -p 0.30000000000000004 -wja 1e-7",
    "-s 3 -p 0.1 --log2c null -c 3 --budgets 5,10 --time-limit 60 --no-halving -v 4",
]


@pytest.mark.parametrize("given", OTHERS)
def test_the_last_line_trains_the_machine_that_was_scored(
    given: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All options of the machine and of the file are in it, and none of the search."""
    seen: list[dict[str, Any]] = []
    best = {"C": 2.0, "gamma": 0.25, "score": 0.5}
    best |= {"budget": 5} if "--budgets" in given else {}

    def search(X: Any, y: Any, folds: int, options: dict[str, Any]) -> dict[str, Any]:
        seen.append(dict(options))
        return {"measure": "accuracy", "complete": True, "best": best, "cells": []}

    monkeypatch.setattr("budgetsvm.cli._grid.search.search", search)
    monkeypatch.setattr("budgetsvm.cli._cv.read_data", lambda *_, **__: (X, Y, None))
    monkeypatch.setattr("budgetsvm.cli._cv.lines_of", lambda _: [])
    assert cli.main(["cv", "--grid", "-q", *given.split(), "moons"]) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1])
    monkeypatch.setattr("budgetsvm.cli._train._train", lambda *given: seen.append(given[-1]))
    assert cli.main(["train", "-q", *words, "moons", "model"]) == 0
    searched, trained = seen
    chosen = {"cost": 2.0, **{name: best[name] for name in ("gamma", "budget") if name in best}}
    for name in trained.keys() & searched.keys() - {"quiet", "as_json", "time_limit"}:
        assert trained[name] == chosen.get(name, searched[name])
    assert trained["time_limit"] is None


@pytest.mark.parametrize("word", ["-c", "-g"])
def test_train_says_who_tunes(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", word, "tune", "moons"]) == 2
    assert "budgetsvm cv --grid" in " ".join(capsys.readouterr().err.split())


@pytest.mark.sampled(4)
@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--log2c 1,5", "'1,5' is not BEGIN,END,STEP"),
        ("--log2c 1,5,x", "'1,5,x' is not BEGIN,END,STEP"),
        ("--log2g 5,1,1", "'5,1,1' does not get from 5 to 1"),
        ("--log2c 0,1,0", "'0,1,0' does not get from 0 to 1"),
        ("--log2c nan,1,1", "'nan,1,1' is not finite"),
        ("--log2c 0,1,1e-9", "values, and 1,000 are the most"),
        ("--log2g 2000,2002,1", "powers of two that no number is"),
        ("--budgets 10,many", "'many' is not a valid integer range"),
        ("--budgets 0", "0 is not in the range x>=1"),
        ("-s 2", "a one-class machine has no C"),
        ("-t 0 --log2g 1,2,1", "--log2g is for kernels with a gamma"),
        ("--no-polish", "leave out --no-polish"),
    ],
)
def test_bad_options_are_misuse(words: str, message: str) -> None:
    done = run("cv", "--grid", *words.split(), "moons")
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("words", [("--time-limit", "0"), ("--time-limit", "1e-6"), ("-v", "90")])
def test_what_the_search_refuses_is_an_error(words: tuple[str, str], capsys) -> None:
    assert cli.main(["cv", "--grid", "-q", *words, "moons"]) == 1
    assert capsys.readouterr().err.startswith("budgetsvm: ")


def test_a_search_that_was_cut_short_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetsvm._estimators.tuning.race.Race.run", _only_a_part)
    words = ["cv", "--grid", "--time-limit", "60", "moons"]
    assert cli.main(words) == 0
    assert "--time-limit 60 had no room for all cells" in capsys.readouterr().err
    assert cli.main([*words[:-1], "--json", "-q", "moons"]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is False


def _only_a_part(race: Any) -> bool:
    """Be a race that ends after a stage."""
    race._stage([0], race._heats.most_rows, "a stage")
    return False


def found(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert cli.main([*words[:-1], "-q", "--json", words[-1]]) == 0
    return json.loads(capsys.readouterr().out)


def test_cells_are_those_of_a_search_in_python(capsys) -> None:
    facts = found(capsys, *SMALL, "moons")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = BudgetSVCCV([0.5, 4, 32], [0.25, 1, 4], budget=20, cv=folds, fit_intercept=True)
    search.set_params(random_state=0).fit(X, np.where(Y > 0, 1.0, -1.0))
    scores = [cell["score"] for cell in facts["cells"]]
    np.testing.assert_allclose(scores, search.cv_results_["mean_test_score"])
    assert {name: facts["best"][name] for name in ("C", "gamma")} == search.best_params_
    assert facts["measure"] == "accuracy"
    assert {(cell["folds"], cell["rows"]) for cell in facts["cells"]} == {(3, 100)}


def test_C_of_regression_is_in_the_units_of_the_targets(capsys) -> None:
    words = ("cv", "--grid", "-s", "3", "-p", "5", "-v", "3", "-B", "20", "--log2c", "4,8,4")
    facts = found(capsys, *words, "--log2g", "0,0,1", "waves")
    assert [cell["C"] for cell in facts["cells"]] == pytest.approx([16, 256])
    assert facts["measure"] == "R²"
    targets = 100 * np.sin(2 * X[:, 0])
    scale = (
        targets.max() - targets.min()
    ) / 4  # anything near it: C of the estimator is much smaller
    search = BudgetSVRCV([16 / scale], [1.0], cv=KFold(3), budget=20, refit=False).fit(X, targets)
    assert abs(search.best_score_ - facts["cells"][0]["score"]) < 0.2


def test_parameters_that_are_not_searched_for(capsys) -> None:
    words = ("cv", "--grid", "-v", "3", "-c", "7", "--log2c", "null", "--log2g", "null", "-g", "2")
    facts = found(capsys, *words, "-B", "20", "moons")
    assert [(cell["C"], cell["gamma"]) for cell in facts["cells"]] == [(7.0, 2.0)]
    linear = found(capsys, "cv", "--grid", "-t", "0", "-v", "3", "--log2c", "0,2,2", "moons")
    assert [set(cell) & {"C", "gamma", "budget"} for cell in linear["cells"]] == [{"C"}] * 2


def test_budgets_that_are_asked_for(capsys) -> None:
    words = ("cv", "--grid", "-v", "3", "--log2c", "2,4,2", "--log2g", "0,0,1", "--budgets", "2,30")
    facts = found(capsys, *words, "moons")
    assert [cell["budget"] for cell in facts["cells"]] == [2, 30, 2, 30]
    assert facts["best"]["budget"] == 30
    assert cli.main([*words, "moons"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert ("B = 2" in shown, "B = 30" in shown) == (True, True)
    assert shown[-1].endswith("-B 30")


def test_time_ends_a_search_of_everything(capsys) -> None:
    facts = found(capsys, "cv", "--grid", "-B", "20", "--time-limit", "1", "moons")
    assert len(facts["cells"]) == 100
    assert facts["best"]["score"] is None or facts["best"]["score"] > 0.7


def test_tables_are_read_and_scaled(capsys) -> None:
    words = ("cv", "--grid", "-v", "3", "-B", "20", "--log2c", "0,4,4", "--log2g", "0,0,1")
    facts = found(capsys, *words, "--scale", "standard", "--target", "side", "moons.csv")
    assert facts["best"]["score"] > 0.85


def test_options_without_effect_are_named(capsys) -> None:
    assert cli.main(["cv", "-v", "2", "-B", "10", "--log2c", "0,1,1", "moons"]) == 0
    assert "--log2c has no effect without --grid" in capsys.readouterr().err
    assert cli.main([*SMALL, "-c", "3", "moons"]) == 0
    said = capsys.readouterr().err
    assert "-c (--cost) has no effect with --grid, unless with --log2c null" in said
    assert said.count("has no effect") == 1
