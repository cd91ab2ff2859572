"""Write the claims that `make paper` has judged into docs/reproduction.md: ``python docs/_build_tools/claims_table.py [REPORT]``.

REPORT is the folder of a report: its claims, and the figures that pages show, with their numbers, are kept in docs/figures.
"""

import csv
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA, PAGE = ROOT / "docs" / "figures" / "claims.csv", ROOT / "docs" / "reproduction.md"
BEGIN, END = "<!-- begin of claims -->\n", "<!-- end of claims -->\n"

_PLACES = ("abstract", "section 1", "section 2", "section 3", "section 4", "section 5", "section 6")


def table(data: Path = DATA) -> str:
    """Return the table, in the order of the paper."""
    with data.open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: _place(row["where"]))
    lines = ["| in the paper | it says | what we saw | verdict |", "| --- | --- | --- | --- |"]
    for row in rows:
        cells = (row["where"], row["statement"], row["seen"], f"**{row['verdict']}**")
        lines.append(f"| {' | '.join(_cell(text) for text in cells)} |")
    return "\n".join([*lines, ""])


def with_table(page: str, claims: str) -> str:
    """Return a page with this table in the place of the one that it has."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + claims + "\n" + END + rest.split(END)[1]


def _place(where: str) -> int:
    """Return where a claim comes in the paper; appendices are last."""
    found = [i for i, name in enumerate(_PLACES) if where.lower().startswith(name)]
    return found[0] if found else len(_PLACES)


def keep(report: Path) -> None:
    """Copy the claims, and the figures that are shown, from a report."""
    shutil.copyfile(report / "data" / "claims.csv", DATA)
    for shown in DATA.parent.glob("*.png"):
        shutil.copyfile(report / "figures" / shown.name, shown)
        numbers = (report / "data" / f"{shown.stem}.csv").read_text("utf-8")
        shown.with_suffix(".csv").write_text(_LONG.sub(_short, numbers), "utf-8")


_LONG = re.compile(r"-?\d+\.\d{6,}(e[+-]?\d+)?")


def _short(number: re.Match[str]) -> str:
    """Return a number with the digits that a figure can show."""
    return f"{float(number[0]):.6g}"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


if __name__ == "__main__":
    if sys.argv[1:]:
        keep(Path(sys.argv[1]))
    PAGE.write_text(with_table(PAGE.read_text("utf-8"), table()), "utf-8")
