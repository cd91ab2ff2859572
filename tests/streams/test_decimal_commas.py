"""CSV files whose numbers have a comma before the decimals, as spreadsheets write them in half of the world."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tools.files import join, write

from budgetsvm import cli
from budgetsvm.streams import read_blocks

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(40, 3)) * [1, 1e9, 1e-9], columns=["a,b", "c.d", "e"])
FRAME["y"] = RNG.normal(size=40)
WORDS = FRAME.assign(y=np.where(FRAME["y"] > 0, "3,5 or more", "less; or 1.000"))


@pytest.mark.parametrize("mark", [None, ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("features", [None, [2, 0]])
@pytest.mark.parametrize("frame", [FRAME, WORDS], ids=["numbers", "strings"])
def test_what_pandas_wrote(tmp_path, mark, header, features, frame):
    text = frame.to_csv(index=False, header=header, sep=mark or ";", decimal=",")
    path = write(tmp_path / "a.csv", text)
    blocks = read_blocks(path, target=3, features=features, decimal=",", delimiter=mark)
    values, labels = join(blocks)
    assert_array_equal(values, FRAME.to_numpy()[:, features or [0, 1, 2]])
    assert_array_equal(labels, frame["y"])
    if header:
        assert blocks.feature_names == [["a,b", "c.d", "e"][k] for k in features or [0, 1, 2]]


def test_values_in_quotation_marks(tmp_path):
    path = write(tmp_path / "a.tsv", '"1,5"\t"-2,25"\t"a,b"\n3\t"4e-1"\tc.d\n')
    values, labels = join(read_blocks(path, target=2, decimal=","))
    assert_array_equal(values, [[1.5, -2.25], [3, 0.4]])
    assert labels.tolist() == ["a,b", "c.d"]


@pytest.mark.parametrize(
    "value", ["1.5", "1.234,5", "1,234,5", "1.234", "1 234,5", "1'234,5", "−5,5"]
)
def test_points_are_no_decimals_then(tmp_path, value):
    path = write(tmp_path / "a.csv", f"x;y\n1;1\n{value};1\n")
    with pytest.raises(ValueError, match=rf"line 3, column 'x': the value .{value}. .* no points"):
        list(read_blocks(path, target="y", decimal=","))


def test_numbers_with_points_are_no_words(tmp_path):
    """Unless somebody says so."""
    path = write(tmp_path / "a.csv", "x;y\n1;1.000\n2;2.000\n")
    with pytest.raises(ValueError, match=r"line 2, column 'y': the label '1.000' is not a number"):
        list(read_blocks(path, target="y", decimal=","))
    labels = join(read_blocks(path, target="y", decimal=",", labels="string"))[1]
    assert labels.tolist() == ["1.000", "2.000"]


def test_a_first_line_for_spreadsheets(tmp_path):
    path = write(tmp_path / "a.csv", "sep=;\nx;y\n1,5;1\n")
    with pytest.raises(ValueError, match="begins with a line for spreadsheets"):
        read_blocks(path, target="y", decimal=",")


@pytest.mark.parametrize("options", [{"decimal": ","}, {"delimiter": ";"}])
def test_who_says_how_a_table_is_written_has_a_table(tmp_path, options):
    """Whatever its name, as of standard input."""
    path = write(tmp_path / "table", "x;y\n1;1\n2;0\n")
    assert join(read_blocks(path, target="y", **options))[0].tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="cannot tell the format"):
        read_blocks(path, target="y")


def test_labels_that_double_precision_does_not_have(tmp_path):
    path = write(tmp_path / "a.csv", f"x;y\n1,5;1\n2,5;{2**53 + 1}\n")
    with pytest.raises(ValueError, match="line 3, column 'y'"):
        list(read_blocks(path, target="y", decimal=","))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "decimal must be one of"),
        ({"decimal": ",", "delimiter": ","}, "cannot be told from numbers"),
        ({"decimal": ",", "delimiter": "."}, "cannot be told from numbers"),
    ],
)
def test_bad_options(tmp_path, options, message):
    path = write(tmp_path / "a.csv", "x;y\n1;1\n")
    with pytest.raises(ValueError, match=message):
        read_blocks(path, target="y", **options)


def test_other_formats_have_no_such_thing(tmp_path):
    path = write(tmp_path / "a.libsvm", "1 1:2\n")
    with pytest.raises(ValueError, match="decimal=',' is for csv files"):
        read_blocks(path, decimal=",")


@pytest.mark.parametrize("header", ["", "x;y;z\n"])
@pytest.mark.parametrize("rows", ["1,5;2,5;3\n2,5;1,5;4\n", "1;2,5;3\n2,5;1,5;4\n", "1;2;3\n"])
def test_who_says_nothing_of_semicolons_is_told(tmp_path, header, rows):
    path = write(tmp_path / "a.csv", header + rows)
    for target in (0, 2, -1):
        message = r"is ';' the delimiter\? Then say delimiter=';', and decimal=',' if"
        with pytest.raises(ValueError, match=message):
            list(read_blocks(path, target=target))


def test_on_the_command_line(tmp_path, capsys):
    path = write(tmp_path / "a.csv", WORDS.to_csv(index=False, sep=";", decimal=","))
    model = str(tmp_path / "a.bsvm")
    table = ["--target", "y", "--decimal", ","]
    assert cli.main(["train", "-q", *table, "--scale", "standard", str(path), model]) == 0
    assert cli.main(["evaluate", *table, str(path), model]) == 0
    assert "accuracy" in capsys.readouterr().out
    assert cli.main(["train", "-q", "--target", "y", "--delimiter", ";", str(path), model]) == 1
    assert "say --decimal ','" in capsys.readouterr().err


def test_targets_of_a_regression_are_numbers(tmp_path, capsys):
    """On the command line, too, which would take them for labels."""
    path = write(tmp_path / "a.csv", "x;y\n1;5.867,00\n2;1.000,00\n")
    table = ["--target", "y", "--decimal", ",", "-s", "3", str(path)]
    for command in (["train"], ["cv"], ["cv", "--grid"]):
        assert cli.main([*command, *table]) == 1
        said = capsys.readouterr().err
        assert "line 2, column 'y': the label '5.867,00' is not a number" in said
        assert "labels=" not in said


def test_tabs_have_a_name(tmp_path):
    path = write(tmp_path / "a.csv", "x\ty\n1\tno\n2\tyes\n")
    for mark in ("\\t", "tab", "\t"):
        words = ["--delimiter", mark, "--target", "y", str(path), str(tmp_path / "a.bsvm")]
        assert cli.main(["train", "-q", *words]) == 0
