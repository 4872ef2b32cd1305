"""Allowed imports: data, judging and drawing do not meet in circles."""

import ast
import functools
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "airtcp"

LAYERS = (
    ("_core",),
    ("core",),
    ("gym",),
    ("measure",),
    ("comparison",),
    ("kernel", "tuning"),
    ("diagnosis",),
    ("papers",),
    ("pages",),
    ("lab",),
    ("__init__",),
    ("cli",),
    ("__main__",),
)
"""Each may import the ones above it, and itself; also inside functions, also only for types."""

HEAVY = {"matplotlib", "numpy", "polars"}
"""Modules slow to import, which are therefore imported where they are used."""


def _name(path: Path) -> str:
    """A file's module, without the package: `study.plan`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imports(tree: ast.AST) -> Iterator[str]:
    """Every module and name that is imported anywhere in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _own(imported: str) -> str | None:
    """The module of this package that an import is of."""
    parts = imported.split(".")
    if parts[0] != "airtcp":
        return None
    for end in range(len(parts), 1, -1):
        name = ".".join(parts[1:end])
        if name in MODULES or name == "_core":
            return name
    return "__init__"


@functools.cache
def _graph() -> dict[str, set[str]]:
    return {
        name: {own for one in _imports(ast.parse(path.read_text())) if (own := _own(one))}
        for name, path in MODULES.items()
    }


def _layer(module: str) -> int:
    top = module.split(".")[0]
    (found,) = [place for place, names in enumerate(LAYERS) if top in names]
    return found


def test_the_graph_sees_what_is_imported() -> None:
    graph = _graph()
    assert "comparison.store" in graph["comparison.execute"]
    assert "core.recordings.imported" in graph["core.loading"]  # inside a function
    assert "pages.plot.observed" in graph["pages.plot.pictures"]  # for types alone


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    own = module.split(".")[0]
    for other in _graph()[module]:
        top = other.split(".")[0]
        assert top == own or _layer(top) < _layer(own), f"{module} imports {other}"


def test_no_module_needs_itself() -> None:
    order = tuple(graphlib.TopologicalSorter(_graph()).static_order())
    assert set(MODULES) <= set(order)


def test_only_drawing_knows_matplotlib() -> None:
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text())
        typing_only = {
            id(child)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for child in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typing_only:
                wanted = {one.split(".")[0] for one in _imports(ast.Module([node], []))}
                assert "matplotlib" not in wanted or name.startswith("pages.plot"), name


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("comparison")])
def test_studies_import_what_is_heavy_where_it_is_used(module: str) -> None:
    for node in ast.parse(MODULES[module].read_text()).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            wanted = {one.split(".")[0] for one in _imports(ast.Module([node], []))}
            assert not wanted & HEAVY, ast.unparse(node)


_MOST_LINES_OF_A_COMMAND = 40


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("cli.")])
def test_a_command_is_options_and_calls(module: str) -> None:
    """The work is in the package, by question, where Python programs find it too."""
    for node in ast.parse(MODULES[module].read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_command"):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno is not None
            lines = node.end_lineno - first.lineno + 1
            assert lines <= _MOST_LINES_OF_A_COMMAND, f"{node.name} has {lines} lines"
