"""All experiments on a small problem: the report has every table and figure, and none is empty."""

import json
from pathlib import Path

import pytest

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")
pytest.importorskip("budgetsvm.datasets")

from experiments.__main__ import main
from experiments.catalogue import EXPERIMENTS
from experiments.options import parse
from experiments.report.content import Picture, Section

# What the paper says of these is about its own data and its own choice.
_TABLES_ONLY = ("table-one", "search")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run it all, once."""
    if not EXPERIMENTS:
        pytest.skip("there are no experiments yet")
    out = tmp_path_factory.mktemp("quick")
    assert main(["--quick", "--out", str(out)]) == 0
    return out


def _section(folder: Path, name: str) -> Section:
    """Make a section anew, from the results that were kept."""
    scope = parse(["--quick"], dict.fromkeys(EXPERIMENTS, "")).scope()
    kept = folder / "jobs"
    results = {
        str(path.relative_to(kept).with_suffix("")): json.loads(path.read_text())["result"]
        for path in kept.rglob("*.json")
        if path != kept / "run.json"
    }
    return EXPERIMENTS[name].section(scope, results)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_table_and_figure_is_in_the_report(folder: Path, name: str) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    document = (folder / "report.md").read_text(encoding="utf-8")
    section = _section(folder, name)
    assert section.parts, "a section shows what it found"
    for part in section.parts:
        kind = "figure" if isinstance(part, Picture) else "table"
        assert page.count(f'<figure id="{kind}-{part.name}"') == 1
        assert f"(data/{part.name}.csv)" in document
        lines = (folder / "data" / f"{part.name}.csv").read_text(encoding="utf-8").splitlines()
        assert len(lines) == 1 + len(part.data.rows) > 1
        if isinstance(part, Picture):
            assert f"(figures/{part.name}.png)" in document
            sizes = [
                (folder / "figures" / f"{part.name}.{x}").stat().st_size for x in ("svg", "png")
            ]
            assert min(sizes) > 1000
            assert sizes[0] < 300_000, "curves are to be thinned out"


@pytest.mark.slow
def test_the_report_as_a_whole(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "This section is missing" not in page
    assert '<span class="verdict ' not in page, "a quick run has no verdicts"
    assert all(_section(folder, name).claims for name in EXPERIMENTS if name not in _TABLES_ONLY)
    for path in (folder / "data").iterdir():
        assert path.stem in page
