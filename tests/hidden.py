"""Hides a machine's optional programs: tests that use them are skipped, and all others pass.

    python tests/hidden.py               # each program and feature of tests/needs.toml in turn
    python tests/hidden.py ping bpf      # these
    python tests/hidden.py --bare        # all programs at once: `make demo` and `make test` in a
                                         # fresh checkout, which as root may reuse what is built

In turn it runs the Rust tests on real packets and the Python tests that name something: a test that
names nothing meets a machine without any of it in `--bare`. Programs are hidden by a path of links
to all others.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE: Mapping[str, Any] = tomllib.loads((ROOT / "tests" / "needs.toml").read_text("utf-8"))
REAL = ("host", "emulate", "deploy", "gateway", "proxy", "net")
"""The crates with tests on real packets."""
CHECKED = {
    "CARGO_PROFILE_LOCAL_DEBUG_ASSERTIONS": "true",
    "CARGO_PROFILE_LOCAL_OVERFLOW_CHECKS": "true",
}
"""As in the Makefile: the build of `make test` is reused."""
PATIENCE_S = 900


@dataclass(frozen=True)
class RustTests:
    """A program of tests."""

    program: Path
    folder: Path
    """In which cargo runs it."""


@dataclass(frozen=True)
class Machine:
    """A machine that lacks something."""

    words: tuple[str, ...]
    """A command starts with these."""
    environment: Mapping[str, str]

    def run(
        self, command: Iterable[str | Path], folder: Path = ROOT, patience_s: int = PATIENCE_S
    ) -> tuple[bool, str]:
        """Whether a command succeeds there, and its output."""
        try:
            done = subprocess.run(
                [*self.words, *map(str, command)],
                cwd=folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=patience_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            said = error.stdout or b""
            printed = said if isinstance(said, str) else said.decode(errors="replace")
            return False, f"{printed}\nnot ended within {patience_s} s"
        return done.returncode == 0, done.stdout


def programs(name: str) -> list[str]:
    """A program of the table with its aliases."""
    return [name, *TABLE["aliases"].get(name, ())]


def link_others(folder: Path, hidden: Iterable[str]) -> str:
    """Fills a folder with links to every program of the path but the hidden ones; the new path."""
    without = set(hidden)
    for place in os.environ["PATH"].split(os.pathsep):
        for file in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / file.name
            if file.name not in without and os.access(file, os.X_OK) and not link.is_symlink():
                link.symlink_to(file)
    return str(folder)


@contextmanager
def hiding(name: str) -> Iterator[Machine]:
    """A machine without a program or a feature.

    Raises:
        KeyError: it is not in the table.
    """
    # Not in /tmp: an emulated link's uplink has a private file system there.
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        if name in TABLE["programs"]:
            path = link_others(Path(folder), programs(name))
            yield Machine((), os.environ | {"PATH": path})
            return
        feature = TABLE["features"][name]
        yield Machine(tuple(feature.get("hide", ())), os.environ | feature.get("build", {}))


def built(environment: Mapping[str, str]) -> list[RustTests]:
    """Makes the build of `make test`; the programs of the tests on real packets."""
    make = ["make", "--silent", "build"]
    subprocess.run(make, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    features = subprocess.run(
        [ROOT / "packaging" / "features"],
        env=environment, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.split()  # fmt: skip
    command = ["cargo", "test", "--quiet", "--profile", "local", "--workspace", *features]
    told = subprocess.run(
        [*command, "--no-run", "--message-format=json"],
        cwd=ROOT,
        env=environment | CHECKED,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = []
    for line in told.splitlines():
        one = json.loads(line)
        folder = Path(one.get("manifest_path", "")).parent
        if one.get("executable") and one["profile"]["test"] and folder.name in REAL:
            found.append(RustTests(Path(one["executable"]), folder))
    return found


def checked(name: str, programs: Iterable[RustTests]) -> bool:
    """Whether all tests pass, or are skipped, without it; prints how many were skipped."""
    failed, skipped = [], 0
    with hiding(name) as machine:
        for tests in programs:
            passed, said = machine.run([tests.program, "--show-output"], tests.folder)
            skipped += len(re.findall(r"^skipped: ", said, re.MULTILINE))
            if not passed:
                failed.append(said)
        pytest = [ROOT / ".venv/bin/pytest", "-q", "--numprocesses", "auto", "--dist", "loadfile"]
        passed, said = machine.run([*pytest, "-m", "needs and not long", "tests/python"])
        if counted := re.search(r"(\d+) skipped", said):
            skipped += int(counted[1])
        if not passed:
            failed.append(said)
    print(f"without {name}: {'FAILED' if failed else 'passed'}, {skipped} skipped", flush=True)
    for said in failed:
        print(said, flush=True)
    return not failed


def in_turn(names: Iterable[str]) -> bool:
    """Checks each; whether all passed."""
    features = TABLE["features"]
    usual = built(os.environ)
    passed = True
    for name in names:
        other = features.get(name, {}).get("build")
        tests = built(os.environ | other) if other else usual
        passed &= checked(name, tests)
        if other:
            built(os.environ)
    return passed


def bare() -> bool:
    """Whether both commands of README.md succeed in a fresh checkout without any program."""
    hidden = [one for name in TABLE["programs"] for one in programs(name)]
    hidden += ["clang", "pkg-config"]
    # With this tree's path, cargo and the environment reuse the build made for it.
    reuses = os.geteuid() == 0 and (ROOT / ".venv").is_dir()
    with tempfile.TemporaryDirectory(dir=ROOT.parent) as made:
        tree, links = Path(made) / "tree", Path(made) / "bin"
        links.mkdir()
        environment = os.environ | {"PATH": link_others(links, hidden)}
        environment["XDG_CACHE_HOME"] = str(Path(made) / "cache")
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        for name in filter(None, listed.split("\0")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
        words: tuple[str, ...] = ()
        if reuses:
            for kept in ("target", ".venv", *(ROOT / "python/airtcp").glob("_core*.so")):
                source = ROOT / kept
                subprocess.run(["cp", "-a", source, tree / source.relative_to(ROOT)], check=True)
            mount = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"'
            words = ("unshare", "--mount", "sh", "-c", mount, str(tree), str(ROOT))
        for target in ("demo", "test"):
            command = [*words, "make", target]
            if subprocess.run(command, cwd=tree, env=environment, check=False).returncode:
                print(f"bare machine: make {target} FAILED")
                return False
            print(f"bare machine: make {target} passed", flush=True)
    return True


def main() -> int:
    """Runs the requested tests; 1 if a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program or feature to hide")
    parser.add_argument("--bare", action="store_true", help="hide all programs at once")
    asked = parser.parse_args()
    everything = [*TABLE["programs"], *TABLE["features"]]
    if unknown := [name for name in asked.names if name not in everything]:
        parser.error(f"{unknown[0]}: expected one of {', '.join(everything)}")
    if asked.bare:
        return 0 if bare() else 1
    return 0 if in_turn(asked.names or everything) else 1


if __name__ == "__main__":
    sys.exit(main())
