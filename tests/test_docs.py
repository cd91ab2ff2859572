"""The examples in the documentation run, and say what they show."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
WITH_EXAMPLES = sorted(path.name for path in DOCS.glob("*.md") if ">>> " in path.read_text("utf-8"))


def test_there_are_examples() -> None:
    assert "guide.md" in WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    result = doctest.testfile(str(DOCS / name), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
