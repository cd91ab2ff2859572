"""Read files in blocks: checks what is asked for, and chooses the reader of the format."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from budgetsvm._common.checks import check_choice, check_integer
from budgetsvm._common.public import public_in
from budgetsvm.streams._blocks import Blocks
from budgetsvm.streams._csv import CsvBlocks
from budgetsvm.streams._find_files import PathLike, find_files, find_format
from budgetsvm.streams._libsvm.blocks import LibsvmBlocks
from budgetsvm.streams._numpy.blocks import NumpyBlocks
from budgetsvm.streams._parquet import ParquetBlocks
from budgetsvm.streams._table_columns import Column, Target

_READERS: dict[str, Callable[..., Blocks]] = {
    "libsvm": LibsvmBlocks,
    "csv": CsvBlocks,
    "parquet": ParquetBlocks,
    "arrow": ParquetBlocks,
    "numpy": NumpyBlocks,
}
_OPTIONS = {
    "libsvm": ("zero_based",),
    "csv": ("target", "features", "header", "delimiter", "decimal", "labels"),
    "parquet": ("target", "features"),
    "arrow": ("target", "features"),
    "numpy": ("target", "y"),
}
_DEFAULTS = {"header": "auto", "decimal": ".", "labels": "auto", "zero_based": "auto"}


@public_in("budgetsvm.streams")
def read_blocks(
    path: PathLike | Iterable[PathLike],
    *,
    rows: int = 8192,
    n_features: int | None = None,
    format: Literal["auto", "libsvm", "csv", "parquet", "arrow", "numpy"] = "auto",
    target: Target = None,
    features: Iterable[Column] | None = None,
    header: bool | Literal["auto"] = "auto",
    delimiter: str | None = None,
    decimal: Literal[".", ","] = ".",
    labels: Literal["auto", "number", "string"] = "auto",
    y: PathLike | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Blocks:
    """Read files in blocks of rows ``(X, y)``.

    Parameters
    ----------
    path : str, path-like, or iterable of these
        A file; a folder, meaning all files in it in the order of their names, but for hidden ones and
        those that begin with an underscore; a pattern such as ``"data/part-*.csv.gz"``; or a list of
        these. Blocks run on from file to file; files without rows are skipped as long as one has some.
    rows : int, default=8192
        The largest number of rows in a block. All blocks but the last have as many, unless rows are so
        wide that a block would exceed 16 MiB of text (or of numbers, from Parquet).
    n_features : int, default=None
        Number of columns of X. LIBSVM files do not say it: if it is None, they are read once more, at
        the start of the first pass, to find the largest index. In tables it is merely checked.
    format : {"auto", "libsvm", "csv", "parquet", "arrow", "numpy"}, default="auto"
        "auto" goes by the names: .libsvm, .svm, .svmlight; .csv, .tsv, each of these possibly followed by .gz,
        .bz2, .xz or .zst; .parquet, .pq; .arrow, .feather; .npy, .npz. Files of other names go by how they begin: a first
        row with commas is one of CSV.
    target : str, int or False, default=None
        The column with the labels in CSV and Parquet files, by name or by number (0 is the first, -1
        the last). It must be given: some programs expect the labels in the first column and some in the
        last, and a wrong guess would go unnoticed; False says that there are none. Of NumPy files it is the number of a column, or the name of an
        array in an .npz file; by default that is ``"y"``, and files without it are rows without labels.
    features : iterable of str or int, default=None
        The columns with the features in CSV and Parquet files, in this order. None means all but the
        target, and but the index that pandas writes to Parquet files: it does not count as a column there unless
        it is asked for by name.
    header : bool or "auto", default="auto"
        Whether CSV files begin with a row of names; several files must have the same. "auto" takes the
        first row for names if columns are asked for by name, if it has no numbers, or if it has a word
        where the second row has a number. Names that are all numbers go unnoticed: say True.
    delimiter : str, default=None
        What stands between the values of a CSV file. None means a tab for .tsv and a comma otherwise, or a semicolon
        if numbers have commas.
    decimal : {".", ","}, default="."
        What stands before the decimals of numbers in CSV files.
    labels : {"auto", "number", "string"}, default="auto"
        Whether the labels of CSV files are numbers; "auto" goes by the first row. (Parquet files know.)
    y : str or path-like, default=None
        A .npy file with the labels of all rows of NumPy files, where those have none.
    zero_based : bool or "auto", default="auto"
        Whether the indices in LIBSVM files count from 0 rather than from 1. "auto" means that they do if an
        index of 0 is seen when the files are read for their number of features; if that is given, it means
        False.

    Returns
    -------
    blocks : Blocks
        An iterable of pairs ``(X, y)``, to be used as often as you like; `n_features` is the number of
        columns. X is a CSR matrix in canonical format for LIBSVM files, as ``load_svmlight_file`` of
        scikit-learn returns it, and a dense array for tables; finite, and float64, or float32 where a NumPy
        file has that. y has dtype float64, or holds strings; it is None where there are no labels.

    Raises
    ------
    ValueError
        Where files hold something else than finite numbers; the message names file, line and column.
        Most of it can only be found when that block is read.
    OSError
        Where a file is missing, or a compressed or Parquet file is damaged or cut off.
    ImportError
        If pyarrow is needed and missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.csv")
    ...     _ = path.write_text("width,length,kind\\n3.5,1.4,setosa\\n3.2,4.7,versicolor\\n")
    ...     for X, y in read_blocks(path, target="kind"):
    ...         print(X, y)
    [[3.5 1.4]
     [3.2 4.7]] ['setosa' 'versicolor']
    """
    options = {
        "target": target,
        "features": _as_list(features),
        "header": header,
        "delimiter": delimiter,
        "decimal": decimal,
        "labels": labels,
        "y": None if y is None else find_files(y)[0],
        "zero_based": zero_based,
    }
    rows = check_integer("rows", rows, least=1)
    if n_features is not None:
        n_features = check_integer("n_features", n_features, least=1)
    check_choice("format", format, ("auto", *_READERS))
    _check_values(options)
    paths = find_files(path)
    of_csv = delimiter is not None or decimal != "."
    kind = find_format(paths, "csv" if of_csv else None) if format == "auto" else format
    _check_meant_for(kind, options)
    chosen = {name: options[name] for name in _OPTIONS[kind]}
    return _READERS[kind](paths, rows, n_features=n_features, **chosen)


def _as_list(features: Iterable[Column] | None) -> list[Column] | None:
    if features is None:
        return None
    if isinstance(features, (str, int)):
        message = f"features must be a list of columns, not {features!r}: say [{features!r}]"
        raise TypeError(message)
    return list(features)


def _check_values(options: dict[str, Any]) -> None:
    """Raise an error if an option makes no sense in any format."""
    check_choice("labels", options["labels"], ("auto", "number", "string"))
    check_choice("decimal", options["decimal"], (".", ","))
    for name in ("header", "zero_based"):
        if options[name] != "auto" and not isinstance(options[name], bool):
            message = f'{name} must be True, False or "auto", not {options[name]!r}'
            raise ValueError(message)
    delimiter = options["delimiter"]
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        message = f"delimiter must be a single character, not {delimiter!r}"
        raise ValueError(message)
    if options["decimal"] == "," and delimiter in (",", "."):
        message = f"delimiter={delimiter!r} cannot be told from numbers with decimal=','"
        raise ValueError(message)


def _check_meant_for(kind: str, options: dict[str, Any]) -> None:
    """Raise a ValueError if an option is set that the format does not have."""
    for name, value in options.items():
        if name not in _OPTIONS[kind] and value != _DEFAULTS.get(name):
            *some, last = (each for each in _OPTIONS if name in _OPTIONS[each])
            meant = f"{', '.join(some)} and {last}" if some else last
            message = f"{name}={value!r} is for {meant} files, and these are {kind}: leave it out"
            raise ValueError(message)
