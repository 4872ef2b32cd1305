"""docs/start/gallery.md: every picture of the documentation, with a command that draws it."""

import importlib
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from airtcp.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "pages"))
gallery = importlib.import_module("write_gallery")
sys.path.remove(str(ROOT / "pages"))

PICTURES = gallery.pictures()
RUNS = [one for one in PICTURES if one.group == gallery.RUNS]


def test_the_page_is_that_of_the_list() -> None:
    page = gallery.PAGE.read_text("utf-8")
    begin, end = (f"<!-- {gallery.MARK}: {word} -->" for word in ("begin", "end"))
    assert f"{begin}\n{gallery.text(PICTURES)}\n{end}" in page


def test_every_picture_is_there() -> None:
    assert {one.image for one in PICTURES} == {
        path.name for path in (ROOT / "docs" / "images").glob("*.png")
    }


@pytest.mark.parametrize("one", PICTURES, ids=lambda one: one.image)
def test_a_command_names_what_exists(one: object) -> None:
    program, name, *arguments = shlex.split(one.command)  # type: ignore[attr-defined]
    assert program == "airtcp"
    command = COMMANDS[name].load(name)
    options = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {word for word in arguments if word.startswith("--")} <= options
    folders = {"run": "scenarios/{}.toml", "study": "studies/{}.toml", "papers": "papers/{}"}
    if name in folders and not arguments[0].startswith("--"):
        assert (ROOT / folders[name].format(arguments[0])).exists()


@pytest.mark.parametrize("one", RUNS, ids=lambda one: one.image)
def test_a_run_draws_its_picture(one: object, tmp_path: Path) -> None:
    words = shlex.split(one.command)[1:]  # type: ignore[attr-defined]
    words = [re.sub(r"duration=\d+ s", "duration=2 s", word) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / one.draws).stat().st_size > 1000  # type: ignore[attr-defined]
