"""Writes the output of each cell of the notebook pages below it, and each page as a notebook.

    python pages/write_notebook.py

docs/start/notebook.md and paper-notebook.md are read on the site; the .ipynb next to each, with the
same cells, is run.
"""

import contextlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

START = Path(__file__).resolve().parents[1] / "docs" / "start"
PAGES = (START / "notebook.md", START / "paper-notebook.md")
_CELL = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def executed(page: str) -> str:
    """The page with the output of its cells, run one after the other as in a notebook."""
    names: dict[str, object] = {}

    def cell(match: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(match[1], names)
        lines = (line.rstrip() for line in printed.getvalue().strip().splitlines())
        return f"```python\n{match[1]}```\n\n```text\n" + "\n".join(lines) + "\n```"

    return _CELL.sub(cell, page)


def as_notebook(page: str) -> str:
    """The page in Jupyter's format 4.5: its text, and its cells with their output."""
    cells = [
        {"id": f"cell-{number}", "metadata": {}, **cell} for number, cell in enumerate(_cells(page))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _cells(page: str) -> Iterator[dict[str, object]]:
    last = 0
    for number, match in enumerate(_CELL.finditer(page), start=1):
        yield from _text(page[last : match.start()])
        stream = {"name": "stdout", "output_type": "stream", "text": _lines(match[2])}
        yield {
            "cell_type": "code",
            "execution_count": number,
            "outputs": [stream],
            "source": _lines(match[1].rstrip()),
        }
        last = match.end()
    yield from _text(page[last:])


def _text(text: str) -> Iterator[dict[str, object]]:
    # A notebook that was copied elsewhere has no pages next to it.
    plain = re.sub(r"\[([^]]+)\]\((?!http)[^)]+\)", r"\1", text.strip())
    if plain:
        yield {"cell_type": "markdown", "source": _lines(plain)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Writes the pages and their notebooks."""
    for path in PAGES:
        page = executed(path.read_text(encoding="utf-8"))
        path.write_text(page, encoding="utf-8")
        path.with_suffix(".ipynb").write_text(as_notebook(page), encoding="utf-8")


if __name__ == "__main__":
    main()
