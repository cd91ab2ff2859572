"""Pictures of matplotlib as a part of the page: SVG without anything that would be looked up elsewhere."""

import io
import itertools
import re
from typing import Any

from budgetsvm._report.html import Html, element

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_INCH = 72.0  # units of an SVG
_SCALE = 1.25  # of a unit on the page


class Pictures:
    """Makes pictures for one page; names inside of them are told apart by a number."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def svg(self, figure: Any, words: str) -> Html:
        """Return a figure, with words for those who do not see it."""
        import matplotlib as mpl

        stream = io.StringIO()
        number = next(self._numbers)
        settings: Any = {"svg.fonttype": "path", "svg.hashsalt": f"{number}"}
        figure.patch.set_alpha(0.0)
        with mpl.rc_context(settings):
            figure.savefig(stream, format="svg", metadata=_NO_METADATA)
        drawn = stream.getvalue()
        drawn = drawn[drawn.index("<svg") :]
        inside = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
        inside = re.sub(r"<style.*?</style>", "", inside, flags=re.DOTALL)
        inside = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>p{number}-", inside)
        width, height = (_INCH * float(one) for one in figure.get_size_inches())
        picture = element(
            "svg",
            Html(inside),
            viewBox=f"0 0 {width:g} {height:g}",
            role="img",
            aria_label=words,
            style=f"width:{_SCALE * width:.0f}px",
        )
        return element("figure", picture, element("figcaption", words))
