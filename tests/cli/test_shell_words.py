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
