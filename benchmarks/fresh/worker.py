"""The other side of `call`: calls one function in this process and prints what it returns."""

import json
import sys
from importlib import import_module


def main() -> None:
    """Call the function that the command line names, with the arguments on standard input."""
    module, name = sys.argv[1:]
    function = getattr(import_module(module), name)
    result = function(**json.load(sys.stdin))
    print(f"\n{json.dumps(result)}")  # on a line of its own, whatever libraries print


if __name__ == "__main__":
    main()
