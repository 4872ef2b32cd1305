"""The cells of docs/start/notebook.md run, and print the page's output."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location(
    "write_notebook", ROOT / "pages" / "write_notebook.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
notebook = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(notebook)


def without_numbers(page: str) -> list[str]:
    """The words of a page: the numbers change with the engine, and tables with their width."""
    return re.findall(r"[A-Za-z_]{2,}", page)


def test_the_cells_print_what_the_page_says() -> None:
    page = notebook.PAGE.read_text(encoding="utf-8")
    assert page.count("```python") == page.count("```text") > 3
    assert without_numbers(notebook.executed(page)) == without_numbers(page), (
        "python pages/write_notebook.py"
    )
