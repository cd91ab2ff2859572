"""A browser shows the pages: nothing on its console, nothing asked for, nothing cut off, wide and narrow."""

from pathlib import Path

import pytest
from report import subjects
from report.browser import find_browser, look_at

from budgetsvm import report

SHOWN = (
    *(subjects.many_classes, subjects.names_that_mean_harm, subjects.regression, subjects.search),
    *(subjects.two_targets, subjects.one_class, subjects.wide_and_sparse, subjects.words),
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory):
    find_browser()
    folder = tmp_path_factory.mktemp("pages")
    pages = {}
    for made in SHOWN:
        path = folder / f"{made.__name__}.html"
        report(*made(), path)
        pages[made.__name__] = path.read_text("utf-8")
    return look_at(pages, folder)


@pytest.mark.slow
def test_the_console_stays_empty(seen) -> None:
    assert seen[1] == []


def test_nothing_is_asked_for(seen) -> None:
    assert [one["asked"] for one in seen[0]] == [[]] * 2 * len(SHOWN)


def test_nothing_is_cut_off(seen) -> None:
    assert {(one["name"], one["width"]): one["faults"] for one in seen[0] if one["faults"]} == {}
    assert all(one["wide"] == one["width"] for one in seen[0])


def test_no_script_came_in(seen) -> None:
    assert all(one["scripts"] == 0 for one in seen[0])
    (evil, _) = (one for one in seen[0] if one["name"] == "names_that_mean_harm")
    assert subjects.EVIL in evil["text"]


def test_what_is_wrong_would_be_seen(tmp_path: Path) -> None:
    """The tests above can fail."""
    bad = {
        "wide": '<body><div style="width:600px">too wide</div>',
        "cut": '<body><p style="width:50px;overflow:hidden;white-space:nowrap">a long line of words</p>',
        "loud": "<body><script>console.error('I am here')</script>",
        "asking": '<body><img src="http://127.0.0.1:1/nowhere.png">',
    }
    found, console = look_at(bad, tmp_path, (400,))
    wide, cut, loud, asking = found
    assert wide["faults"]
    assert wide["wide"] > 400
    assert "is cut off" in cut["faults"][0]
    assert any("I am here" in line for line in console)
    assert loud["scripts"] == 1
    assert asking["asked"] == ["http://127.0.0.1:1/nowhere.png"]
