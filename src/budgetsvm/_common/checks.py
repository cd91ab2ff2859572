"""Checks of parameters. Their messages name the parameter, the value and what would be right."""

import math
from numbers import Integral, Real

import numpy as np


def check_number(
    name: str, value: object, *, above: float = -math.inf, at_least: float = -math.inf
) -> float:
    """Return value as a finite float within the bounds, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        message = f"{name} must be a number, not {value!r}"
        raise TypeError(message)
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not (math.isfinite(number) and number > above and number >= at_least):
        bounds = {">": above, ">=": at_least}
        limits = "".join(f" {sign} {x:g}" for sign, x in bounds.items() if x > -math.inf)
        condition = f"a finite number{limits}"
        message = f"{name} must be {condition}, not {value!r}"
        raise ValueError(message)
    return number


def check_integer(name: str, value: object, *, least: int) -> int:
    """Return value as an int >= least, or say what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        message = f"{name} must be an integer, not {value!r}"
        raise TypeError(message)
    if value < least:
        message = f"{name} must be at least {least}, not {value!r}"
        raise ValueError(message)
    return int(value)


def check_count(name: str, value: object, *, least: int) -> int:
    """Return value as an int >= least; what is whole may be a float, as 1e3 is."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return check_integer(name, value, least=least)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise a ValueError unless value is one of the choices."""
    if value not in choices:
        message = f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}"
        raise ValueError(message)


def check_truth(name: str, value: object, *others: str) -> bool:
    """Return value as a bool, or say that it is none: 'False' would be as good as True. `others` are, and may be given."""
    if isinstance(value, str) and value in others:
        return True
    if not (
        isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))
    ):
        *first, last = "True", "False", *map(repr, others)
        choices = f"{', '.join(first)} or {last}"
        message = f"{name} must be {choices}, not {value!r}"
        raise TypeError(message)
    return bool(value)


def best_instead(estimator: object) -> str:
    """Return what to add to the words that an estimator is none of those that are wanted: the best one of a search may be."""
    return "; its best_estimator_ may do" if hasattr(estimator, "best_estimator_") else ""
