"""The guide "Your own congestion control", walked: its program, and its commands in order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import needs

pytestmark = pytest.mark.needs("clang")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "own-control.md"
TEXT = PAGE.read_text("utf-8")
COMMANDS = [
    shlex.split(line)
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
]
SHORT = ["--set", "duration=1 s"]


def commands(name: str) -> list[list[str]]:
    """The guide's commands of this name, without sudo; those for a kernel tree are left out."""
    plain = [words[words[0] == "sudo" :] for words in COMMANDS]
    found = [words for words in plain if words[:2] == ["airtcp", name]]
    assert found, name
    return [words for words in found if not any("net/ipv4/" in word for word in words)]


def walked(words: list[str], folder: Path, *more: str) -> str:
    """A command's output, in the folder with the guide's program."""
    (program,) = re.findall(r"```c\n(.*?)```", TEXT, re.DOTALL)
    (folder / "gentle.bpf.c").write_text(program)
    line = [sys.executable, "-m", *words, *more]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def test_the_program_has_about_forty_lines() -> None:
    (program,) = re.findall(r"```c\n(.*?)```", TEXT, re.DOTALL)
    assert len(program.splitlines()) <= 45


def test_every_command_is_walked_here() -> None:
    """Those of root in crates/net/tests/deploy/programs.rs and test_own_control.py."""
    names = {words[1 + (words[0] == "sudo")] for words in COMMANDS}
    assert names == {"run", "compare", "verify", "emulate", "deploy"}


def test_runs(tmp_path: Path) -> None:
    for words in commands("run"):
        assert "gentle" in walked(words, tmp_path, *SHORT)


def test_compares(tmp_path: Path) -> None:
    for words in commands("compare"):
        assert "bpf:gentle" in walked(words, tmp_path, *SHORT, "--seeds", "2")


@pytest.mark.needs("bpf")
def test_plans_its_deployment(tmp_path: Path) -> None:
    (planned,) = [words for words in commands("deploy") if "--dry-run" in words]
    assert "tcp_congestion_control=gentle" in walked(planned, tmp_path)


@pytest.mark.needs("bpf", "qemu-system-x86_64", "kernels")
def test_runs_on_kernels(tmp_path: Path) -> None:
    known = {kernel.name for kernel in needs.kernels_with_bpf()}
    for words in commands("verify"):
        place = words.index("--kernel") + 1
        asked = [name for name in words[place].split(",") if name in known]
        if not asked:
            continue
        words[place] = ",".join(asked)
        assert "bpf:gentle" in walked(words, tmp_path, *SHORT, "--seeds", "1")
