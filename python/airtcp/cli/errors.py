"""Errors of the command line: one line on standard error, and the exit status scripts rely on.

0 is success, also with a warning; 1 a failure, of a run, a disk or a machine; 2 invalid input; 4
worse than a stored result; 130 Ctrl-C. docs/guides/errors.md documents them for users.
"""

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

import typer

from airtcp.cli.interrupts import as_exception
from airtcp.cli.stop import INTERRUPTED
from airtcp.pages.columns import printable

FAILURE = 1
BAD_INPUT = 2
WORSE = 4
"""`airtcp compare --against`: shown to be worse than the stored result."""


def say(message: str) -> None:
    """Prints a message for the person at the terminal."""
    print(printable(message), file=sys.stderr, flush=True)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Ends a command on an error with one line and the exit status for it.

    A broken pipe is the reader's choice and is ignored.
    """
    # Imported here: `airtcp --help` needs no core.
    from airtcp._core import AirtcpError, CaptureError, ScenarioError
    from airtcp.core.files import FileError

    try:
        with as_exception(), warnings.catch_warnings():
            warnings.showwarning = _warn
            yield
    except (CaptureError, FileError, ScenarioError) as error:
        _fail(str(error), BAD_INPUT)
    except AirtcpError as error:
        _fail(str(error), FAILURE)
    except BrokenPipeError:
        # Python would print a second error when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILURE) from None
    except OSError as error:
        _fail(os_error_words(error), FAILURE)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Prints a warning of airtcp in its style; warnings of libraries are for developers."""
    del filename, lineno, file, line
    if issubclass(category, UserWarning):
        say(f"airtcp: warning: {message}")


def os_error_words(error: OSError) -> str:
    """The system's reason, and the file; only standard output has no name."""
    return f"{error.filename or 'standard output'}: {error.strerror or error}"


def usage_words(error: typer.TyperException) -> str:
    """A command line refused by Typer, in the style of all other errors."""
    message = error.format_message().strip().removesuffix(".")
    message = message.removeprefix("Invalid value: ")
    message = _TYPES.sub(lambda kind: _TYPE_WORDS.get(kind[1], kind[0]), message)
    # Except abbreviations and names of options.
    if message[:1].isupper() and not message[1:2].isupper():
        message = message[0].lower() + message[1:]
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    return f"{message}: `{context.command_path} --help` shows what it takes"


_TYPES = re.compile(r"is not a valid (\w+)(?: range)?")
_TYPE_WORDS = {"int": "is no whole number", "float": "is no number"}
"""Typer names Python types, some of them with their range."""


def _fail(message: str, status: int) -> NoReturn:
    # Of a list, such as a compiler's errors, each entry is an indented line.
    parts = re.split(r"\n  (?=\S)", message)
    say("airtcp: " + "\n  ".join(" ".join(part.split()) for part in parts))
    raise typer.Exit(status) from None
