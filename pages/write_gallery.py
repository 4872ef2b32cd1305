"""Writes docs/start/gallery.md: each picture of the documentation with the command that draws it.

    python pages/write_gallery.py [--draw]

With `--draw` the pictures of single runs are drawn again, first.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from write_papers import picture_name

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "pages" / "gallery.toml"
PAGE = ROOT / "docs" / "start" / "gallery.md"
IMAGES = ROOT / "docs" / "images"
JUDGED = ROOT / "docs" / "measurements" / "papers.json"
MARK = "gallery"
RUNS = "One run"
"""The group of pictures that a command draws in seconds."""


@dataclass(frozen=True)
class Picture:
    """A picture and its origin."""

    image: str
    """Its file in docs/images."""
    group: str
    words: str
    command: str
    draws: str
    """The file that the command writes."""


def pictures() -> list[Picture]:
    """All pictures: those listed, and one for each paper."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["picture"]
    return [*(Picture(**one) for one in listed), *_of_papers()]


def _of_papers() -> Iterator[Picture]:
    for paper in json.loads(JUDGED.read_text("utf-8"))["papers"]:
        if figure := paper.get("figure"):
            file = f"{figure['name']}.png"
            yield Picture(
                picture_name(file),
                "Papers",
                f"{paper['short']}: {figure['title']}",
                f"airtcp papers {paper['name']} --png --out papers",
                f"papers/{file}",
            )


def text(shown: list[Picture]) -> str:
    """The pictures in Markdown, by group."""
    lines = []
    for group, members in groupby(shown, key=lambda one: one.group):
        lines.append(f"## {group}\n")
        for one in members:
            lines.append(f"### {one.words}\n\n    {one.command}\n")
            lines.append(f"![{one.words}](../images/{one.image})\n")
    return "\n".join(lines).rstrip()


def draw(one: Picture) -> None:
    """Runs the command of a picture, and keeps the picture.

    Raises:
        subprocess.CalledProcessError: the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments = shlex.split(one.command)[1:]
        command = [sys.executable, "-m", "airtcp", *arguments]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        shutil.copy(Path(folder) / one.draws, IMAGES / one.image)


def main() -> None:
    """Draws and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the pictures of single runs")
    shown = pictures()
    if parser.parse_args().draw:
        for one in shown:
            if one.group == RUNS:
                draw(one)
    page = PAGE.read_text("utf-8")
    PAGE.write_text(put(page, MARK, text(shown)), encoding="utf-8")
    stamp(ROOT, MARK)


if __name__ == "__main__":
    main()
