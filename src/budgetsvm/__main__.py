"""``python -m budgetsvm`` is the command line."""

import sys

from budgetsvm.cli import main

if __name__ == "__main__":
    sys.exit(main())
