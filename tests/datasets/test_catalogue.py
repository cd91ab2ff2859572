"""The catalogue: complete, and the only place where data sets are listed with what suits them."""

from pathlib import Path

import pytest
from tools.files import write

from budgetsvm import datasets
from budgetsvm.datasets._catalogue import ENTRIES, find_entry


def test_the_catalogue() -> None:
    assert datasets.names()[:5] == ["adult", "ijcnn", "cod-rna", "covtype", "susy"]
    assert len(set(datasets.names())) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.name == entry.name.lower()
        assert (entry.test is not None) == (entry.split == "file")
        for file in (entry.train, entry.test):
            if file is not None:
                assert all(len(bytes.fromhex(digits)) == 32 for digits in file.sha256)
                assert file.remote is None or Path(file.remote).name.startswith(file.name)


#: C and gamma of the paper.
PAPER = {
    "adult": (2.0**5, 2.0**-7),
    "ijcnn": (2.0**5, 2.0),
    "cod-rna": (2.0**5, 2.0**-3),
    "covtype": (2.0**7, 2.0**-3),
    "susy": (2.0**5, 2.0**-7),
}


def test_what_suits_an_svm() -> None:
    assert {name: (find_entry(name).C, find_entry(name).gamma) for name in PAPER} == PAPER
    for entry in ENTRIES:
        assert (entry.C is None) == (entry.gamma is None)
        assert (entry.epsilon is not None) == (entry.name in ("abalone", "cadata", "cpusmall"))
        if entry.subset is not None:
            assert (entry.subset.C, entry.subset.gamma) == (entry.C, entry.gamma)


@pytest.mark.parametrize("scaling", ["default", "none", "standard"])
def test_what_suits_other_numbers_is_not_known(folder: Path, scaling: str) -> None:
    data = datasets.load("cod-rna", folder=folder, scaling=scaling)  # type: ignore[arg-type]
    expected = PAPER["cod-rna"] if scaling == "default" else (None, None)
    assert (data.C, data.gamma) == expected
    assert data.epsilon is None


def test_regression_has_an_epsilon(tmp_path: Path) -> None:
    write(tmp_path / "cadata", "1 1:1\n2 1:2\n3 1:3\n4 1:4\n5 1:5\n")
    for scaling in ("default", "standard"):  # which is the same
        data = datasets.load("cadata", folder=tmp_path, scaling=scaling)  # type: ignore[arg-type]
        assert (data.C, data.gamma, data.epsilon) == (8.0, 0.125, 0.25)
