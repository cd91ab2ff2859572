"""Tables with columns of words: whatever a model was not trained on does not matter."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetsvm import cli


def _write(path: str, columns: dict[str, Any]) -> None:
    if path.endswith(".parquet"):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(columns), path)
        return
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_predict_takes_the_columns_it_knows(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words in other columns, the labels among them, are no obstacle, with --target or without."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 2))
    words = np.where(X[:, 0] > 0, "right", "left")
    data, other = f"data.{suffix}", f"other.{suffix}"
    _write(data, {"a": X[:, 0], "b": X[:, 1], "side": words})
    _write(other, {"name": ["row"] * 60, "side": words, "b": X[:, 1], "a": X[:, 0]})
    assert cli.main(["train", "-q", "-B", "20", "--target", "side", data, "model"]) == 0
    said = []
    for path in (data, other):
        assert cli.main(["predict", "-q", path, "model"]) == 0
        said.append(capsys.readouterr().out)
    assert cli.main(["predict", "--target", "side", other, "model", "out"]) == 0
    assert "Accuracy = 9" in capsys.readouterr().out
    assert said[0] == said[1] == Path("out").read_text()
    assert set(said[0].split()) == {"left", "right"}
