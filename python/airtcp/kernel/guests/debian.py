"""Kernels from Debian's packages: fetched by apt, read without dpkg."""

import io
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from airtcp.kernel.guests.cache import KernelError, version_key

_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
# Only with drivers of virtual machines: the same source, a third of the size.
_FLAVOURS = ("-cloud-amd64", "-amd64")


def fetch(version: str) -> Path:
    """Downloads the newest package of a version known to apt, into a temporary folder.

    The caller removes the folder of the returned path.

    Raises:
        KernelError: apt is missing, knows no such package, or cannot download it.
    """
    apt, cache = shutil.which("apt-get"), shutil.which("apt-cache")
    if apt is None or cache is None:
        raise KernelError(
            "apt-get is not installed: download a package linux-image-*-amd64 of Debian, and "
            "`airtcp kernels add --package FILE`"
        )
    known = _output([cache, "pkgnames", f"linux-image-{version}"]).split()
    package = newest(version, known)
    if package is None:
        raise KernelError(
            f"debian:{version}: apt knows no such kernel; expected a version such as debian:6.1. "
            "`apt-cache search linux-image` lists them, after `apt-get update`; or download one, "
            "and `airtcp kernels add --package FILE`"
        )
    into = Path(tempfile.mkdtemp(prefix="airtcp-kernel-"))
    try:
        done = subprocess.run(
            [apt, "download", "-o", "APT::Sandbox::User=root", package],
            cwd=into,
            capture_output=True,
            text=True,
            check=False,
        )
        found = sorted(into.glob("*.deb"))
        if done.returncode != 0 or not found:
            raise KernelError(f"apt-get download {package}: {_last_line(done.stderr)}")
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise
    return found[0]


def newest(version: str, packages: list[str]) -> str | None:
    """The package with the newest kernel of a version, the smallest flavour first."""
    for flavour in _FLAVOURS:
        pattern = re.compile(rf"linux-image-{re.escape(version)}[.+~][0-9][^-]*(-[0-9]+)?{flavour}")
        found = [package for package in packages if pattern.fullmatch(package)]
        if found:
            return max(found, key=version_key)
    return None


def files(package: Path) -> Iterator[tuple[str, bytes]]:
    """The regular files in a package, name and content.

    Raises:
        KernelError: not a package.
    """
    try:
        content = package.read_bytes()
        with tarfile.open(fileobj=io.BytesIO(_data(content)), mode="r:*") as archive:
            for member in archive:
                opened = archive.extractfile(member) if member.isfile() else None
                if opened:
                    yield member.name.removeprefix("./"), opened.read()
    except (ValueError, tarfile.TarError, EOFError) as error:
        raise KernelError(f"{package}: not a Debian package that can be read ({error})") from error


def _data(package: bytes) -> bytes:
    """The archive of the files: the member data.tar.* of an ar archive (deb(5))."""
    if not package.startswith(_AR_MAGIC):
        raise ValueError("expected an ar archive")
    at = len(_AR_MAGIC)
    while at + _AR_HEADER <= len(package):
        header = package[at : at + _AR_HEADER]
        name = header[:16].decode("ascii", errors="replace").strip().rstrip("/")
        size = int(header[48:58])
        at += _AR_HEADER
        if name.startswith("data.tar"):
            if name.endswith(".zst"):
                raise ValueError("its files are compressed with zstd: repack it with xz")
            return package[at : at + size]
        at += size + size % 2
    raise ValueError("no data.tar in it")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason was given"
