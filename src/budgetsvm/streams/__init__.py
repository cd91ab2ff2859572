"""Data files larger than memory, read in blocks of rows.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from budgetsvm.streams import read_blocks
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "small.libsvm")
...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n+1 1:4\\n")
...     blocks = read_blocks(path, rows=2)
...     for epoch in range(2):  # every loop reads the file anew
...         for X, y in blocks:
...             print(epoch, X.shape, y)
0 (2, 3) [ 1. -1.]
0 (1, 3) [1.]
1 (2, 3) [ 1. -1.]
1 (1, 3) [1.]

Formats: LIBSVM (also called SVMlight) and CSV, plain or compressed by gzip, bzip2 or xz; Parquet
(``pip install "budgetsvm[arrow]"``); NumPy's .npy and .npz, with arrays X and y. At most one block is in memory, with the text it is made of.
"""

from budgetsvm.streams._blocks import Block, Blocks
from budgetsvm.streams._read import read_blocks

__all__ = ["Block", "Blocks", "read_blocks"]
