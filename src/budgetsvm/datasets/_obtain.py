"""Where the files of a data set come from: a folder of the user, the cache, or the LIBSVM data page."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from budgetsvm._common.files.complete import locked, replacing
from budgetsvm.datasets._download import DownloadError, fetch
from budgetsvm.datasets._entry import DataFile
from budgetsvm.datasets._table_cache import forget_table, keep_table, read_table
from budgetsvm.datasets._tables import Table, parse_table

_SUFFIXES = ("", ".xz", ".gz", ".bz2", ".zst")


@dataclass(frozen=True)
class Found:
    """What a file holds, and whether that is what it should hold."""

    file: DataFile
    path: Path
    table: Table
    verified: bool | None  #: None if it is not known what it should hold


@dataclass(frozen=True)
class Places:
    """Where to look for files."""

    folder: Path | None  #: of the user
    cache: Path  #: for what is downloaded
    base_url: str  #: of the LIBSVM data page, or of a mirror
    download: bool  #: whether files may be downloaded

    def find(self, name: str) -> Path | None:
        """Return the path of a file, plain or compressed, or None."""
        folders = (self.cache,) if self.folder is None else (self.folder, self.cache)
        paths = (find_file(folder, name) for folder in folders)
        return next((path for path in paths if path is not None), None)

    def url(self, file: DataFile) -> str:
        """Return the address of a file."""
        return f"{self.base_url.rstrip('/')}/{file.remote}"

    def target(self, file: DataFile) -> Path:
        """Return where a download is put."""
        return self.cache / PurePosixPath(file.remote or file.name).name

    def by_hand(self, file: DataFile) -> str:
        """Say what helps where downloading does not."""
        into = self.cache if self.folder is None else self.folder
        how = "put it" if file.remote is None else f"download {self.url(file)} by hand"
        return (
            f"{how} into {str(into)!r}, or set BUDGETSVM_DATA to a folder that has {file.name}, "
            "plain or compressed (.gz, .bz2, .xz, .zst)"
        )


def find_file(folder: Path, name: str) -> Path | None:
    """Return the path of a file, plain or compressed, or None."""
    paths = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
    return next((path for path in paths if path.is_file()), None)


def obtain(file: DataFile, n_features: int, places: Places) -> Found:
    """Read a file, wherever it is."""
    path = places.find(file.name)
    if path is None:
        return _download(file, n_features, places)
    downloaded = path == places.target(file)
    recorded = _recorded(path.with_name(f"{file.name}.sha256")) if downloaded else None
    if recorded is None:  # it was put there by hand, and may be anything
        table = read_table(path, n_features)
    else:
        table = _unchanged(path, n_features, recorded)
    return Found(file, path, table, _is_right(table, file))


def _unchanged(path: Path, n_features: int, recorded: str) -> Table:
    """Read what was downloaded before, or remove it if it is not what it was."""
    try:
        table = read_table(path, n_features)
        if table.sha256 == recorded:
            return table
        flaw = f"its SHA-256 is {table.sha256}, not {recorded}"
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's fault, not the file's
        flaw = str(error)
    forget_table(path)
    path.unlink(missing_ok=True)
    message = (
        f"{path} has changed since it was downloaded, and was removed; a new call downloads it again: "
        f"{flaw}"
    )
    raise OSError(message)


def _download(file: DataFile, n_features: int, places: Places) -> Found:
    """Download a file into the cache, verify it, and read it."""
    if file.remote is None:
        message = f"{file.name} is not on the LIBSVM data page: {places.by_hand(file)}"
        raise FileNotFoundError(message)
    if not places.download:
        message = f"{file.name} is not at hand, and download=False: {places.by_hand(file)}"
        raise FileNotFoundError(message)
    path = places.target(file)
    part = path.with_name(f"{path.name}.part")
    with locked(path):
        if not path.is_file():  # nor has another process put it there meanwhile
            try:
                table = _fetch_and_verify(part, file, n_features, places)
                with replacing(path.with_name(f"{file.name}.sha256")) as record:
                    record.write(f"{table.sha256}  {file.name}\n".encode())
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
            keep_table(path, n_features, table)
            return Found(file, path, table, _is_right(table, file))
    return obtain(file, n_features, places)


def _fetch_and_verify(part: Path, file: DataFile, n_features: int, places: Places) -> Table:
    """Download a file and read it, or say what is wrong."""
    url = places.url(file)
    try:
        fetch(url, part, file.name)
    except DownloadError as error:
        message = f"{error}. If that does not help, {places.by_hand(file)}"
        raise OSError(message) from error
    try:
        table = parse_table(part, n_features)
        flaw = _find_flaw(table, file, n_features)
    except (OSError, ValueError) as error:
        flaw = str(error)
    if flaw is None:
        return table
    message = (
        f"what {url} sent is not {file.name}, and was removed: {flaw}. If you want to use it "
        f"nevertheless, {places.by_hand(file)}"
    )
    raise OSError(message)


def _find_flaw(table: Table, file: DataFile, n_features: int) -> str | None:
    """Compare with the checksum or, where that is not known, with what is."""
    right = _is_right(table, file)
    if right:
        return None
    if right is False:
        return f"its SHA-256 is {table.sha256}, not {file.sha256[0]}"
    rows, features = len(table.y), table.features
    if (rows, features) == (file.rows, n_features):
        return None
    return f"it has {rows} rows and {features} features, not {file.rows} and {n_features}"


def _is_right(table: Table, file: DataFile) -> bool | None:
    return table.sha256 in file.sha256 if file.sha256 else None


def _recorded(path: Path) -> str | None:
    """Return the checksum that was found at the download, if it was one."""
    try:
        words = path.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return words[0] if words else None
