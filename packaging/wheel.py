"""Builds the wheel: the package with its Rust core, the shipped files, and airtcp-net.

    python packaging/wheel.py [--zig] [--bpf] [--profile release] [--out dist] [--repository URL]

`--zig` links the core and airtcp-net against an old glibc (manylinux_2_28), for which `ziglang` and
`cargo-zigbuild` are installed with maturin (requirements/wheel.txt). With `--bpf` as well, libelf
and zlib are built for it and linked in (libelf.py). The folders that become package data lie at the
top of the checkout; they are copied into the package while the wheel is built, and removed again.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, cast

import libelf
from index_page import index_page, put_into
from notices import NOTICES, linked, notices, sbom, standard_library
from terms import copy_terms

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "airtcp"
SHIPPED = ("scenarios", "studies", "papers", "recordings", "bpf")
STAGED = (PACKAGE / "data", PACKAGE / "bin")
MANYLINUX = (2, 28)
"""The oldest glibc that a wheel linked by zig runs with: that of RHEL 8 and Debian 10."""


def stage(net: Path | None, *, has_bpf: bool, has_libelf: bool) -> None:
    """Copies the files shipped with the package into it."""
    unstage()
    for name in SHIPPED:
        shutil.copytree(ROOT / name, PACKAGE / "data" / name)
    if net:
        (PACKAGE / "bin").mkdir()
        program = PACKAGE / "bin" / "airtcp-net"
        shutil.copy(net, program)
        subprocess.run(["strip", program], check=True)
        if has_bpf:
            copy_terms(*libbpf_sys(), PACKAGE / "data" / "licences", has_libelf=has_libelf)


def unstage() -> None:
    """Takes it out again: in a checkout the folders themselves count."""
    for folder in STAGED:
        shutil.rmtree(folder, ignore_errors=True)


def environment() -> dict[str, str]:
    """With the programs of this Python's environment first, zig's among them."""
    programs = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}


def metadata(*options: str) -> dict[str, Any]:
    """The workspace's metadata from cargo."""
    command = ["cargo", "metadata", "--format-version", "1", *options]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment())
    return cast("dict[str, Any]", json.loads(told.stdout))


def libbpf_sys() -> tuple[Path, str]:
    """The folder and the version of the crate that airtcp-net's BPF is built with."""
    packages = metadata("--features", "airtcp-net/bpf")["packages"]
    (found,) = (one for one in packages if one["name"] == "libbpf-sys")
    return Path(found["manifest_path"]).parent, found["version"]


def build_net(profile: str, *, zig: bool, bpf: bool) -> Path:
    """Builds airtcp-net, and returns where it is."""
    command = ["cargo", "zigbuild" if zig else "build", "--quiet", "--package", "airtcp-net"]
    command += ["--profile", profile]
    folder = profile
    built = Path(metadata("--no-deps")["target_directory"])
    variables = environment()
    if zig:
        target = f"{platform.machine()}-unknown-linux-gnu"
        command += ["--target", f"{target}.{MANYLINUX[0]}.{MANYLINUX[1]}"]
        folder = f"{target}/{profile}"
    if zig and bpf:
        sources, _ = libbpf_sys()
        of_zig = f"{platform.machine()}-linux-gnu.{MANYLINUX[0]}.{MANYLINUX[1]}"
        variables |= libelf.build(sources, built / "libelf", of_zig)
        command += ["--features", "bpf-static"]
    elif bpf:
        command += ["--features", "bpf"]
    subprocess.run(command, cwd=ROOT, check=True, env=variables)
    return built / folder / "airtcp-net"


def _of_others(*, bpf: bool) -> dict[str, bytes]:
    """The notices and the list of linked crates, by their names in the metadata folder."""
    target = f"{platform.machine()}-unknown-linux-gnu"
    features = ["--features", "airtcp-net/bpf"] if bpf else []
    known = metadata("--filter-platform", target, *features)
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    crates = [*linked(known), standard_library(compiler.stdout.split()[1])]
    (core,) = (one for one in known["packages"] if one["name"] == "airtcp-python")
    return {
        f"licenses/{NOTICES}": notices(crates).encode(),
        "sboms/airtcp.cyclonedx.json": sbom(crates, core["version"]).encode(),
    }


def main() -> None:
    """Builds one wheel."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="release", help="the profile of cargo")
    parser.add_argument("--zig", action="store_true", help="link for manylinux_2_28 with zig")
    parser.add_argument(
        "--bpf",
        action="store_true",
        help="airtcp-net with the kernel's BPF, which takes clang; without --zig it then needs "
        "libelf and zlib where it runs",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    parser.add_argument(
        "--repository",
        default=os.environ.get("AIRTCP_REPOSITORY") or None,
        help="where the repository can be seen: for the links of the index's page",
    )
    wanted = parser.parse_args()
    for old in wanted.out.glob("airtcp-*.whl"):
        old.unlink()
    command = ["maturin", "build", "--strip", "--profile", wanted.profile, "--out", wanted.out]
    if wanted.zig:
        command += ["--zig", "--compatibility", f"manylinux_{MANYLINUX[0]}_{MANYLINUX[1]}"]
    net = None
    if sys.platform == "linux":
        net = build_net(wanted.profile, zig=wanted.zig, bpf=wanted.bpf)
    try:
        stage(net, has_bpf=wanted.bpf, has_libelf=wanted.bpf and wanted.zig)
        subprocess.run(command, cwd=ROOT, check=True, env=environment())
    finally:
        unstage()
    (wheel,) = wanted.out.glob("*.whl")
    page = index_page((ROOT / "README.md").read_text(encoding="utf-8"), wanted.repository)
    put_into(wheel, page, wanted.repository, _of_others(bpf=wanted.bpf))
    print(f"{wheel.stat().st_size / 1e6:.1f} MB  {wheel}")
    with zipfile.ZipFile(wheel) as files:
        largest = sorted(files.infolist(), key=lambda file: -file.file_size)[:3]
    for file in largest:
        packed = f"{file.compress_size / 1e6:.1f} packed"
        print(f"{file.file_size / 1e6:5.1f} MB  {file.filename}, {packed}")


if __name__ == "__main__":
    main()
