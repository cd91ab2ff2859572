"""The cells of a search as a table for readers: C across, gamma down, a table for each budget."""

import math
from typing import Any

from budgetsvm.cli._options.given import short_text, words_given

_WIDTH = 8
#: Options that say how to search, and are not for training.
_OF_THE_SEARCH = {
    *("folds", "grid", "log2c", "log2g", "budgets", "halving", "cost", "time_limit"),
    *("quiet", "as_json", "cache", "shrinking"),
}


def lines_of(facts: dict[str, Any]) -> list[str]:
    """Return the lines of all tables; the best cell has a star, cells that were left on the way are in brackets."""
    cells, best = facts["cells"], facts["best"]
    percent = 100.0 if facts["measure"] == "accuracy" else 1.0
    whole = max((cell["rows"], cell["folds"]) for cell in cells)
    found = []
    for budget in dict.fromkeys(cell.get("budget") for cell in cells):
        some = [cell for cell in cells if cell.get("budget") == budget]
        texts = {
            (cell["C"], cell.get("gamma")): _text(cell, percent, whole) + " *"[cell == best]
            for cell in some
        }
        found += [] if budget is None else ["", f"B = {budget}"]
        found += _table(texts)
    return found


def _table(texts: dict[tuple[float, float | None], str]) -> list[str]:
    Cs = sorted({C for C, _ in texts})
    gammas = list(dict.fromkeys(gamma for _, gamma in texts))
    head = "".join(f"{_short(C):>{_WIDTH}} " for C in Cs)
    found = [f"{'':>{_WIDTH}}  C{head[1:]}".rstrip() if gammas == [None] else _head(head)]
    for gamma in gammas:
        line = "".join(f"{texts.get((C, gamma), '-'):>{_WIDTH + 1}}" for C in Cs)
        name = "" if gamma is None else _short(gamma)
        found.append(f"{name:>{_WIDTH}}  {line}".rstrip())
    return found


def _head(head: str) -> str:
    return f"{'gamma':>{_WIDTH}}  C{head[1:]}".rstrip()


def _text(cell: dict[str, Any], percent: float, whole: tuple[int, int]) -> str:
    """Return the score of a cell."""
    if not math.isfinite(cell["score"]):
        return "-"
    number = f"{percent * cell['score']:.{2 if percent > 1 else 3}f}"
    return number if (cell["rows"], cell["folds"]) == whole else f"({number})"


def _short(number: float) -> str:
    return f"{float(f'{number:.3g}'):g}"


def words_for_train(best: dict[str, Any]) -> str:
    """Return the best cell, and what else was given, in the options of ``budgetsvm train``."""
    words = [f"-c {short_text(best['C'])}"]
    words += [f"-g {short_text(float(best['gamma']))}"] if "gamma" in best else []
    words += [f"-B {best['budget']}"] if "budget" in best else []
    return " ".join([*words, *words_given(but={*_OF_THE_SEARCH, *best})])
