"""The usual data sets, by name: from a folder, or from the LIBSVM data page.

>>> from budgetsvm import datasets
>>> datasets.names()[:5]
['adult', 'ijcnn', 'cod-rna', 'covtype', 'susy']

These five are those of *Dual SVM Training on a Budget*; the others are for many classes, for regression and for
novelty detection. :func:`load` finds their files, reads, splits and scales them, and keeps the arrays in a cache.
"""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_choice
from budgetsvm._common.files import cache_folder
from budgetsvm.datasets._catalogue import Entry, find_entry, known_names
from budgetsvm.datasets._obtain import Found, Places, obtain
from budgetsvm.datasets._prepare import (
    Parts,
    in_form,
    is_mostly_zero,
    scale,
    split_fifth,
    split_last_tenth,
)

__all__ = ["Dataset", "load", "names"]

_LIBSVM_PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_SPLITS = {
    "file": "a file with test rows",
    "fifth": "no test file: a fifth of the rows at random, by numpy.random.default_rng(0)",
    "last tenth": "no test file: the last tenth of the rows",
}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Training and test rows, ready to use. Made by :func:`load`.

    Attributes
    ----------
    name : str
        The name of the data set.
    X, X_test : ndarray or csr_array of shape (n_rows, n_features)
        Training and test rows, of dtype float64.
    y, y_test : ndarray of shape (n_rows,)
        Their labels or, for regression, targets, as they are in the files.
    notes : dict
        What is to be known about the data, ready for ``json.dump``: `name`, `files` (of each the name, the number of
        rows, the SHA-256 of the unpacked text and whether it is `verified`), `rows`, `test_rows`, `features`,
        `scaling`, `split`, `subset` (None, or which part of what it is) and `verified` (True if the checksums of
        all files are those of the LIBSVM data page, False if one is not, None if that of one is not known).
    """

    name: str
    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    notes: dict[str, Any]

    def __repr__(self) -> str:
        rows = f"{len(self.y)} + {len(self.y_test)} rows"
        return f"<data set {self.name}: {rows} of {self.X.shape[1]} features>"


def names() -> list[str]:
    """Return the names of all data sets.

    Returns
    -------
    names : list of str
        Those of the paper first, then more for two classes, many classes, and regression. All but
        "usps-esl" and "fashion-mnist-10k" are on the LIBSVM data page.

    Examples
    --------
    >>> from budgetsvm import datasets
    >>> "cod-rna" in datasets.names()
    True
    """
    return known_names()


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    download: bool = True,
    scaling: Literal["default", "none", "range", "standard"] = "default",
    form: Literal["auto", "dense", "sparse"] = "auto",
    allow_subset: bool = True,
    base_url: str | None = None,
) -> Dataset:
    """Load a data set by its name.

    Files are looked for in `folder`, then among those that were downloaded before. What is missing is downloaded
    into the user's cache folder; a download that was cut off goes on from there. The arrays are kept there, too,
    until the file changes.

    Parameters
    ----------
    name : str
        One of :func:`names`, in upper or lower case, with ``-`` or ``_``.
    folder : str or path-like, default=None
        A folder with LIBSVM files under the names of the data page (a9a, a9a.t, ijcnn1, ...), plain or with
        .gz, .bz2 or .xz. None means the one that the environment variable BUDGETSVM_DATA names, if any.
    download : bool, default=True
        Whether to download what is missing.
    scaling : {"default", "none", "range", "standard"}, default="default"
        How to scale the features, by what the training rows show: "range" to [0, 1], "standard" to mean 0 and
        variance 1. "default" is "range" for cod-rna and pendigits, "standard" for susy and for regression, a division
        by 255 for fashion-mnist-10k, and "none" for the others, most of which are scaled in the files.
    form : {"auto", "dense", "sparse"}, default="auto"
        Whether X and X_test are dense arrays or CSR arrays. "auto" is CSR if under a fifth of the
        training entries are not zero.
    allow_subset : bool, default=True
        Whether to take a subset, with a warning, where that is at hand and the whole is not. There is one for
        susy: a file SUSY.subset41k of 40,924 rows.
    base_url : str, default=None
        Where to download from, in place of the LIBSVM data page: the address above the folders binary, multiclass and
        regression. None means the one in the environment variable BUDGETSVM_DATA_URL, if any.

    Returns
    -------
    data : Dataset
        Training and test rows, and notes on where they come from.

    Raises
    ------
    ValueError
        If there is no data set of this name, or a file is no LIBSVM file.
    FileNotFoundError
        If a file is missing and cannot or must not be downloaded.
    OSError
        If a download fails, or brings something else than it should.

    Notes
    -----
    Test rows come from a file of their own where there is one. Otherwise a fifth of all rows is drawn at random,
    always the same; of susy, the last tenth.

    The SHA-256 of the text of most files is known, and a download with another one is refused. These checksums
    were not taken from the page itself but from copies: those of adult, ijcnn, cod-rna, mushrooms and usps.t agree
    with checksums of the page's files that others have published, those of letter, pendigits, satimage and abalone
    rest on one copy. Nothing is known of covtype, susy, usps (training rows), cadata and cpusmall. Of these, the
    numbers of rows and features are checked, and the checksum found at the download is written beside the file, as
    NAME.sha256, and compared from then on: that finds damage, but cannot tell whether the download was right. A file
    in a folder of yours is used whatever it holds; `notes` says whether it is verified.

    Examples
    --------
    A folder with two small files in the place of ADULT:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from budgetsvm import datasets
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a9a").write_text("+1 3:1 11:1\\n-1 5:1 7:1\\n-1 5:1 123:1\\n")
    ...     _ = Path(folder, "a9a.t").write_text("-1 5:1 11:1\\n")
    ...     data = datasets.load("adult", folder=folder)
    >>> data
    <data set adult: 3 + 1 rows of 123 features>
    >>> data.X.nnz, data.y, data.notes["verified"]
    (6, array([ 1., -1., -1.]), False)
    """
    entry = find_entry(name)
    check_choice("scaling", scaling, ("default", "none", "range", "standard"))
    check_choice("form", form, ("auto", "dense", "sparse"))
    address = base_url or os.environ.get("BUDGETSVM_DATA_URL") or _LIBSVM_PAGE
    places = Places(_find_folder(folder), cache_folder("datasets"), address, download)
    if allow_subset:
        entry = _at_hand(entry, places)
    train = obtain(entry.train, entry.n_features, places)
    test = None if entry.test is None else obtain(entry.test, entry.n_features, places)
    X, y, X_test, y_test = _split(entry, train, test)
    chosen = entry.scaling if scaling == "default" else scaling
    X, X_test = scale(X, X_test, chosen)
    if form == "auto":
        form = "sparse" if is_mostly_zero(X) else "dense"
    notes = {
        "name": entry.name,
        **_notes_on_files([train] if test is None else [train, test]),
        "rows": len(y),
        "test_rows": len(y_test),
        "features": entry.n_features,
        "scaling": chosen,
        "split": _SPLITS[entry.split],
    }
    return Dataset(entry.name, in_form(X, form), y, in_form(X_test, form), y_test, notes)


def _find_folder(folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the user's folder, if one is meant."""
    meant = folder if folder is not None else os.environ.get("BUDGETSVM_DATA")
    if not meant:
        return None
    if not Path(meant).is_dir():
        message = (
            f"the data folder {os.fspath(meant)!r} does not exist; name another one by folder= or by "
            "the environment variable BUDGETSVM_DATA, or none"
        )
        raise FileNotFoundError(message)
    return Path(meant)


def _at_hand(entry: Entry, places: Places) -> Entry:
    """Return the data set, or its subset if only that is at hand."""
    subset = entry.subset
    if subset is None or places.find(entry.train.name) is not None:
        return entry
    if places.find(subset.train.name) is None:
        return entry
    message = (
        f"{subset.train.name} stands in for {entry.train.name}: {subset.train.rows:,} of "
        f"{entry.train.rows:,} rows. With allow_subset=False, {entry.train.name} is downloaded"
    )
    warnings.warn(message, stacklevel=3)
    return subset


def _split(entry: Entry, train: Found, test: Found | None) -> Parts:
    X, y = train.table.X, train.table.y
    if test is not None:
        return X, y, test.table.X, test.table.y
    return split_last_tenth(X, y) if entry.split == "last tenth" else split_fifth(X, y)


def _notes_on_files(found: list[Found]) -> dict[str, Any]:
    files = [
        {
            "name": each.path.name,
            "rows": len(each.table.y),
            "sha256": each.table.sha256,
            "verified": each.verified,
        }
        for each in found
    ]
    verdicts = {each.verified for each in found}
    verified = False if False in verdicts else None if None in verdicts else True
    subset = "; ".join(filter(None, map(_missing_rows, found))) or None
    return {"files": files, "subset": subset, "verified": verified}


def _missing_rows(found: Found) -> str | None:
    """Say what a file is a part of, if it is one."""
    whole, rows = found.file.whole or (found.file.name, found.file.rows)
    if len(found.table.y) == rows:
        return None
    return f"{found.path.name}: {len(found.table.y):,} rows, where {whole} has {rows:,}"
