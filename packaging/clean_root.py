"""Clean systems in which a release is tried: Debian by debootstrap, without network.

A root is made once and kept. Each trial sees it through an overlay of its own, in namespaces of its
own, so that it changes neither the root nor the machine. Programs of another processor run by
qemu-user, which the kernel starts (binfmt_misc).
"""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INCLUDED = "python3-venv"
"""Besides Debian's minimal system."""
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's and the OCI specification's words for Linux's."""
BINFMT = Path("/proc/sys/fs/binfmt_misc")
PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
"""The version of Python in each release of Debian that is used."""
OF_THIS_MACHINE = ("etc/hostname", "etc/resolv.conf")
"""Files that debootstrap copies from the machine on which it runs."""
_OVERLAY = """
set -e
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$OVER/upper,workdir=$OVER/work" "$OVER/root"
"""
_SHELL = """
mount -t proc proc "$OVER/root/proc"
mount --rbind /dev "$OVER/root/dev"
exec chroot "$OVER/root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \\
  PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$1"
"""
_COPY = 'cp --archive "$OVER/root/." "$1"'


@dataclass(frozen=True)
class Root:
    """A minimal Debian with Python."""

    suite: str
    machine: str
    """As `uname -m` prints it."""

    @property
    def name(self) -> str:
        """Its name for readers: "Debian trixie, aarch64 (qemu-user)"."""
        emulated = " (qemu-user)" if self.is_emulated else ""
        return f"Debian {self.suite}, {self.machine}{emulated}"

    @property
    def is_emulated(self) -> bool:
        """Whether its processor is not this machine's."""
        return self.machine != platform.machine()

    def obstacle(self) -> str | None:
        """Why it cannot be made or entered here; None if it can."""
        if os.geteuid() != 0:
            return "debootstrap and chroot need root"
        if shutil.which("debootstrap") is None:
            return "debootstrap is missing: apt install debootstrap"
        if self.is_emulated and not (BINFMT / f"qemu-{self.machine}").exists():
            return (
                f"programs for {self.machine} do not run here: "
                "apt install qemu-user-static binfmt-support, mount -t binfmt_misc binfmt_misc "
                f"{BINFMT}, update-binfmts --enable qemu-{self.machine}"
            )
        return None

    def folder(self, roots: Path) -> Path:
        """Its folder below `roots`, made unless it is there.

        Raises:
            subprocess.CalledProcessError: debootstrap failed.
        """
        name = f"{self.suite}-{ARCHITECTURES[self.machine]}"
        made = roots / name
        if not made.exists():
            roots.mkdir(parents=True, exist_ok=True)
            unfinished = roots / f"{name}.partial"
            shutil.rmtree(unfinished, ignore_errors=True)
            # It leaves /proc mounted, which ends with the namespace.
            command = ["unshare", "--mount", "debootstrap", "--variant=minbase"]
            command += [f"--arch={ARCHITECTURES[self.machine]}", f"--include={INCLUDED}"]
            subprocess.run(
                [*command, self.suite, unfinished], check=True, stdout=subprocess.DEVNULL
            )
            for kept in ("var/cache/apt/archives", "var/lib/apt/lists", "debootstrap"):
                shutil.rmtree(unfinished / kept, ignore_errors=True)
            for kept in OF_THIS_MACHINE:
                (unfinished / kept).unlink(missing_ok=True)
            unfinished.rename(made)
        return made


@dataclass(frozen=True)
class Entered:
    """A root that a trial changes; the changes end with it."""

    base: Path
    over: Path

    def put(self, file: Path, place: str) -> None:
        """Copies a file or a folder into it, under the path `place` without a leading slash."""
        there = self.over / "upper" / place
        there.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            shutil.copytree(file, there)
        else:
            shutil.copy(file, there)

    def take(self, place: str) -> Path:
        """The path of a file that a command wrote in it."""
        return self.over / "upper" / place

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs a line of a shell in it, without network."""
        return self._within(_SHELL, command)

    def copy_to(self, folder: Path) -> None:
        """Copies the whole system, with its changes, into a folder that is not there yet."""
        folder.mkdir()
        self._within(_COPY, str(folder)).check_returncode()

    def _within(self, script: str, argument: str) -> subprocess.CompletedProcess[str]:
        namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        return subprocess.run(
            [*namespaces, "sh", "-c", _OVERLAY + script, "sh", argument],
            env={**os.environ, "BASE": str(self.base), "OVER": str(self.over)},
            capture_output=True,
            text=True,
        )


@contextmanager
def entered(base: Path) -> Iterator[Entered]:
    """Opens a root, or any folder with a system in it, for one trial."""
    # An overlay's upper folder must not lie in an overlay, which /tmp of a container may be.
    with tempfile.TemporaryDirectory(dir=base.parent) as folder:
        for name in ("upper", "work", "root"):
            (Path(folder) / name).mkdir()
        yield Entered(base, Path(folder))
