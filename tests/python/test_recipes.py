"""What docs/guides/recipes.md says can be done: the blocks fit the sources, and the data runs."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("recipes", ROOT / "tests" / "recipes.py")
assert _SPEC is not None
assert _SPEC.loader is not None
recipes = importlib.util.module_from_spec(_SPEC)
sys.modules["recipes"] = recipes
_SPEC.loader.exec_module(recipes)


def test_every_block_fits_the_sources(tmp_path: Path) -> None:
    steps = recipes.steps()
    assert len(steps) > 14
    for path in {step.path for step in steps if not step.is_new}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    for step in steps:
        step.apply(tmp_path)
    assert "gentle_keeps" in (tmp_path / "crates/tcp/src/config/mod.rs").read_text()


def test_a_block_that_does_not_fit_is_found(tmp_path: Path) -> None:
    (tmp_path / "file.rs").write_text("mod one;\n")
    step = recipes.Step(Path("file.rs"), is_new=False, lines=(" mod two;", "+mod three;"))
    with pytest.raises(recipes.RecipeError, match="expected once"):
        step.apply(tmp_path)


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is missing")
def test_the_recipes_compile() -> None:
    told = recipes.compile_with("check")
    assert told.returncode == 0, told.stderr


def test_the_table_counts_what_each_recipe_takes() -> None:
    page = recipes.PAGE.read_text(encoding="utf-8")
    assert recipes.counted(page) == page, "python tests/recipes.py count"
    assert "| 0 |" not in page


def test_the_paper_of_the_recipe_is_judged(tmp_path: Path) -> None:
    """The square root of the loss rate, by a claim that somebody new has written."""
    for step in recipes.steps():
        if step.path.parts[0] == "my-papers":
            step.apply(tmp_path)
    command = ["papers", "--papers", str(tmp_path / "my-papers"), "--quick"]
    told = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    judged = json.loads((tmp_path / "out" / "papers.json").read_text())
    verdicts = {claim["id"]: claim["verdict"] for claim in judged["papers"][0]["claims"]}
    assert verdicts["1a"] == "reproduced"
    assert verdicts["1b"] in {"reproduced", "direction"}
