#!/usr/bin/env python3
"""Measures a cold build, crate by crate, in processor time, and the gateway's static program.

    python benches/build_times.py             # prints the table
    python benches/build_times.py --write     # and writes it into docs/contributing/architecture.md
    python benches/build_times.py --against 7cf6b500       # and builds that commit in the same run

Every crate is compiled as in `make build`, into an empty folder. Processor time is that of the
compiler and the linker over all processors, so that concurrent work matters little; a crate's time
excludes its dependencies. Lines are of its `src`, tests and comments included. The gateway's
program is built as in docs/guides/gateway.md, if the target is installed. Times differ between
machines, and on one with its load: an earlier commit is built in the same run, each of its crates
as its own profile has it, and their ratio is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "architecture.md"
STATIC = "x86_64-unknown-linux-musl"
LOG = "AIRTCP_BUILD_LOG"
"""Where each compilation leaves a line, for the compiler's wrapper: this program itself."""
BUILT = ("airtcp-net", "airtcp-python")
LONGEST = 12
"""How many dependencies are named."""


@dataclass(frozen=True)
class Build:
    """A cold build."""

    seconds: Mapping[str, float]
    """Of the processors, by our crate."""
    wall: float
    others: Mapping[str, float]
    """The same of dependencies by crate, its build script and each version of it included."""

    @property
    def total(self) -> float:
        """Seconds of the processors, dependencies included."""
        return sum(self.seconds.values()) + sum(self.others.values())


def compile_and_log(command: list[str], log: Path) -> int:
    """Wraps the compiler: runs it, and adds its resource usage to the log."""
    # Open files are kept: cargo hands its jobs to the compiler through two of them.
    process = subprocess.Popen(command, close_fds=False)
    _, status, used = os.wait4(process.pid, 0)
    name = command[command.index("--crate-name") + 1] if "--crate-name" in command else ""
    if name == "build_script_build":
        name = os.environ["CARGO_PKG_NAME"].replace("-", "_")
    if name and name != "___":
        line = json.dumps([name, used.ru_utime + used.ru_stime])
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    return os.waitstatus_to_exitcode(status)


def cold_build(folder: Path, root: Path = ROOT) -> Build:
    """Runs the build of `make build`, of the tree in `root`, into an emptied folder."""
    log = folder / "crates.log"
    if log.exists():
        # The target of that build; without its log, a target is not of this program.
        shutil.rmtree(folder / "target", ignore_errors=True)
    log.write_text("")
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(folder / "target"),
        "RUSTC_WRAPPER": str(Path(__file__).resolve()),
        LOG: str(log),
    }
    words = [word for name in BUILT for word in ("--package", name)]
    began = time.monotonic()
    subprocess.run(
        ["cargo", "build", "--quiet", "--offline", "--profile", "local", *words],
        cwd=root,
        env=environment,
        check=True,
    )
    wall = time.monotonic() - began
    ours = {f"airtcp_{path.name}" for path in root.glob("crates/*")}
    seconds: dict[str, float] = {}
    others: dict[str, float] = {}
    for line in log.read_text("utf-8").splitlines():
        name, used = json.loads(line)
        if name == "_core":
            name = "airtcp_python"
        crates = seconds if name in ours else others
        key = name.removeprefix("airtcp_")
        crates[key] = crates.get(key, 0.0) + used
    return Build(seconds, wall, others)


def build_of(commit: str, folder: Path) -> Build:
    """Runs the build of another commit, checked out below `folder`, which is made if missing."""
    folder.mkdir(exist_ok=True)
    tree = folder / "tree"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
    try:
        subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=tree, check=True)
        return cold_build(folder, tree)
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def static_gateway(folder: Path) -> int | None:
    """Bytes of the gateway's static program, stripped; None where its target is not installed."""
    told = subprocess.run(
        ["rustc", "--print", "target-libdir", "--target", STATIC],
        check=True,
        capture_output=True,
        text=True,
    )
    if not any(Path(told.stdout.strip()).glob("libcore-*")):
        return None
    words = ["--release", "--package", "airtcp-gateway", "--target", STATIC]
    subprocess.run(
        ["cargo", "build", "--quiet", "--offline", *words],
        cwd=ROOT,
        env=os.environ | {"CARGO_TARGET_DIR": str(folder / "static")},
        check=True,
    )
    program = folder / "static" / STATIC / "release" / "airtcp-gateway"
    subprocess.run(["strip", str(program)], check=True)
    return program.stat().st_size


def lines(crate: str) -> int:
    """Lines of a crate's sources."""
    sources = (ROOT / "crates" / crate / "src").rglob("*.rs")
    return sum(len(path.read_text("utf-8").splitlines()) for path in sources)


def layers(crates: Collection[str]) -> list[str]:
    """These crates from the ground up, as the page lists them, then the others."""
    listed = PAGE.read_text("utf-8").split("## The crates", 1)[1].split("<!--", 1)[0]
    rows = re.findall(r"^\| (`.*?) \|", listed, re.MULTILINE)
    names = re.findall(r"`(\w+)`", " ".join(rows))
    order = {name: place for place, name in enumerate(names)}
    return sorted(crates, key=lambda name: (order.get(name, len(order)), name))


def table(build: Build, size: int | None, earlier: tuple[str, Build] | None) -> str:
    """The page's table; `earlier` is another commit, with its build in the same run."""
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    version = compiler.stdout.split(" (")[0]
    rows = [
        f"| `{crate}` | {lines(crate):,} | {build.seconds[crate]:.1f} |"
        for crate in layers(build.seconds)
    ]
    others = sum(build.others.values())
    longest = sorted(build.others, key=build.others.__getitem__, reverse=True)[:LONGEST]
    compared = []
    if earlier is not None:
        commit, other = earlier
        compared = [
            "",
            f"Commit {commit}, built in the same run: {other.total:.0f} s, hence a ratio of "
            f"{build.total / other.total:.2f}.",
        ]
    text = [
        f"A cold build with {version}: {build.total:.0f} s of processor "
        f"time, of which {others:.0f} s are {len(build.others)} dependencies. The longest: "
        + ", ".join(f"{name} {build.others[name]:.1f} s" for name in longest)
        + ".",
        *compared,
        "",
        "| crate | lines | processor, s |",
        "|---|---:|---:|",
        *rows,
    ]
    if size is not None:
        text += ["", f"The gateway alone as a static program, stripped: {size / 1e6:.1f} MB."]
    return "\n".join(text)


def main() -> None:
    """Builds, prints the table, and writes it with `--write`."""
    if log := os.environ.get(LOG):
        sys.exit(compile_and_log(sys.argv[1:], Path(log)))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--folder", type=Path, help="build here, and leave it (default: a new one)")
    parser.add_argument("--against", metavar="COMMIT", help="build that commit in the same run too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as new:
        folder = arguments.folder or Path(new)
        folder.mkdir(parents=True, exist_ok=True)
        earlier = None
        if commit := arguments.against:
            earlier = (commit, build_of(commit, folder / "earlier"))
        text = table(cold_build(folder), static_gateway(folder), earlier)
    print(text)
    if arguments.write:
        from airtcp.pages.marked import put
        from airtcp.pages.provenance import stamp

        page = PAGE.read_text("utf-8")
        PAGE.write_text(put(page, "build", text), encoding="utf-8")
        stamp(ROOT, "build")


if __name__ == "__main__":
    main()
