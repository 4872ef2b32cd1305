"""What `make wheel` looks at: that a wheel is whole, and which commands it runs.

A wheel itself takes minutes to build: `make wheel` builds one, and installs and uses it.
"""

import importlib
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
METADATA = """Metadata-Version: 2.4
Name: airtcp
Version: 1
Summary: A summary
Keywords: TCP
License-Expression: MIT
License-File: LICENSE-MIT
Requires-Python: >=3.11
Requires-Dist: numpy
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

""" + ("A page. " * 200)
FOLDER = "airtcp-1.dist-info"
Change = Callable[[dict[str, bytes]], object]


def _script(name: str) -> ModuleType:
    # A script's neighbours are found in its folder.
    sys.path.insert(0, str(ROOT / "packaging"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "packaging"))


contents, try_wheel = _script("contents"), _script("try_wheel")


def _wheel(folder: Path, change: Change, platform: str = "any") -> Path:
    """A wheel with everything but a core, changed."""
    files = dict.fromkeys(contents.expected(), b"")
    files[f"{FOLDER}/METADATA"] = METADATA.encode()
    files[f"{FOLDER}/licenses/LICENSE-MIT"] = b"MIT"
    files |= dict.fromkeys((f"{FOLDER}/{name}" for name in contents.OF_OTHERS), b"")
    change(files)
    path = folder / f"airtcp-1-cp311-abi3-{platform}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: None, []),
        (
            lambda files: files.pop("airtcp/data/scenarios/ping.toml"),
            ["missing: airtcp/data/scenarios/ping.toml"],
        ),
        (
            lambda files: files.pop("airtcp/pages/templates/report.html.j2"),
            ["missing: airtcp/pages/templates/report.html.j2"],
        ),
        (
            lambda files: files.pop(f"{FOLDER}/licenses/LICENSE-MIT"),
            ["missing: the text of LICENSE-MIT"],
        ),
        (
            lambda files: files.pop(f"{FOLDER}/licenses/THIRD-PARTY-NOTICES"),
            ["missing: licenses/THIRD-PARTY-NOTICES"],
        ),
        (
            lambda files: files.update(
                {f"{FOLDER}/METADATA": METADATA.replace("Keywords: TCP\n", "").encode()}
            ),
            ["METADATA has no Keywords"],
        ),
        (
            lambda files: files.update(
                {f"{FOLDER}/METADATA": (METADATA + "[a](docs/b.md)").encode()}
            ),
            ["the page links into a checkout: ]("],
        ),
    ],
    ids=["whole", "scenario", "template", "licence", "notices", "field", "link"],
)
def test_what_a_wheel_lacks_is_said(tmp_path: Path, change: Change, said: list[str]) -> None:
    assert contents.problems(_wheel(tmp_path, change)) == [*said, "missing: the Rust core"]


def test_programs_are_looked_at(tmp_path: Path) -> None:
    """This Python's own program stands for airtcp-net: it needs more than old systems have."""
    program = Path(sys.executable).resolve().read_bytes()
    wheel = _wheel(
        tmp_path,
        lambda files: files.update({"airtcp/bin/airtcp-net": program}),
        "manylinux_2_5_x86_64",
    )
    said = contents.problems(wheel)
    assert "missing: the Rust core" in said
    assert any("airtcp-net cannot be executed: mode" in line for line in said)
    assert any("airtcp-net needs glibc 2." in line for line in said)


def test_a_wheel_for_musl_needs_no_other_c_library(tmp_path: Path) -> None:
    program = Path(sys.executable).resolve().read_bytes()
    wheel = _wheel(
        tmp_path,
        lambda files: files.update({"airtcp/bin/airtcp-net": program}),
        "musllinux_1_2_x86_64",
    )
    assert "airtcp/bin/airtcp-net needs libc.so.6" in contents.problems(wheel)
    assert contents.EVERYWHERE["musllinux"].fullmatch("libc.musl-x86_64.so.1")


@pytest.mark.parametrize("library", contents.LINKED_IN)
def test_a_library_is_not_given_away_without_its_licence(tmp_path: Path, library: str) -> None:
    words, terms = contents.LINKED_IN[library]
    program = Path(sys.executable).resolve().read_bytes()
    files = {"airtcp/bin/airtcp-net": program + words}
    licence = {terms: b"terms"}
    without = contents.problems(_wheel(tmp_path, lambda of: of.update(files), "linux_x86_64"))
    whole = contents.problems(
        _wheel(tmp_path, lambda of: of.update(files | licence), "linux_x86_64")
    )
    assert any(f"contains {library}, and its licence is missing" in line for line in without)
    assert not any(library in line for line in whole)


def test_commands_of_the_pages_are_found_and_chosen() -> None:
    page = """
`airtcp list scenarios` lists, `airtcp emulate FILE -- COMMAND` is for yours.
```
ping -D HOST > my.ping        # not ours
airtcp compare ping --set a=b \\
    --seeds 20                # continued
airtcp deploy bbr --all
airtcp deploy bbr --all --dry-run
airtcp verify lossy-pipe --remedy bbr
```
"""
    found = try_wheel.commands(page)
    assert found == [
        "airtcp compare ping --set a=b --seeds 20",
        "airtcp deploy bbr --all",
        "airtcp deploy bbr --all --dry-run",
        "airtcp verify lossy-pipe --remedy bbr",
        "airtcp list scenarios",
        "airtcp emulate FILE -- COMMAND",
    ]
    left = [one for one in found if try_wheel.why_not(one, real_packets=True)]
    assert left == ["airtcp deploy bbr --all", "airtcp emulate FILE -- COMMAND"]
    assert try_wheel.why_not("airtcp verify lossy-pipe --remedy bbr", real_packets=False)


def test_the_pages_have_commands_that_are_run() -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in try_wheel.PAGES]
    for page in pages:
        found = try_wheel.commands(page)
        assert [one for one in found if not try_wheel.why_not(one, real_packets=False)]
