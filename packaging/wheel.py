"""Builds the wheel: the package with its Rust core, the shipped files, and airtcp-net.

    python packaging/wheel.py [--target TRIPLE] [--bpf] [--guided] [--profile release] [--out dist]
                              [--repository URL]

For a target, zig links the core and airtcp-net: against an old glibc (manylinux_2_28), or for musl
(musllinux_1_2). It takes `ziglang` and `cargo-zigbuild` (requirements/wheel.txt) and `rustup target
add TRIPLE`. With `--bpf` as well, libelf and zlib are built for it and linked in (libelf.py). The
folders that become package data lie at the top of the checkout; they are copied into the package
while the wheel is built, and removed again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from index_page import index_page, put_into
from notices import NOTICES, linked, notices, sbom, standard_library
from profile_guided import AbsentError, guided
from programs import ROOT, build, environment, libbpf_sys, metadata
from targets import TARGETS, Target, here, target
from terms import copy_terms

PACKAGE = ROOT / "python" / "airtcp"
SHIPPED = ("scenarios", "studies", "papers", "recordings", "bpf")
STAGED = (PACKAGE / "data", PACKAGE / "bin")


def stage(net: Path | None, *, has_bpf: bool, has_libelf: bool) -> None:
    """Copies the files shipped with the package into it."""
    unstage()
    for name in SHIPPED:
        shutil.copytree(ROOT / name, PACKAGE / "data" / name)
    if net:
        (PACKAGE / "bin").mkdir()
        shutil.copy(net, PACKAGE / "bin" / "airtcp-net")
        if has_bpf:
            copy_terms(*libbpf_sys(), PACKAGE / "data" / "licences", has_libelf=has_libelf)


def unstage() -> None:
    """Takes it out again: in a checkout the folders themselves count."""
    for folder in STAGED:
        shutil.rmtree(folder, ignore_errors=True)


def _of_others(triple: str, *, bpf: bool) -> dict[str, bytes]:
    """The notices and the list of linked crates, by their names in the metadata folder."""
    features = ["--features", "airtcp-net/bpf"] if bpf else []
    known = metadata("--filter-platform", triple, *features)
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True)
    crates = [*linked(known), standard_library(compiler.stdout.split()[1])]
    (core,) = (one for one in known["packages"] if one["name"] == "airtcp-python")
    return {
        f"licenses/{NOTICES}": notices(crates).encode(),
        "sboms/airtcp.cyclonedx.json": sbom(crates, core["version"]).encode(),
    }


def write(
    out: Path,
    wanted: Target | None,
    *,
    bpf: bool = False,
    is_guided: bool = False,
    profile: str = "release",
    repository: str | None = None,
) -> Path:
    """Writes one wheel into `out`; returns its path.

    Args:
        out: a folder.
        wanted: None links for this machine's system.
        bpf: airtcp-net has the kernel's BPF.
        is_guided: the core is built with a profile of its training.
        profile: cargo's.
        repository: its address, for the links of the index's page.

    Raises:
        AbsentError: there can be no profile here.
    """
    variables = guided(wanted) if is_guided else environment()
    net = None
    if sys.platform == "linux":
        net = build("airtcp-net", profile, wanted, bpf=bpf)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as folder:
        command = ["maturin", "build", "--strip", "--profile", profile, "--out", folder]
        if wanted is not None:
            command += ["--zig", "--target", wanted.triple, "--compatibility", wanted.compatibility]
        try:
            stage(net, has_bpf=bpf, has_libelf=bpf and wanted is not None)
            subprocess.run(command, cwd=ROOT, check=True, env=variables)
        finally:
            unstage()
        (wheel,) = Path(folder).glob("*.whl")
        page = index_page((ROOT / "README.md").read_text(encoding="utf-8"), repository)
        triple = here() if wanted is None else wanted.triple
        put_into(wheel, page, repository, _of_others(triple, bpf=bpf))
        return wheel.replace(out / wheel.name)


def main() -> None:
    """Builds one wheel, and prints its largest files."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="release", help="the profile of cargo")
    parser.add_argument(
        "--target",
        choices=[one.triple for one in TARGETS],
        help="link with zig for other machines; default: for this machine's system",
    )
    parser.add_argument(
        "--bpf",
        action="store_true",
        help="airtcp-net with the kernel's BPF, which takes clang; without --target it then needs "
        "libelf and zlib where it runs",
    )
    parser.add_argument(
        "--guided", action="store_true", help="the core is built with a profile of its training"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    parser.add_argument(
        "--repository",
        default=os.environ.get("AIRTCP_REPOSITORY") or None,
        help="where the repository can be seen: for the links of the index's page",
    )
    options = parser.parse_args()
    wanted = target(options.target) if options.target else None
    if options.bpf and wanted is not None and not wanted.has_bpf:
        parser.error(f"--bpf with --target {wanted.triple}: libelf needs glibc; leave out --bpf")
    try:
        wheel = write(
            options.out,
            wanted,
            bpf=options.bpf,
            is_guided=options.guided,
            profile=options.profile,
            repository=options.repository,
        )
    except AbsentError as reason:
        parser.error(f"--guided: {reason}")
    print(f"{wheel.stat().st_size / 1e6:.1f} MB  {wheel}")
    with zipfile.ZipFile(wheel) as files:
        largest = sorted(files.infolist(), key=lambda file: -file.file_size)[:3]
    for file in largest:
        packed = f"{file.compress_size / 1e6:.1f} packed"
        print(f"{file.file_size / 1e6:5.1f} MB  {file.filename}, {packed}")


if __name__ == "__main__":
    main()
