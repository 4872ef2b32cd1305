"""The recipes of docs/recipes.md, done: every block applied to a copy of the sources.

python tests/recipes.py         # compiles the result, warnings denied; make check-long
"""

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "recipes.md"

_BLOCK = re.compile(r"^```(?:rust|toml)\n(\+\+\+|---) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class RecipeError(Exception):
    """A recipe that does not fit the sources any more."""


@dataclass(frozen=True)
class Step:
    """A block: a new file, or a change of one."""

    path: Path
    is_new: bool
    lines: tuple[str, ...]

    def apply(self, root: Path) -> None:
        """Carries it out below `root`.

        Raises:
            RecipeError: the file, or a line of its surroundings, is not there.
        """
        file = root / self.path
        if self.is_new:
            if file.exists():
                raise RecipeError(f"{self.path}: is there already")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{line}\n" for line in self.lines), encoding="utf-8")
            return
        if not file.is_file():
            raise RecipeError(f"{self.path}: is not there")
        text = file.read_text(encoding="utf-8")
        before = "".join(f"{line[1:]}\n" for line in self.lines if line[:1] in " -")
        after = "".join(f"{line[1:]}\n" for line in self.lines if line[:1] in " +")
        if not before or text.count(before) != 1:
            raise RecipeError(f"{self.path}: expected once:\n{before}")
        file.write_text(text.replace(before, after), encoding="utf-8")


def steps() -> list[Step]:
    """All blocks of the page, in order."""
    return [
        Step(Path(path), mark == "+++", tuple(body.splitlines()))
        for mark, path, body in _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    ]


def copy_sources(root: Path) -> None:
    """The files of the workspace that the recipes and the compiler need."""
    for folder in ("crates", "benches", "docs", "scenarios", "papers", "recordings", "bpf"):
        shutil.copytree(ROOT / folder, root / folder)
    for file in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / file, root / file)


def main() -> None:
    """Fails with the first block that does not fit, or with the compiler's word."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        copy_sources(root)
        for step in steps():
            step.apply(root)
        command = ["cargo", "clippy", "--quiet", "--package", "airtcp-sim", "--", "-D", "warnings"]
        command[1:1] = sys.argv[1:]
        subprocess.run(command, cwd=root, check=True)
    print("the recipes compile")


if __name__ == "__main__":
    main()
