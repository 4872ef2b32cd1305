"""`make build` has airtcp-net built with the features that the machine can build today.

Stand-ins for the compilers and cargo are on the path, so that a package can be installed and
removed by a link.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHELL = ("sh", "cat", "uname", "touch", "grep", "sort", "find", "install", "mkdir", "make", "date")
CARGO = """#!/bin/sh
echo "$*" >>built
mkdir -p target/local && touch target/local/airtcp-net
"""
CC = """#!/bin/sh
! grep -qvE "{headers}"
"""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("make") is None,
    reason="airtcp-net needs Linux and make",
)


class Machine:
    """A source tree and a path of programs, changed by `install` and `remove`."""

    def __init__(self, folder: Path) -> None:
        self.tree, self._bin = folder / "tree", folder / "bin"
        for made in (self._bin, self.tree / ".venv/bin", self.tree / "packaging/requirements"):
            made.mkdir(parents=True)
        for name in ("Makefile", "packaging/features"):
            shutil.copy(ROOT / name, self.tree / name)
        pinned = [f"packaging/requirements/{one}.txt" for one in ("airtcp", "dev")]
        for name in (*pinned, "pyproject.toml", "Cargo.toml", "Cargo.lock"):
            (self.tree / name).touch()
        for name in SHELL:
            (self._bin / name).symlink_to(shutil.which(name) or name)
        (self._bin / "python3").symlink_to(sys.executable)
        for program in ("maturin", "python"):
            self._write(self.tree / ".venv/bin" / program, "#!/bin/sh\n")
        self._write(self._bin / "cargo", CARGO)
        self.install("clang", "pkg-config", headers="libelf.h|zlib.h")

    def install(self, *programs: str, headers: str = "") -> None:
        for program in programs:
            self._write(self._bin / program, "#!/bin/sh\n")
        if headers:
            self._write(self._bin / "cc", CC.format(headers=headers))

    def remove(self, program: str) -> None:
        (self._bin / program).unlink()

    def build(self) -> tuple[list[str], str]:
        """Features that `make build` requested from cargo, and its output."""
        log = self.tree / "built"
        log.unlink(missing_ok=True)
        done = subprocess.run(
            ["make", "build", "-s"],
            cwd=self.tree,
            env={"PATH": str(self._bin)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return (log.read_text().splitlines() if log.exists() else []), done.stdout

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_package_installed_later_is_built_in(machine: Machine) -> None:
    machine.remove("clang")
    built, said = machine.build()
    assert len(built) == 1
    assert "bpf" not in built[0]
    assert "apt install clang\n" in said
    assert machine.build() == ([], ""), "nothing has changed"
    machine.install("clang")
    (built, said) = machine.build()
    assert built[0].endswith("--features airtcp-net/bpf")
    assert said == ""
    assert machine.build() == ([], "")
    machine.remove("clang")
    built, said = machine.build()
    assert "bpf" not in built[0]


@pytest.mark.parametrize(
    ("headers", "package"), [("zlib.h", "libelf-dev"), ("libelf.h", "zlib1g-dev")]
)
def test_a_missing_header_is_named_by_its_package(
    machine: Machine, headers: str, package: str
) -> None:
    machine.install(headers=headers)
    built, said = machine.build()
    assert "bpf" not in built[0]
    assert f"apt install {package}\n" in said


def test_libbpfs_build_needs_pkg_config(machine: Machine) -> None:
    machine.remove("pkg-config")
    assert "apt install pkg-config\n" in machine.build()[1]


def test_tests_and_lint_have_the_features_that_were_built() -> None:
    """One list: no other file looks for a header."""
    makefile = (ROOT / "Makefile").read_text()
    assert "libelf" not in makefile
    whole = re.findall(r"cargo (?:test|clippy) .*--workspace .*", makefile)
    assert len(whole) > 1
    assert all("$(BPF_FEATURES)" in line for line in whole), whole
    assert os.access(ROOT / "packaging/features", os.X_OK)
