"""Data sets by name."""

import os
import warnings
from pathlib import Path
from typing import Literal

from budgetsvm._common.checks import check_choice
from budgetsvm._common.files.complete import cache_folder
from budgetsvm._common.public import public_in
from budgetsvm.datasets._catalogue import find_entry, known_names
from budgetsvm.datasets._dataset import Dataset, assemble
from budgetsvm.datasets._entry import Entry
from budgetsvm.datasets._obtain import Places

_LIBSVM_PAGE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


@public_in("budgetsvm.datasets")
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


@public_in("budgetsvm.datasets")
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
    into the user's cache folder. The arrays are kept there, too, until the file changes.

    Parameters
    ----------
    name : str
        One of :func:`names`, in upper or lower case, with ``-`` or ``_``.
    folder : str or path-like, default=None
        A folder with LIBSVM files under the names of the data page (a9a, a9a.t, ijcnn1, ...), plain or with
        .gz, .bz2, .xz or .zst. None means the one that the environment variable BUDGETSVM_DATA names, if any.
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
        Training and test rows, notes on where they come from, and values of C and gamma that suit them.

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
    return assemble(entry, places, scaling, form)


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
