"""The recipes of docs/contributing/recipes.md, done: every block applied to a copy of the sources.

python tests/recipes.py check    # compiles the result, as make test does
python tests/recipes.py clippy   # lints it as well, warnings denied; make check-long
python tests/recipes.py count    # files and lines of each, written into the page
"""

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "recipes.md"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TREE = TARGET / "recipes"
COPIED = ("crates", "benches", "docs", "scenarios", "papers", "recordings", "bpf", "python")
ARGUMENTS = {"check": [], "clippy": ["--", "--deny", "warnings"]}

_NOT_COPIED = shutil.ignore_patterns("*.so", "__pycache__")

_BLOCK = re.compile(
    r"^```(?:rust|toml|python|html)\n(\+\+\+|---) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_ROW = re.compile(r"^\| \[([^]]+)\]\((#[^)]+)\) \| \d+ \| \d+ \|", re.MULTILINE)
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


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

    @property
    def added(self) -> int:
        """Lines that it writes, empty ones not counted."""
        own = self.lines if self.is_new else [line[1:] for line in self.lines if line[:1] == "+"]
        return sum(1 for line in own if line.strip())


def _steps(text: str) -> list[Step]:
    return [
        Step(Path(path), mark == "+++", tuple(body.splitlines()))
        for mark, path, body in _BLOCK.findall(text)
    ]


def steps() -> list[Step]:
    """All blocks of the page, in order."""
    return _steps(PAGE.read_text(encoding="utf-8"))


def counted(text: str) -> str:
    """The page with the files and lines that each recipe takes in its table."""
    parts = _HEADING.split(text)
    sizes: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        anchor = "#" + re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
        taken = _steps(body)
        sizes[anchor] = (len({step.path for step in taken}), sum(step.added for step in taken))

    def row(match: re.Match[str]) -> str:
        files, lines = sizes[match[2]]
        return f"| [{match[1]}]({match[2]}) | {files} | {lines} |"

    return _ROW.sub(row, text)


def patched() -> Path:
    """The sources with every recipe applied, in the build folder.

    Files that did not change since the last time keep their date, so that cargo compiles the others
    alone.
    """
    fresh = TREE.with_name("recipes.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for folder in COPIED:
        shutil.copytree(ROOT / folder, fresh / folder, ignore=_NOT_COPIED)
    for file in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / file, fresh / file)
    for step in steps():
        step.apply(fresh)
    # A version of its own, or cargo takes what it compiled here for the project's crates.
    manifest = fresh / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(_VERSION.sub(r'version = "\1+recipes"', text), encoding="utf-8")
    kept = [path for path in fresh.rglob("*") if path.is_file()]
    for path in kept:
        old = TREE / path.relative_to(fresh)
        if old.is_file() and old.read_bytes() == path.read_bytes():
            shutil.copystat(old, path)
    shutil.rmtree(TREE, ignore_errors=True)
    fresh.rename(TREE)
    return TREE


def compile_with(tool: str) -> subprocess.CompletedProcess[str]:
    """Runs cargo's `tool` on the patched sources; what others wrote is shared with the project."""
    command = ["cargo", tool, "--quiet", "--offline", "--profile", "local"]
    command += ["--package", "airtcp-sim", *ARGUMENTS[tool]]
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET)}
    return subprocess.run(
        command, cwd=patched(), env=environment, check=False, capture_output=True, text=True
    )


def main() -> None:
    """Fails with the first block that does not fit, or with the compiler's word."""
    tool = sys.argv[1] if len(sys.argv) == 2 else ""
    if tool == "count":
        PAGE.write_text(counted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    if tool not in ARGUMENTS:
        sys.exit(__doc__)
    told = compile_with(tool)
    if told.returncode != 0:
        sys.exit(told.stderr)
    print("the recipes compile")


if __name__ == "__main__":
    main()
