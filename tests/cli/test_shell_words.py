"""Messages on the command line name its options, and not parameters of Python."""

from pathlib import Path

import numpy as np
import pytest

from budgetsvm import cli
from budgetsvm.cli._options.shell_words import in_words_of_the_shell


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        (
            "say target='name', or target=0, or target=-1",
            "say --target name, or --target 0, or --target -1",
        ),
        ("or target=False if none does", "or --unlabelled if none does"),
        ("say format='libsvm', 'csv' or so", "say --format libsvm, 'csv' or so"),
        ("say zero_based=True", "say --zero-based"),
        ("say header=True", "say --header"),
        ("mytarget='x' stays", "mytarget='x' stays"),
    ],
)
def test_words(python: str, shell: str) -> None:
    assert in_words_of_the_shell(python) == shell


def test_messages_of_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, numbers = tmp_path / "table.csv", tmp_path / "numbers"
    table.write_text("a,b\n1,2\n")
    numbers.write_text("{\n")
    for path in (table, numbers):
        assert cli.main(["train", str(path), str(tmp_path / "model")]) == 1
        said = capsys.readouterr().err
        assert "--target" in said or "--format" in said
        assert "target=" not in said
        assert "format=" not in said


def test_epsilon_is_named_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    data.write_text("100 1:1\n200 1:2\n")
    assert cli.main(["train", "-s", "3", "-p", "-1", str(data), str(tmp_path / "model")]) == 1
    assert "-1" in capsys.readouterr().err


def test_no_label_is_minus_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, model = tmp_path / "data", tmp_path / "model"
    rows = np.random.default_rng(0).standard_normal(40)
    data.write_text("".join(f"{'-0' if x > 0 else 1} 1:{x}\n" for x in rows))
    assert cli.main(["train", "-q", str(data), str(model)]) == 0
    assert cli.main(["predict", "-q", str(data), str(model)]) == 0
    assert set(capsys.readouterr().out.split()) == {"0", "1"}


NAMES = "a,b,y\n"
LINES = "".join(f"{i % 7}.5,{i % 5},{i % 2}\n" for i in range(40))


def test_columns_without_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no option that chooses columns: what a shell has is said."""
    data, model = tmp_path / "data.csv", tmp_path / "model"
    data.write_text(f",{NAMES}" + "".join(f"{i},{line}\n" for i, line in enumerate(LINES.split())))
    for words in (
        ["train", "--target", "y", str(data), str(model)],
        ["cv", "--target", "y", str(data)],
    ):
        assert cli.main(words) == 1
        said = capsys.readouterr().err
        assert "column 0 of" in said
        assert "write the file without it (pandas: to_csv(..., index=False))" in said
        assert "features=" not in said


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "data.csv").write_text(NAMES + LINES)
    found = str(tmp_path / "model")
    assert cli.main(["train", "-q", "--target", "y", str(tmp_path / "data.csv"), found]) == 0
    return found


@pytest.mark.parametrize("text", ["", "\n\n", "a,b\n", NAMES, "b,a\n"])
def test_there_are_no_labels_in_an_empty_file(
    text: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text(text)
    assert cli.main(["predict", str(tmp_path / "rows.csv"), model]) == 1
    assert capsys.readouterr().err.rstrip().endswith("rows.csv is empty: it holds no rows")


@pytest.mark.parametrize(
    ("text", "said"), [("a,a\n1,2\n", "more than one"), ("b,c\n1,2\n", "(features)")]
)
def test_labels_are_named_where_columns_differ(
    text: str, said: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows.csv").write_text(text)
    assert cli.main(["predict", str(tmp_path / "rows.csv"), model]) == 1
    found = capsys.readouterr().err
    assert said in found
    assert ("--target" in found) == (said == "(features)")


@pytest.mark.filterwarnings("ignore:20000 different numbers", "ignore:The number of unique")
def test_thousands_of_numbers_as_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, model = tmp_path / "houses.csv", tmp_path / "model"
    lines = "".join(f"{i % 7}.5,{100 * i}\n" for i in range(20_000))
    data.write_text(f"a,Sale Price\n{lines}")
    assert cli.main(["train", "--target", "Sale Price", str(data), str(model)]) == 1
    said = capsys.readouterr().err
    assert "20,000 classes are 199,990,000 pairs" in said
    assert "say -s 3" in said.splitlines()[-1]
    assert "multi_class" not in said
