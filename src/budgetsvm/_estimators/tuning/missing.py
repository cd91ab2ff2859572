"""Scores that are missing: a search says so, lest a cell look as if it had won."""

from budgetsvm._common.saying import say

_DEFAULTS = "the parameters stay what they are without a search"


def say_too_few_rows() -> None:
    """Say that there are no folds to tune with."""
    message = (
        "there are too few rows to tune with: a fold needs rows of two classes to learn from, or two rows to compare; "
        + _DEFAULTS
    )
    say(message, UserWarning)


def say_no_time(time_limit: float | None, *, guarded: bool) -> None:
    """Say that no cell was scored."""
    instead = _DEFAULTS if guarded else "best_params_ are of the middle of the grid"
    say(
        f"time_limit={time_limit:g} was over before a cell had a score: {instead}. Allow for more time, or try fewer values"
    )


def say_cut_short(time_limit: float, gap: float) -> None:
    """Say that there was no time to fit what was found to all rows."""
    say(
        f"time_limit={time_limit:g} was over before the best cell was fitted to all rows (a duality gap of {gap:.2g}): {_DEFAULTS}"
    )


def say_undefined(n_undefined: int, n_scores: int, *, guarded: bool) -> None:
    """Say that some scores are no numbers; where all are, a search that was asked for cannot answer."""
    if n_undefined < n_scores:
        say(f"{n_undefined} of {n_scores} scores are not finite, and count as none", UserWarning)
        return
    message = f"none of {n_scores} scores is finite, so that there is nothing to choose by: "
    if not guarded:
        message += "try the scorer on a machine and the rows of one fold, or use fewer folds"
        raise ValueError(message)
    say(message + _DEFAULTS, UserWarning)
