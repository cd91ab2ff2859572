"""The command line: ``budgetsvm <command>``.

A command is one function that declares its options and names what runs it; list it in `_COMMANDS`.
Whatever is slow to import is imported when its command runs, so that help and usage errors are not
kept waiting.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from budgetsvm import __version__

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_FAILED = 1
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it

_LEAST_ROWS = 200  # fewer do not show the pattern, and may lack a class
_PICTURES = (".png", ".pdf", ".svg")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (or else the program's arguments) asks for; return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (as in `| head`); what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except (ImportError, MemoryError, OSError, ValueError) as error:
        _complain(str(error) or type(error).__name__)
        return _FAILED
    return 0


def _complain(message: str) -> None:
    print("budgetsvm:", " ".join(message.split()), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="budgetsvm",
        description="Kernel support vector machines with a hard limit on the number of terms.",
    )
    parser.add_argument("--version", action="version", version=f"budgetsvm {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="command", required=True)
    for add_command in _COMMANDS:
        add_command(subparsers)
    return parser


def _add_demo(subparsers: "_Subparsers") -> None:
    text = "train on a made-up problem, compare with other SVMs, and draw the model"
    parser = subparsers.add_parser(
        "demo",
        help=text,
        description=_sentence(text),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--rows", type=_at_least(_LEAST_ROWS), default=100_000, help="number of training rows"
    )
    parser.add_argument("--budget", type=_at_least(1), default=100, help="largest number of terms")
    parser.add_argument(
        "--out", type=_picture, default=Path("budgetsvm-demo.png"), help="where the picture goes"
    )
    parser.add_argument("--seed", type=_at_least(0), default=0, help="seed of all random numbers")
    parser.set_defaults(run=_run_demo)


def _run_demo(arguments: argparse.Namespace) -> None:
    from budgetsvm.cli._demo import run

    run(arguments.rows, arguments.budget, arguments.out, arguments.seed, _say)


def _say(line: str = "") -> None:
    print(line, flush=True)  # at once, so that it stays in order with the progress bar on stderr


def _add_info(subparsers: "_Subparsers") -> None:
    text = "print versions, instruction set, threads and BLAS, e.g. for a bug report"
    parser = subparsers.add_parser("info", help=text, description=_sentence(text))
    parser.set_defaults(run=_run_info)


def _run_info(arguments: argparse.Namespace) -> None:  # noqa: ARG001
    import platform

    from budgetsvm import _core
    from budgetsvm._common.threads import count_threads

    facts = {
        "budgetsvm": __version__,
        "Python": f"{platform.python_version()} on {platform.platform()}",
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
        "instructions": _core.level(),
        "threads": str(count_threads(None)),
        "BLAS": _blas(),
    }
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")


def _blas() -> str:
    """Describe the BLAS libraries that NumPy and SciPy have loaded."""
    import numpy as np  # noqa: F401  # threadpoolctl sees loaded libraries only
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    # NumPy and SciPy often bring a copy each, of the same library: say it once.
    found = {
        f"{library['internal_api']} {library['version'] or '(version unknown)'}"
        f" with {library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    }
    return ", ".join(sorted(found)) or "none that threadpoolctl knows"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _at_least(least: int) -> Callable[[str], int]:
    """Return a converter of options to integers that are not below `least`."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            message = f"must be an integer of at least {least}, not {text!r}"
            raise argparse.ArgumentTypeError(message)
        return value

    return convert


def _picture(text: str) -> Path:
    """Convert an option to the path of a picture; complain before any work is done for it."""
    path = Path(text)
    if path.suffix.lower() not in _PICTURES:
        message = f"must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    if not path.parent.is_dir():
        message = f"there is no folder {str(path.parent)!r}"
        raise argparse.ArgumentTypeError(message)
    return path


_COMMANDS: tuple[Callable[["_Subparsers"], None], ...] = (_add_demo, _add_info)


if __name__ == "__main__":
    sys.exit(main())
