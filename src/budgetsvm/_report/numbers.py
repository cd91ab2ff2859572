"""Numbers as people read them."""

import re
from typing import Any

from budgetsvm._diagnosis.finding import short as plain


def whole(number: float) -> str:
    """Return a count, with its thousands apart."""
    return f"{int(number):,}"


def short(number: float, digits: int = 4) -> str:
    """Return a number with some digits, and a minus that is as wide as a plus."""
    return plain(number, digits).replace("-", "−")


def share(part: float) -> str:
    """Return a share in percent."""
    return f"{100 * part:.1f} %"


def seconds(number: float) -> str:
    """Return a time."""
    if number < 1e-3:
        return f"{1e6 * number:.0f} µs"
    if number < 1:
        return f"{1e3 * number:.3g} ms"
    return f"{number:.3g} s" if number < 600 else f"{number / 60:.3g} min"


def kernel_words(kernel: Any) -> str:
    """Return a kernel with no more digits than tell something."""
    return re.sub(r"\d+\.\d{4,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))
