"""Broken models of LIBSVM: an error that names the line; no crash, and no more memory than a few times the file."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from tools.peers import libsvm

import budgetsvm
from budgetsvm._formats.libsvm import read
from budgetsvm._formats.libsvm.estimators import of_libsvm
from budgetsvm._formats.libsvm.read import read_libsvm

GOOD = """svm_type c_svc
kernel_type polynomial
degree 2
gamma 0.5
coef0 1
nr_class 2
total_sv 3
rho 0.25
label 1 -1
nr_sv 2 1
SV
1 1:0.5 2:-1
0.5 2:3e-1
-1.5 1:.25 4:2.
"""


def test_the_good_one() -> None:
    """Also with the line ends of other systems, and blanks behind the last one."""
    for text in (GOOD, GOOD.replace("\n", "\r\n"), GOOD + " \n ", GOOD.replace(" ", "\t")):
        model = read_libsvm(text.encode(), "a")
        assert model.points.tolist() == [[0.5, -1, 0, 0], [0, 0.3, 0, 0], [0.25, 0, 0, 2]]
        assert model.coef.tolist() == [[1, 0.5, -1.5]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c_svc", "d_svc", "a, line 1: svm_type must be one of c_svc, .*, not 'd_svc'"),
        ("polynomial", "precomputed", "line 2: kernel_type is precomputed"),
        ("polynomial", "spline", "line 2: kernel_type must be one of linear, .*'spline'"),
        ("degree 2", "degree 2.5", "line 3: degree has '2.5' in it, which is no integer"),
        ("degree 2", "degree 0", "kernel_type polynomial cannot be used: degree"),
        ("gamma 0.5", "gamma -1", "cannot be used: gamma"),
        ("gamma 0.5", "gamma nan", "line 4: gamma has 'nan' in it"),
        ("gamma 0.5", "gamma 1e999", "line 4: gamma has a number too large"),
        ("gamma 0.5\n", "", "a: gamma is missing"),
        ("coef0 1", "coef0 1 2", "line 5: coef0 must have 1 numbers, and has 2"),
        ("nr_class 2", "nr_class 1", "line 6: nr_class is 1"),
        ("nr_class 2", "nr_class 999999999", "line 8: rho must have 499999998500000001 numbers"),
        ("total_sv 3", "total_sv 4", "line 10: nr_sv must be .* sum up to 4"),
        ("total_sv 3", "total_sv -3", "line 7: total_sv must be at least 0"),
        ("nr_sv 2 1", "nr_sv 4 -1", "line 10: nr_sv must be"),
        ("label 1 -1", "label 1 1", "line 9: label has a label twice"),
        ("label 1 -1", "label a b", "line 9: label has 'a' in it"),
        ("rho 0.25", "rho 0.25\nrho 1", "line 9: 'rho' stands there twice"),
        ("rho 0.25", "rho 0.25\nrhubarb 1", "line 9: 'rhubarb' is not known"),
        ("SV\n", "", "line 11: '1' is not known"),
        ("-1.5 1:.25 4:2.\n", "", "line 14: there are 2 support vectors, not 3"),
        ("4:2.\n", "4:2.\n1 1:1\n", "line 15: there are more than 3 support vectors"),
        ("0.5 2:3e-1", "2:3e-1", "line 13: a coefficient must stand at '2:3e-1'"),
        ("0.5 2:3e-1", "0.5 2:3e-1x", "line 13: '2:3e-1x' is not index:value"),
        ("0.5 2:3e-1", "0.5 2:inf", "line 13: '2:inf' is not index:value"),
        ("0.5 2:3e-1", "0.5 2:1e999", "line 13: has a number too large"),
        ("0.5 2:3e-1", "1e999 2:1", "line 13: has a number too large"),
        ("0.5 2:3e-1", "0.5 0:3", "line 13: the index 0 stands where it must not"),
        ("1:.25 4:2.", "4:.25 1:2.", "line 14: the index 1 stands where it must not"),
        ("1:.25 4:2.", "1:.25 1:2.", "line 14: the index 1 stands"),
        ("4:2.", "9999999999:2.", "line 14: the index 9999999999 stands"),
        ("4:2.", "99999999999:2.", "line 14: '99999999999:2.' is not index:value"),
        ("4:2.", "4:1e200", "has values too large for their squares"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(ValueError, match=message):
        of_libsvm(GOOD.replace(old, new).encode(), "a")


def test_a_file_that_was_cut_off_anywhere_is_refused() -> None:
    """In its last line, too, where what is left may well be a support vector."""
    for size in range(len("svm_type"), len(GOOD)):
        with pytest.raises(ValueError, match=r"^a"):
            of_libsvm(GOOD[:size].encode(), "a")
    with pytest.raises(ValueError, match="line 14: the file ends within the line, and was cut off"):
        of_libsvm(GOOD.removesuffix("\n").encode(), "a")


def test_what_would_take_many_times_the_memory_of_the_file() -> None:
    """Vectors are sparse where that pays, so that it takes some: one that is full, and many that are not."""
    full = " ".join(f"{k}:1" for k in range(1, 1201))
    text = GOOD.replace("-1.5 1:.25 4:2.\n", f"-1.5 {full}\n" + "1 1:1\n" * 9997)
    text = text.replace("total_sv 3", "total_sv 10000").replace("nr_sv 2 1", "nr_sv 2 9998")
    with pytest.raises(ValueError, match=r"features up to 1200 .* if it is not broken, say n_"):
        read_libsvm(text.encode(), "a")
    assert read_libsvm(text.encode(), "a", 1200).points.shape == (10_000, 1200)


def test_too_few_features() -> None:
    with pytest.raises(ValueError, match="features up to 4, and n_features=3"):
        read_libsvm(GOOD.encode(), "a", 3)


def mutated(text: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bytes, cut, repeat or swap pieces."""
    found = bytearray(text)
    for _ in range(rng.integers(1, 4)):
        a, b = sorted(rng.integers(0, len(found) + 1, 2))
        match rng.integers(0, 5):
            case 0 if found:
                found[min(a, len(found) - 1)] = rng.integers(0, 256)
            case 1:
                found[a:a] = rng.choice([b"9", b" ", b"\n", b":", b"-", b"e9", b"99999"])
            case 2:
                del found[a : min(b, a + 20)]
            case 3:
                found[b:b] = found[a : min(b, a + 50)]
            case _:
                del found[a:]
    return bytes(found)


def refusal(text: bytes) -> str | None:
    """Return why a text is no model, or None."""
    try:
        read_libsvm(text, "the file")
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
)
def test_ten_thousand_broken_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """2500 each: read, or refused with the name of the file, in memory of ten times the file."""
    monkeypatch.setattr(read, "SMALL", 0)
    X, y = libsvm.classes(2 + seed % 2, 60)
    options = list(libsvm.KERNELS.values())[seed]
    text = libsvm.train(tmp_path / "a", X, y, options).read_bytes()
    rng, refused = np.random.default_rng(seed), 0
    read_libsvm(text, "the file")  # what is imported or compiled the first time is not counted
    tracemalloc.start()
    for _ in range(2500):
        broken = mutated(text, rng)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        said = refusal(broken)
        refused += said is not None
        assert said is None or "the file" in said
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak <= 10 * len(broken) + 40_000
    tracemalloc.stop()
    assert 1000 < refused < 2500


@pytest.mark.slow
@pytest.mark.parametrize("line", ["1", "1 1:1", "1 1:1 2:1 3:1", "-0.12345678 1:0.12345678"])
def test_memory_of_many_lines(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setattr(read, "SMALL", 0)
    n = 200_000
    head = (
        GOOD.split("SV\n", maxsplit=1)[0]
        .replace("total_sv 3", f"total_sv {n}")
        .replace("nr_sv 2 1", f"nr_sv {n} 0")
    )
    text = (head + "SV\n" + n * f"{line}\n").encode()
    tracemalloc.start()
    said = refusal(text)
    assert said is None or "many times as much as the file" in said  # of lines of two bytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 10 * len(text) + 2_000_000  # and a block of lines


def test_other_files_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for content in (b"", b"1 1:0.5\n", b"svm", b"SV\n", bytes(range(256))):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a model"):
            budgetsvm.load(path)
