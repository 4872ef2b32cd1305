"""Compares a wheel with its checkout, and lists missing or wrong contents."""

import re
import subprocess
import tempfile
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("scenarios", "studies", "papers", "recordings")
FIELDS = (
    "Name",
    "Version",
    "Summary",
    "Keywords",
    "License-Expression",
    "License-File",
    "Requires-Python",
    "Requires-Dist",
    "Classifier",
    "Description-Content-Type",
)
"""The fields of the core metadata that an index shows or an installer reads."""
OF_OTHERS = ("licenses/THIRD-PARTY-NOTICES", "sboms/airtcp.cyclonedx.json")
"""The licence texts of linked crates, and their list (notices.py)."""
EVERYWHERE = {
    "manylinux": re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s)|ld-linux[\w-]*)\.so\.\d+"),
    "musllinux": re.compile(r"libc\.(musl-\w+\.so\.1|so)"),
}
"""Libraries of every system with a tag (PEP 600, PEP 656). musl takes libc.so for itself, by any
name that it goes by (`reserved` in its ldso/dynlink.c)."""
LINKED_IN = {
    "libbpf": (b"libbpf: ", "airtcp/data/licences/libbpf"),
    "libelf": (b"invalid `Elf' handle", "airtcp/data/licences/COPYING-LGPLV3"),
}
"""Words that a program with that library contains, and the file of the library's licence."""
_LEADS_NOWHERE = re.compile(r"\]\((?!https?://|#)")
_BUILT = {"__pycache__", "data", "bin"}


def problems(wheel: Path) -> list[str]:
    """A line for each; empty for a wheel that is whole."""
    with zipfile.ZipFile(wheel) as files:
        names = set(files.namelist())
        found = [f"missing: {name}" for name in sorted(expected() - names)]
        found += _of_metadata(names, files)
        programs = [name for name in names if name.endswith(".so") or "/bin/" in name]
        if not any(name.startswith("airtcp/_core") and name.endswith(".so") for name in programs):
            found.append("missing: the Rust core")
        if "linux" in wheel.name:
            found += _of_net(files, names)
        with tempfile.TemporaryDirectory() as folder:
            for name in sorted(programs):
                found += _of_program(Path(files.extract(name, folder)), name, wheel.name)
    return found


def expected() -> set[str]:
    """The files of the package and those shipped with it, as a wheel names them."""
    package = ROOT / "python" / "airtcp"
    own = {path for path in package.rglob("*") if path.is_file() and path.suffix != ".so"}
    names = {path.relative_to(package.parent) for path in own}
    names = {name for name in names if not _BUILT & set(name.parts)}
    for kind in SHIPPED:
        found = (path for path in (ROOT / kind).rglob("*") if path.is_file())
        names |= {Path("airtcp/data") / path.relative_to(ROOT) for path in found}
    return {name.as_posix() for name in names}


def _of_metadata(names: set[str], files: zipfile.ZipFile) -> list[str]:
    (name,) = [name for name in names if name.endswith(".dist-info/METADATA")]
    metadata: Message = BytesParser().parsebytes(files.read(name))
    found = [f"METADATA has no {field}" for field in FIELDS if field not in metadata]
    page = files.read(name).decode().partition("\n\n")[2]
    if len(page) < 1000:
        found.append("METADATA has no page")
    found += [f"the page links into a checkout: {at[0]}" for at in _LEADS_NOWHERE.finditer(page)]
    folder = name.rpartition("/")[0]
    found += [f"missing: {one}" for one in OF_OTHERS if f"{folder}/{one}" not in names]
    found += [
        f"missing: the text of {licence}"
        for licence in metadata.get_all("License-File", [])
        if f"{folder}/licenses/{licence}" not in names
    ]
    return found


def _of_net(files: zipfile.ZipFile, names: set[str]) -> list[str]:
    name = "airtcp/bin/airtcp-net"
    if name not in names:
        return [f"missing: {name}"]
    found = []
    mode = files.getinfo(name).external_attr >> 16
    if mode & 0o111 != 0o111:
        found.append(f"{name} cannot be executed: mode {mode:o}")
    program = files.read(name)
    for library, (words, terms) in LINKED_IN.items():
        if words in program and terms not in names:
            found.append(f"{name} contains {library}, and its licence is missing: {terms}")
    return found


def _of_program(program: Path, name: str, wheel: str) -> list[str]:
    """Symbols that should be stripped, and requirements that the wheel's tag does not promise."""
    found = []
    sections = _readelf("--section-headers", program)
    if re.search(r"\.(symtab|debug_info)\b", sections):
        found.append(f"{name} is not stripped")
    tag = re.search(r"(manylinux|musllinux)_(\d+)_(\d+)", wheel)
    if tag is None:
        return found
    # A program for musl names no version of a glibc.
    promised = (int(tag[2]), int(tag[3])) if tag[1] == "manylinux" else (0, 0)
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", _readelf("--version-info", program))
    needed = max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))
    if needed > promised:
        found.append(f"{name} needs glibc {needed[0]}.{needed[1]}, and the wheel's tag says less")
    libraries = re.findall(r"\(NEEDED\).*\[(.+)\]", _readelf("--dynamic", program))
    found += [
        f"{name} needs {library}"
        for library in libraries
        if not EVERYWHERE[tag[1]].fullmatch(library)
    ]
    return found


def _readelf(what: str, program: Path) -> str:
    command = ["readelf", "--wide", what, program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
