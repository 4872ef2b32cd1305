"""What docs/contributing/recipes.md says: the blocks fit the sources, and the data runs."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app
from rust_modules import Crate, sources
from test_crates import manifest, split_modules, upward, uses

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("recipes", ROOT / "tests" / "recipes.py")
assert _SPEC is not None
assert _SPEC.loader is not None
recipes = importlib.util.module_from_spec(_SPEC)
sys.modules["recipes"] = recipes
_SPEC.loader.exec_module(recipes)


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """The crates and the Python package with every recipe applied."""
    for folder in ("crates", "python"):
        ignored = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for step in recipes.steps():
        step.apply(tmp_path)
    return tmp_path


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


def test_the_recipes_keep_the_order_of_crates_and_close_no_circle(patched: Path) -> None:
    """The rules of test_crates.py, over the sources with every recipe followed."""
    crates = sorted(path.parent.name for path in patched.glob("crates/*/Cargo.toml"))
    assert crates
    for crate in crates:
        assert Crate(sources(patched / "crates" / crate / "src")).circles() == [], crate
    graph = {crate: uses(manifest(patched, crate)) for crate in crates}
    assert upward(graph) == []
    assert split_modules(patched) == []


def test_a_recipe_that_closes_a_circle_is_found(patched: Path) -> None:
    gentle = patched / "crates/tcp/src/congestion/gentle.rs"
    gentle.write_text(f"use super::control::AnyRule;\n{gentle.read_text()}")
    (circle,) = Crate(sources(patched / "crates/tcp/src")).circles()
    assert {"congestion/control", "congestion/gentle"} <= set(circle)


def test_the_recipes_of_compare_show_in_it_and_in_its_report(patched: Path) -> None:
    package = patched / "python" / "airtcp"
    (core,) = (ROOT / "python" / "airtcp").glob("_core*.so")
    (package / core.name).symlink_to(core)
    out = patched / "out"
    command = [sys.executable, "-m", "airtcp", "compare", str(ROOT / "scenarios/lossy-pipe.toml")]
    command += ["--remedy", "bbr", "--seeds", "2", "--set", "duration=5 s", "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "recoveries" in told.stdout
    assert "fast recoveries" in (out / "index.html").read_text()
    assert "recoveries" in (out / "comparison.csv").read_text().splitlines()[0].split(",")
    assert "every seed" in (out / "seeds.html").read_text()


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
