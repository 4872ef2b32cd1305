"""The cells of the notebook pages run, and print the pages' output; so do the notebooks."""

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

each_page = pytest.mark.parametrize("path", notebook.PAGES, ids=lambda path: path.stem)


def without_numbers(page: str) -> list[str]:
    """The words of a page: the numbers change with the engine, and tables with their width."""
    return re.findall(r"[A-Za-z_]{2,}", page)


@each_page
def test_the_cells_print_the_output_on_the_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert page.count("```python") == page.count("```text") > 3
    assert without_numbers(notebook.executed(page)) == without_numbers(page), (
        "python pages/write_notebook.py"
    )


@each_page
def test_the_notebook_is_the_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert path.with_suffix(".ipynb").read_text(encoding="utf-8") == notebook.as_notebook(page), (
        "python pages/write_notebook.py"
    )


@each_page
def test_the_notebook_runs_as_its_own_cells(path: Path) -> None:
    """Without Jupyter: every cell of code, one after the other."""
    opened = json.loads(path.with_suffix(".ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in opened["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 3
    names: dict[str, object] = {}
    for source in code:
        exec(source, names)
    assert "compared" in names


@each_page
@pytest.mark.filterwarnings("ignore")
def test_jupyter_opens_and_runs_it(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")
    opened = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(opened)
    ran = nbclient.NotebookClient(opened, timeout=60, kernel_name="python3").execute()
    for cell in ran.cells:
        for output in cell.get("outputs", ()):
            assert output["output_type"] != "error"
