"""Writes the output of each cell of docs/start/notebook.md below it.

python pages/write_notebook.py
"""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "start" / "notebook.md"
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


def main() -> None:
    """Writes the page."""
    PAGE.write_text(executed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
