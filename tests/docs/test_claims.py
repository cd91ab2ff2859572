"""The table of claims on the page about the paper is that of the saved run."""

import runpy
from pathlib import Path

from docs.pages import DOCS

tool = runpy.run_path(str(DOCS / "_build_tools" / "claims_table.py"))


def test_it_is_that_of_the_saved_run() -> None:
    page = tool["PAGE"].read_text("utf-8")
    assert (
        tool["with_table"](page, tool["table"]()) == page
    )  # or run docs/_build_tools/claims_table.py


def test_rows_are_in_the_order_of_the_paper(tmp_path: Path) -> None:
    data = tmp_path / "claims.csv"
    head = "section,statement,where,seen,verdict\n"
    data.write_text(
        f'{head}s,"a | b","appendix B, Drift",x,held\ns,c,"section 2, Kernels",y,held\ns,d,abstract,z,in part\n'
    )
    lines = tool["table"](data).splitlines()[2:]
    assert [line.split(" | ")[0] for line in lines] == [
        "| abstract",
        "| section 2, Kernels",
        "| appendix B, Drift",
    ]
    assert "a \\| b" in lines[-1]
    assert "**in part**" in lines[0]


def test_figures_that_are_shown_have_their_numbers_beside_them() -> None:
    figures = list((DOCS / "figures").glob("*.png"))
    assert figures
    for figure in figures:
        lines = figure.with_suffix(".csv").read_text("utf-8").splitlines()
        assert len(lines) > 10, figure.name
