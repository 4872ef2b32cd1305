"""Builds the wheel: the package with its Rust core, what comes with airtcp, and airtcp-net.

    python packaging/wheel.py [--profile release] [--zig] [--out dist] [--net PROGRAM]
                              [--repository URL]

`--zig` links against an old glibc (manylinux_2_28), for which `pip install ziglang` is needed. The
folders that become package data lie at the top of the checkout; they are copied into the package
while the wheel is built, and removed again.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from index_page import index_page, put_into

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "airtcp"
SHIPPED = ("scenarios", "studies", "papers", "recordings")
STAGED = (PACKAGE / "data", PACKAGE / "bin")


def stage(net: Path | None) -> None:
    """Puts into the package what a checkout has beside it."""
    unstage()
    for name in SHIPPED:
        shutil.copytree(ROOT / name, PACKAGE / "data" / name)
    if net:
        (PACKAGE / "bin").mkdir()
        program = PACKAGE / "bin" / "airtcp-net"
        shutil.copy(net, program)
        subprocess.run(["strip", program], check=True)


def unstage() -> None:
    """Takes it out again: in a checkout the folders themselves count."""
    for folder in STAGED:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Builds one wheel."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="release", help="the profile of cargo")
    parser.add_argument("--zig", action="store_true", help="link for manylinux_2_28 with zig")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    parser.add_argument("--net", type=Path, help="airtcp-net, built for the same system")
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
        command += ["--zig", "--compatibility", "manylinux_2_28"]
    try:
        stage(wanted.net)
        subprocess.run(
            [Path(sys.executable).parent / command[0], *command[1:]], cwd=ROOT, check=True
        )
    finally:
        unstage()
    (wheel,) = wanted.out.glob("*.whl")
    page = index_page((ROOT / "README.md").read_text(encoding="utf-8"), wanted.repository)
    put_into(wheel, page, wanted.repository)
    print(f"{wheel.stat().st_size / 1e6:.1f} MB  {wheel}")
    with zipfile.ZipFile(wheel) as files:
        largest = sorted(files.infolist(), key=lambda file: -file.file_size)[:3]
    for file in largest:
        packed = f"{file.compress_size / 1e6:.1f} packed"
        print(f"{file.file_size / 1e6:5.1f} MB  {file.filename}, {packed}")


if __name__ == "__main__":
    main()
