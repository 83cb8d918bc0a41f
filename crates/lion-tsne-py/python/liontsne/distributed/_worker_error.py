"""What is said of errors: what a worker says is wrong, found in what an engine makes of it, and the
kinds of things."""

import re
from typing import Any

ERROR = re.compile(r"^(?:\w+\.)*(\w+Error): (.+)$", re.MULTILINE)
KINDS: dict[str, type[Exception]] = {
    "FileNotFoundError": FileNotFoundError,
    "OSError": OSError,
    "ValueError": ValueError,
}


def told(text: str) -> Exception | None:
    """The error of a worker in the text of an engine's, which has pages around it: the innermost
    one; None if it is none that a worker says in a sentence.

    >>> told('Job aborted\\nTraceback …\\nValueError: row 7 is empty\\n\\tat org.apache.spark…')
    ValueError('row 7 is empty')
    """
    for kind, sentence in reversed(ERROR.findall(text)):
        if kind == "ModuleNotFoundError":
            return ModuleNotFoundError(f"{sentence} in the Python of the workers: install it there")
        if kind in KINDS:
            return KINDS[kind](sentence)
    return None


def kind_of(thing: Any) -> str:
    """What something is, in words: for who gave it in the place of something else.

    >>> kind_of([1.5])
    'a list'
    >>> import pyarrow
    >>> kind_of(pyarrow.table({}))
    'a Table of pyarrow'
    """
    if thing is None:
        return "None"
    kind = type(thing)
    package = kind.__module__.partition(".")[0]
    return f"a {kind.__name__}" + ("" if package == "builtins" else f" of {package}")
