"""Packs a static airtcp-gateway for OpenWrt: as .ipk for opkg, and as .apk for apk.

    python packaging/router.py PROGRAM ARCHITECTURE FOLDER

ARCHITECTURE is OpenWrt's word for the router's processor, such as aarch64_cortex-a53 or x86_64. The
packages are not signed: `opkg install FILE`, `apk add --allow-untrusted FILE`.
"""

import hashlib
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from archive import INSTANT, File, below, gzipped, tarred

ROOT = Path(__file__).resolve().parent.parent
OPENWRT = ROOT / "packaging" / "openwrt" / "files"
NAME = "airtcp-gateway"
SUMMARY = "Remedies of an access point on a router's packets"
SETTINGS = "etc/config/airtcp-gateway"
"""The user's file, which an upgrade keeps."""
_EXECUTABLE = ("etc/init.d/", "usr/sbin/")


@dataclass(frozen=True)
class Package:
    """The content of a package, and its description."""

    files: Mapping[str, File]
    architecture: str
    version: str

    @property
    def size(self) -> int:
        """Bytes on the router."""
        return sum(len(file.content) for file in self.files.values())


def package(program: bytes, architecture: str) -> Package:
    """The package of a program, with procd's script, UCI's settings and the jail's lists."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    files = {
        name: File(file.content, 0o755 if name.startswith(_EXECUTABLE) else 0o644)
        for name, file in below(OPENWRT).items()
    }
    script = files["etc/init.d/airtcp-gateway"].content.decode()
    files["etc/init.d/airtcp-gateway"] = File(for_gateway_alone(script).encode(), 0o755)
    files[f"usr/sbin/{NAME}"] = File(program, 0o755)
    return Package(files, architecture, workspace["package"]["version"])


def for_gateway_alone(script: str) -> str:
    """The script of procd for airtcp-gateway, which is the command `gateway` of airtcp-net alone.

    Raises:
        ValueError: the script does not start airtcp-net as expected.
    """
    parts = ("/usr/sbin/airtcp-net\n", '"$PROGRAM" gateway ')
    if any(part not in script for part in parts):
        raise ValueError(f"procd's script: expected {' and '.join(map(repr, parts))}")
    return script.replace(parts[0], f"/usr/sbin/{NAME}\n").replace(parts[1], '"$PROGRAM" ')


def ipk(wanted: Package) -> bytes:
    """A package of opkg: a compressed archive of two others (opkg-utils, opkg-build)."""
    control = {
        "Package": NAME,
        "Version": f"{wanted.version}-1",
        "Depends": "kmod-nft-queue",
        "License": "MIT OR Apache-2.0",
        "Section": "net",
        "Architecture": wanted.architecture,
        "Installed-Size": str(wanted.size),
        "Description": SUMMARY,
    }
    text = "".join(f"{field}: {value}\n" for field, value in control.items())
    about = {"control": File(text.encode()), "conffiles": File(f"/{SETTINGS}\n".encode())}
    parts = {
        "debian-binary": File(b"2.0\n"),
        "data.tar.gz": File(gzipped(tarred(wanted.files, "./"))),
        "control.tar.gz": File(gzipped(tarred(about, "./"))),
    }
    return gzipped(tarred(parts, "./"))


def apk(wanted: Package) -> bytes:
    """A package of apk: two compressed archives, one after the other (apk-package(5), version 2).

    Versions 2 and 3 of apk-tools install it. The first archive has no end, so that both are one.
    """
    data = gzipped(tarred(wanted.files, summed="APK-TOOLS.checksum.SHA1"))
    about = {
        "pkgname": NAME,
        "pkgver": f"{wanted.version}-r1",
        "pkgdesc": SUMMARY,
        "url": "",
        "builddate": str(INSTANT),
        "size": str(wanted.size),
        "arch": wanted.architecture,
        "license": "MIT OR Apache-2.0",
        "depend": "kmod-nft-queue",
        "datahash": hashlib.sha256(data).hexdigest(),
    }
    text = "".join(f"{field} = {value}\n" for field, value in about.items())
    control = tarred({".PKGINFO": File(text.encode())}, ended=False)
    return gzipped(control) + data


def write(program: Path, architecture: str, folder: Path) -> list[Path]:
    """Writes both packages; returns their paths."""
    wanted = package(program.read_bytes(), architecture)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{NAME}_{wanted.version}-1_{architecture}"
    made = {f"{stem}.ipk": ipk(wanted), f"{stem}.apk": apk(wanted)}
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in made]


def main() -> None:
    """Packs one program."""
    program, architecture, folder = sys.argv[1:]
    for path in write(Path(program), architecture, Path(folder)):
        print(f"{path.stat().st_size / 1e6:.1f} MB  {path}")


if __name__ == "__main__":
    main()
