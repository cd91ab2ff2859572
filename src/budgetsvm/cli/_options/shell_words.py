"""Messages of the library, which name parameters of Python, in the words of the command line."""

import re

_TEXT = r"'([^']*)'"
#: What a parameter is called there; the first that matches counts.
_WORDS = (
    (r"target=False", "--unlabelled"),
    (rf"target={_TEXT}", r"--target \1"),
    (r"target=(-?\d+)", r"--target \1"),
    (rf"format={_TEXT}", r"--format \1"),
    (r"format=", "--format "),
    (r"zero_based=True", "--zero-based"),
    (r"zero_based=False", "--one-based"),
    (r"header=True", "--header"),
    (r"header=False", "--no-header"),
    (rf"delimiter={_TEXT}", r"--delimiter '\1'"),
    (rf"decimal={_TEXT}", r"--decimal '\1'"),
    (r"say labels='string' if labels are not numbers", "targets of a regression are numbers"),
    (r"; or say labels='string'", ""),
    (rf"precision={_TEXT}", "more digits"),
    (
        r"say which columns are, by features=\[\.\.\.\], or write the file without it",
        "write the file without it (pandas: to_csv(..., index=False)), or, if it is one, give it a name in the first line",
    ),
    (
        r"leave n_features out, or choose columns by features=",
        "that is how many the model was trained on",
    ),
    (
        r"multi_class='ovr' has one for each class, and numbers that are to be predicted are for BudgetSVR",
        "say -s 3 if they are numbers that are to be predicted, and not names",
    ),
)


def in_words_of_the_shell(message: str) -> str:
    """Return a message with options in the place of parameters."""
    for pattern, word in _WORDS:
        message = re.sub(rf"\b{pattern}", word, message)
    return message
