"""A line of a CSV file: its values, and whether it is a header."""

import csv
from collections.abc import Sequence

from budgetsvm.streams._table_columns import Column, Target

_DELIMITERS = ";\t|"
_WITHOUT_MARKS = str.maketrans("−", "-", ".,'’ \u00a0\u202f")


def split(text: str, delimiter: str, place: str) -> list[str]:
    """Return the values in a line, of which none may go on in the next."""
    reader = csv.reader([text.rstrip("\r\n"), ""], delimiter=delimiter)
    try:
        values = next(reader)
    except csv.Error as error:
        message = f"{place}: {error}"
        raise ValueError(message) from error
    if reader.line_num > 1:  # it went on to look for the other quotation mark
        message = (
            f"{place}: a quotation mark is not closed in this line, and values must not reach over several lines: "
            "close it, or take the line break out"
        )
        raise ValueError(message)
    return values


def other_delimiter(text: str, used: str, *, alone: bool = False) -> str:
    """Advise to name the delimiter, where there seems to be another one in a text, which may be `alone` in its line."""
    marks = _DELIMITERS + "," * alone  # within a value, a comma may be that of decimals
    seen = next((mark for mark in marks if mark in text and mark != used), None)
    if seen is None:
        return ""
    more = ", and decimal=',' if commas stand before decimals" if seen == ";" else ""
    return f"; is {seen!r} the delimiter? Then say delimiter={seen!r}{more}"


def is_number(text: str) -> bool:
    """Whether a value is a number; infinities and nan count as such."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text  # which Python reads, and NumPy does not


def looks_like_number(text: str) -> bool:
    """Whether it would be a number without marks between its digits."""
    return is_number(text.translate(_WITHOUT_MARKS))


def has_header(
    head: Sequence[Sequence[str]], target: Target, features: Sequence[Column] | None
) -> bool:
    """Guess from the first two rows, and the columns asked for, whether the first row is a header.

    All features are numbers: a row without any number must be a header. So must be one with a word
    for a label where the next row has a number: pandas writes "label,0,1,2". Without labels, a word is a name.
    """
    if any(isinstance(column, str) for column in (target, *(features or ()))):
        return True
    if not any(map(is_number, head[0])):
        return True
    if target is False:
        return not all(map(is_number, filter(None, head[0])))
    if len(head) < 2 or not isinstance(target, int) or not -len(head[1]) <= target < len(head[1]):
        return False
    if len(head[0]) != len(head[1]):
        return False
    first, second = head[0][target], head[1][target]
    return bool(first) and not is_number(first) and is_number(second)
