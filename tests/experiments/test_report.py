"""The report of the experiments: complete, valid, and readable without a network."""

import csv
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("experiments", reason="the experiments are not part of what is installed")

from experiments.report import figures, style
from experiments.report.content import Claim, Data, Picture, Section, Table
from experiments.report.figures import EmptyPartError
from experiments.report.forms import markup
from experiments.report.parts import cell_text, number_columns
from experiments.report.writing import Report, write
from tools.doubles import fake_experiment

_VOID = {"meta", "link", "br", "hr", "img"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class _Page(HTMLParser):
    """Checks that tags are closed in order, and gathers what the tests ask for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    def attributes(self, name: str) -> list[str]:
        return [found[name] for _, found in self.tags if name in found]


def _sections() -> list[Section]:
    results = {job.name: job.function(**job.arguments) for job in fake_experiment.jobs(None)}
    first = fake_experiment.section(None, results)
    # The same figure under another name: its ids must not clash.
    again = [replace(part, name=f"{part.name}-again") for part in first.parts]
    return [first, replace(first, parts=again, claims=())]


@pytest.fixture(scope="module")
def sections() -> list[Section]:
    """Return the same sections for all tests: drawing takes time."""
    return _sections()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, sections: list[Section]) -> Path:
    """Write a report, with characters that mean something in HTML."""
    out = tmp_path_factory.mktemp("report")
    write(Report("Kernels < budgets & more", ["Read *this*."], sections), out)
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> _Page:
    """Parse the page."""
    return _Page((folder / "report.html").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_all_files_are_there_and_none_is_empty(folder: Path, sections: list[Section]) -> None:
    names = {part.name: part for section in sections for part in section.parts}
    expected = {"report.html", "report.md", "data/claims.csv"}
    expected |= {f"data/{name}.csv" for name in names}
    expected |= {
        f"figures/{name}.{kind}"
        for name, part in names.items()
        if isinstance(part, Picture)
        for kind in ("svg", "png")
    }
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert set(files) == expected
    assert all(path.stat().st_size > 100 for path in files.values())
    assert all(path.stat().st_size < 300_000 for path in folder.glob("figures/*"))


def test_the_numbers_are_those_behind_the_parts(folder: Path, sections: list[Section]) -> None:
    for section in sections:
        for part in section.parts:
            with (folder / "data" / f"{part.name}.csv").open(encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            assert head == list(part.data.columns)
            assert rows == [[str(cell) for cell in row] for row in part.data.rows]


def test_the_page_is_valid_and_complete(page: _Page, sections: list[Section]) -> None:
    ids = Counter(page.attributes("id"))
    assert max(ids.values()) == 1, ids.most_common(3)
    targets = [link[1:] for link in page.attributes("href") if link.startswith("#")]
    targets += re.findall(r"url\(#([^)]+)\)", " ".join(page.attributes("clip-path")))
    targets += [link[1:] for link in page.attributes("xlink:href") if link.startswith("#")]
    assert len(targets) > 20
    assert set(targets) <= set(ids)
    for section in sections:
        for part in section.parts:
            kind = "table" if isinstance(part, Table) else "figure"
            assert f"{kind}-{part.name}" in ids
    text = "".join(page.texts)
    assert "Figure 1. Test accuracy" in text
    assert "Table 2. Accuracy" in text, "the claims have no number, so that Table 1 is the paper's"
    assert "<script>alert(1)</script> is only text" in text
    assert ("html", {"lang": "en"}) in page.tags
    assert "script" not in {tag for tag, _ in page.tags}
    drawings = [found for tag, found in page.tags if tag == "svg"]
    assert len(drawings) == 2
    assert all(found["role"] == "img" and found["aria-label"] for found in drawings)


def test_links_to_files_lead_to_them(page: _Page, folder: Path) -> None:
    links = [link for link in page.attributes("href") if not re.match(r"#|https?:|data:", link)]
    assert len(links) == 9
    assert all((folder / link).is_file() for link in links)
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", markdown)
    assert len(links) == 9
    assert all((folder / link).is_file() for link in links)


def test_nothing_is_loaded_from_elsewhere(page: _Page, folder: Path) -> None:
    loaded = [found["src"] for _, found in page.tags if "src" in found]
    loaded += [found["href"] for tag, found in page.tags if tag != "a" and "href" in found]
    loaded += page.attributes("xlink:href")
    assert all(re.match(r"#|data:", target) for target in loaded if target), loaded
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)


@pytest.mark.slow
def test_figures_are_valid_and_the_same_every_time(folder: Path, sections: list[Section]) -> None:
    for path in folder.glob("figures/*.svg"):
        assert ET.parse(path).getroot().tag.endswith("svg")
        assert "<dc:date>" not in path.read_text(encoding="utf-8")
    for part in sections[0].parts:
        if isinstance(part, Picture):
            drawing = figures.draw(part)
            assert (folder / "figures" / f"{part.name}.svg").read_text() == drawing.svg
            assert (folder / "figures" / f"{part.name}.png").read_bytes() == drawing.png


def test_claims_are_gathered_with_their_verdicts(page: _Page, folder: Path) -> None:
    verdicts = [found["class"] for _, found in page.tags if "verdict" in found.get("class", "")]
    assert verdicts == [
        "verdict held-in-part",
        "verdict held",
        "verdict did-not-hold",
        "verdict not-tested",
    ]
    with (folder / "data" / "claims.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows][:2] == ["held in part", "held"]
    assert rows[1]["where"] == "lemma 1"
    assert "Of 4 claims: 1 held, 1 held in part, 1 did not hold, 1 not tested." in "".join(
        page.texts
    )


def _table(shown: Data, data: Data, **changes: Any) -> Section:
    texts = {"title": "Title", "caption": "Caption.", **changes}
    return Section("Section", [], [Table(name="some", shown=shown, data=data, **texts)])


def _picture(draw: Any, data: Data) -> Section:
    return Section("Section", [], [Picture("some", "Title", "Caption.", draw, data)])


def _empty_figure() -> Any:
    figure, panels = style.new_figure(2)
    style.draw_band(panels[0], [1, 2], [[None, None]], **style.look("bsca"))
    panels[0].set(title="nothing")
    return figure


_FULL, _NO_ROWS, _NO_VALUES = Data(["a"], [[1]]), Data(["a"], []), Data(["a"], [[None], ["–"]])


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (_table(_NO_ROWS, _FULL), "table 'some' is empty"),
        (_table(_NO_VALUES, _FULL), "table 'some' is empty"),
        (_table(_FULL, _NO_ROWS), "CSV file of table 'some' is empty"),
        (_table(_FULL, Data(["a"], [[float("nan")]])), "CSV file of table 'some' is empty"),
        (_table(_FULL, _FULL, caption=" "), "'some' lacks"),
        (_picture(_empty_figure, _FULL), "figure 'some' is empty"),
        (_picture(_empty_figure, _NO_ROWS), "CSV file of figure 'some' is empty"),
    ],
)
def test_what_is_empty_is_an_error(tmp_path: Path, section: Section, message: str) -> None:
    with pytest.raises(EmptyPartError, match=message):
        write(Report("Title", [], [section]), tmp_path)
    assert not list(tmp_path.iterdir())


def test_wrong_rows_and_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has 1 columns, but the row \[1, 2\]"):
        write(Report("Title", [], [_table(_FULL, Data(["a"], [[1, 2]]))]), tmp_path)
    with pytest.raises(ValueError, match="two parts have it"):
        write(Report("Title", [], [_table(_FULL, _FULL)] * 2), tmp_path)


def test_sections_of_the_same_title_have_ids_of_their_own(tmp_path: Path) -> None:
    claim = Claim("It is so.", "section 1", "it is", "held")
    write(Report("T", [], [Section("Same", ["One."], (), [claim]), Section("Same", [])]), tmp_path)
    page = _Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert {"section-same", "section-same-2"} <= set(page.attributes("id"))
    assert max(Counter(page.attributes("id")).values()) == 1


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b* **c** `d*e*`", "a <em>b</em> <strong>c</strong> <code>d*e*</code>"),
        ("2*3*4 and a_b_c", "2*3*4 and a_b_c"),
        ("[x](https://a.b/c?d=1&e)", '<a href="https://a.b/c?d=1&amp;e">x</a>'),
        ("[`x`](#y)", '<a href="#y"><code>x</code></a>'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ('<b> & "', "&lt;b&gt; &amp; &quot;"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
    ],
)
def test_markup(text: str, html: str) -> None:
    assert markup.to_html(text) == html


def test_markup_elsewhere() -> None:
    assert markup.to_plain("*a* [**b**](#c) `d`\n e") == "a b d e"
    assert markup.to_markdown("a < b, `a < b`") == "a &lt; b, `a < b`"
    assert markup.paragraph_to_html("- a\n- *b*") == "<ul><li>a</li><li><em>b</em></li></ul>"


def test_numbers_are_told_from_text() -> None:
    rows = [["ADULT", "85.05 ± 0.04", -1.5, "2⁵", "1 s"], ["IJCNN", "–", None, "**3**", "fast"]]
    assert number_columns(Data("abcde", rows)) == [False, True, True, True, False]
    assert [cell_text(cell) for cell in (12345, -0.5, None, 1234.5678)] == [
        "12,345",
        "−0.5",
        "–",
        "1,235",
    ]


def _console(browser: str, path: Path, profile: Path) -> tuple[str, list[str]]:
    """Open a page where no host can be found; return it and what the console says."""
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
        *("--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"),
        *("--enable-logging=stderr", "--v=0", f"--user-data-dir={profile}"),
        *("--dump-dom", path.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.slow
def test_a_browser_opens_the_page_without_complaints(folder: Path, tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        pytest.skip(f"no browser: none of {', '.join(_BROWSERS)} is installed")
    text, complaints = _console(browser, folder / "report.html", tmp_path / "profile")
    assert complaints == []
    assert "Figure 1. Test accuracy" in text
    assert text.count("<svg") == 2
    # Would we hear of it? The page forbids the browser to load anything, so it complains.
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace("<main>", '<main><img src="https://example.org/x.png">'))
    _, complaints = _console(browser, bad, tmp_path / "profile")
    assert len(complaints) == 1
    assert "https://example.org/x.png" in complaints[0]


@pytest.mark.slow
def test_tables_fit_wide_and_narrow_pages(folder: Path, tmp_path: Path) -> None:
    """A browser looks: no table has to be scrolled, at the width of a screen or of a phone."""
    look_at = pytest.importorskip("report.browser").look_at
    seen, console = look_at(
        {"page": (folder / "report.html").read_text(encoding="utf-8")}, tmp_path
    )
    assert not console
    tags = ("TABLE", "TBODY", "TR", "TD", "TH")
    for one in seen:
        assert one["wide"] == one["width"]
        assert [fault for fault in one["faults"] if fault.split()[0] in tags] == []
