"""A value of a CSV file that cannot be used: what is wrong with it, and what to do."""

import math

from budgetsvm.streams._csv_line import is_number, looks_like_number
from budgetsvm.streams._table_columns import ADVICE

#: How sentences about values end that are words, or numbers written in another way.
NO_NUMBER = " is not a number"
_MISSING = ("", "na", "n/a", "#n/a", "null", "none", "?")


def flaw_of(value: str, number: str, *, is_label: bool, strings: bool) -> str | None:
    """Say what is wrong with a value, if anything; `number` is how Python would write it."""
    what = "the label" if is_label else "the value"
    if value.lower() in _MISSING and not (is_label and strings and value):
        what += f" {value!r}" if value else ""
        return f"{what} is missing; {_remedy(is_label)}"
    if is_label and strings:
        return None
    if not is_number(number):
        return f"{what} {value!r}{NO_NUMBER}"
    if not math.isfinite(float(number)):
        return f"{what} {value!r} is not finite; {_remedy(is_label)}"
    return None


def advice(value: str, *, commas: bool, is_label: bool) -> str:
    """Say what to do about a value that is no number as it stands; `commas` are before decimals."""
    if not looks_like_number(value):
        return "say labels='string' if labels are not numbers" if is_label else ADVICE
    if commas:
        return "with decimal=',' numbers have one comma at most, and no points or other marks"
    return "if commas stand before decimals, say decimal=','; thousands have no marks"


def _remedy(is_label: bool) -> str:
    out = "leave the row out"
    return out if is_label else f"{out}, or fill it in, as SimpleImputer of scikit-learn does"
