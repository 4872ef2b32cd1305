"""The cells of docs/start/notebook.md run, and print the page's output; so does the notebook."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

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


def test_the_notebook_is_the_page() -> None:
    page = notebook.PAGE.read_text(encoding="utf-8")
    assert notebook.NOTEBOOK.read_text(encoding="utf-8") == notebook.as_notebook(page), (
        "python pages/write_notebook.py"
    )


def test_the_notebook_runs_as_its_own_cells() -> None:
    """Without Jupyter: every cell of code, one after the other."""
    opened = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in opened["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 3
    names: dict[str, object] = {}
    for source in code:
        exec(source, names)
    assert "compared" in names


@pytest.mark.filterwarnings("ignore")
def test_jupyter_opens_and_runs_it() -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
    opened = nbformat.read(notebook.NOTEBOOK, as_version=4)
    nbformat.validate(opened)
    ran = nbclient.NotebookClient(opened, timeout=60, kernel_name="python3").execute()
    for cell in ran.cells:
        for output in cell.get("outputs", ()):
            assert output["output_type"] != "error"
