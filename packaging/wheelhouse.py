"""Fetches the wheels of airtcp's libraries for a system, so that a trial needs no network."""

import subprocess
import sys
from pathlib import Path

from targets import Target

_GLIBC = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", "manylinux_2_17", "manylinux2014")
_PLATFORMS = {"glibc": _GLIBC, "musl": ("musllinux_1_2", "musllinux_1_1")}
"""Platforms of wheels that a target's system runs, newest first."""


def fetch(wheel: Path, target: Target, python: str, folder: Path) -> None:
    """Fetches the libraries that a wheel of airtcp needs into `folder`, and copies the wheel.

    Args:
        wheel: airtcp's.
        target: its system.
        python: the version of Python in that system, such as "3.13".
        folder: keeps the libraries of an earlier call.
    """
    # pip keeps a file of this name, whatever is in it.
    (folder / wheel.name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
    for platform in _PLATFORMS[target.libc]:
        command += ["--platform", f"{platform}_{target.machine}"]
    subprocess.run([*command, "--find-links", folder, "--dest", folder, wheel], check=True)
