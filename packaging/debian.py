"""Makes a Debian package of a wheel: airtcp and the libraries of its core in a private environment.

    python packaging/debian.py WHEEL FOLDER [--wheels FOLDER]

Debian's libraries are older than airtcp needs, so the package has them in /usr/lib/airtcp, a
virtual environment over the system's Python. It needs the version of Python that runs this
program. Man pages and completion files come from the help texts (man_pages.py).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRIVATE = "usr/lib/airtcp"
_PROGRAM = f"""\
#!/{PRIVATE}/bin/python3
from airtcp.cli import main

main()
"""


def version() -> str:
    """The workspace's version."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["version"])


def control(architecture: str, kilobytes: int) -> str:
    """The package's control file (Debian policy, 5.3)."""
    major, minor = sys.version_info[:2]
    return (
        "Package: airtcp\n"
        f"Version: {version()}-1\n"
        f"Architecture: {architecture}\n"
        "Maintainer: The airtcp authors <airtcp@localhost>\n"
        f"Installed-Size: {kilobytes}\n"
        f"Depends: python3 (>= {major}.{minor}), python3 (<< {major}.{minor + 1}), "
        "libc6 (>= 2.28), libstdc++6\n"
        "Section: net\n"
        "Priority: optional\n"
        "Description: finds, proves and deploys the change that makes TCP fast over wireless\n"
        " airtcp compares remedies for TCP over a wireless link in simulation, with\n"
        " confidence intervals, diagnoses captures and ping logs, and applies what\n"
        " helps to this machine or to a router.\n"
    )


def install(wheel: Path, tree: Path, wheels: Path | None = None) -> None:
    """Lays the package's files out below `tree`.

    Args:
        wheel: airtcp's.
        tree: an empty folder in place of /.
        wheels: a folder with the wheels of its libraries; None takes them from the index.
    """
    major, minor = sys.version_info[:2]
    private = tree / PRIVATE
    packages = private / "lib" / f"python{major}.{minor}" / "site-packages"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--target", packages]
    if wheels is not None:
        command += ["--no-index", "--find-links", wheels]
    subprocess.run([*command, wheel], check=True)
    # Programs of the libraries, with the path of this Python.
    for program in (packages / "bin").glob("*"):
        program.unlink()
    # Users cannot write the compiled modules, which take longer to make than most commands.
    compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    subprocess.run([*compiled, "-s", tree, "-p", "/", packages], check=True)
    programs = private / "bin"
    programs.mkdir(parents=True)
    (programs / "python3").symlink_to(f"/usr/bin/python{major}.{minor}")
    (private / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {major}.{minor}\n",
        encoding="utf-8",
    )
    (programs / "airtcp").write_text(_PROGRAM, encoding="utf-8")
    (programs / "airtcp").chmod(0o755)
    links = tree / "usr" / "bin"
    links.mkdir(parents=True)
    (links / "airtcp").symlink_to("../lib/airtcp/bin/airtcp")
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    pages = [sys.executable, ROOT / "packaging" / "man_pages.py", tree / "usr" / "share"]
    subprocess.run(pages, check=True, env=environment)
    _copyright(packages, tree / "usr" / "share" / "doc" / "airtcp")


def _copyright(packages: Path, folder: Path) -> None:
    """Our licences, and the place of the libraries' licences, which pip installs."""
    folder.mkdir(parents=True)
    licence = (ROOT / "LICENSE-MIT").read_text(encoding="utf-8")
    (found,) = packages.glob("airtcp-*.dist-info")
    where = f"/{(Path(PRIVATE) / found.relative_to(packages.parents[2])).as_posix()}/licenses"
    text = (
        "airtcp is under the MIT licence, below, or the Apache License 2.0\n"
        "(/usr/share/common-licenses/Apache-2.0), as you choose. The licences of the libraries\n"
        f"that it contains are in {where}\n"
        "and in the neighbouring folders that end in .dist-info.\n\n"
    )
    (folder / "copyright").write_text(text + licence, encoding="utf-8")


def write(wheel: Path, folder: Path, wheels: Path | None = None) -> Path:
    """Writes the package into `folder`; returns its path."""
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], check=True, capture_output=True, text=True
    ).stdout.strip()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        tree.mkdir(mode=0o755)
        install(wheel, tree, wheels)
        size = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir())
        (tree / "DEBIAN").mkdir(mode=0o755)
        text = control(architecture, -(-size // 1024))
        (tree / "DEBIAN" / "control").write_text(text, encoding="utf-8")
        made = folder / f"airtcp_{version()}-1_{architecture}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, made]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def main() -> None:
    """Makes one package."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheels", type=Path, help="wheels of the libraries, for no network")
    wanted = parser.parse_args()
    made = write(wanted.wheel.resolve(), wanted.folder, wanted.wheels)
    print(f"{made.stat().st_size / 1e6:.1f} MB  {made}")


if __name__ == "__main__":
    main()
