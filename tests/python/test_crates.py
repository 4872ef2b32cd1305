"""Which crate may use which: only those above it, and worlds that share the middle do not meet.

Nor do modules of a crate use each other in a circle.
"""

import re
import subprocess
import sys
import tomllib
from itertools import combinations
from pathlib import Path

import pytest

from rust_modules import Crate, Source, sources

ROOT = Path(__file__).resolve().parents[2]

ORDER = (
    "needs",
    "statistics",
    "units",
    "packet",
    "bpf",
    "tcp",
    "endpoint",
    "recording",
    "link",
    "network",
    "remedies",
    "scenario",
    "script",
    "packetdrill",
    "sessions",
    "sim",
    "lab",
    "browser",
    "capture",
    "host",
    "emulate",
    "deploy",
    "gateway",
    "proxy",
    "net",
    "python",
)
"""From the ground up, as in CONTRIBUTING.md, including planned crates."""

REAL = ("emulate", "deploy", "gateway", "proxy")
"""The trades on real packets: what one needs of another stands in host, or is a trait there."""

APART = (
    ("tcp", "link"),
    ("tcp", "network"),
    ("endpoint", "network"),
    ("sim", "host"),
    *(("sim", trade) for trade in REAL),
    ("sim", "net"),
    *combinations(REAL, 2),
)
"""Pairs that share the crates above them and do not know each other."""

KINDS = ("dependencies", "dev-dependencies", "build-dependencies")


def manifest(root: Path, crate: str) -> dict[str, object]:
    """The manifest of a crate below `root`."""
    return tomllib.loads((root / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))


def _tables(manifest: dict[str, object]) -> list[dict[str, object]]:
    """Every table of dependencies, including platform-specific ones."""
    target = manifest.get("target", {})
    assert isinstance(target, dict)
    found = [place.get(kind, {}) for place in (manifest, *target.values()) for kind in KINDS]
    return [table for table in found if isinstance(table, dict)]


def uses(named: dict[str, object]) -> set[str]:
    """The crates of the workspace that a manifest names, also under another name, but itself."""
    names = set()
    for table in _tables(named):
        for key, value in table.items():
            package = value.get("package", key) if isinstance(value, dict) else key
            if isinstance(package, str) and package.startswith("airtcp-"):
                names.add(package.removeprefix("airtcp-"))
    package = named["package"]
    assert isinstance(package, dict)
    return names - {str(package["name"]).removeprefix("airtcp-")}


CRATES = sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml"))
GRAPH = {crate: uses(manifest(ROOT, crate)) for crate in CRATES}


def upward(graph: dict[str, set[str]]) -> list[str]:
    """The arrows that point upwards, or to a crate without a place."""
    place = {crate: number for number, crate in enumerate(ORDER)}
    return [
        f"{crate} -> {other}"
        for crate, others in graph.items()
        for other in sorted(others)
        if crate not in place or other not in place or place[other] >= place[crate]
    ]


def _reached(crate: str) -> set[str]:
    seen: set[str] = set()
    ahead = [crate]
    while ahead:
        new = GRAPH.get(ahead.pop(), set()) - seen
        seen |= new
        ahead += new
    return seen


def test_every_crate_has_its_place() -> None:
    assert set(CRATES) <= set(ORDER)


def test_a_crate_uses_only_those_above_it() -> None:
    assert upward(GRAPH) == []


def test_an_arrow_upwards_is_seen() -> None:
    network = tomllib.loads(
        """
        package.name = "airtcp-network"
        dependencies.airtcp-link.workspace = true
        dev-dependencies.engine = { package = "airtcp-sim", path = "../sim" }
        target."cfg(unix)".dependencies.airtcp-elsewhere.workspace = true
        """
    )
    assert upward({"network": uses(network)}) == ["network -> elsewhere", "network -> sim"]


@pytest.mark.parametrize(("one", "other"), APART)
def test_worlds_apart_do_not_meet(one: str, other: str) -> None:
    assert other not in _reached(one)
    assert one not in _reached(other)


def test_the_order_is_the_documented_one() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = text[text.index("from the ground up") :].split(";")[0].split("`")[1::2]
    assert listed == [crate for crate in ORDER if crate in CRATES]


def _modules(**texts: str) -> Crate:
    """A crate of these modules; ``_`` in a name separates a folder from its contents."""
    return Crate([Source(tuple(name.split("_")), text) for name, text in texts.items()])


def test_a_circle_between_modules_is_seen() -> None:
    crate = _modules(
        a="use super::{c::Third, b::{self, One}};",
        b_x="fn f() -> crate::c::Third { crate::c::third() }",
        b="mod x; use x::X; pub use x::Second;",
        c="use crate::b::Second as Other; use std::fmt;",
    )
    assert crate.circles() == [["b", "c"]]


def test_a_folder_and_what_is_in_it_are_no_circle() -> None:
    crate = _modules(
        a="mod x; mod y; use x::X; use y::Y; pub struct Shared;",
        a_x="use super::Shared; use super::y::Y;",
        a_y="use super::super::b::B; pub use crate::a::Shared;",
        b="use std::a::Shared;",
    )
    assert crate.circles() == []


def test_a_circle_through_what_a_parent_exports_again_is_seen() -> None:
    crate = _modules(
        a="mod x; mod y; pub use x::X; pub use y::Y;", a_x="use super::Y;", a_y="use super::X;"
    )
    assert crate.circles() == [["a/x", "a/y"]]


@pytest.mark.parametrize("crate", CRATES)
def test_no_modules_of_a_crate_use_each_other_in_a_circle(crate: str) -> None:
    """The parts that both sides need go into a module below them.

    An enum over its variants (agents, congestion controls) is above them, and the trait that
    they share below them.
    """
    assert Crate(sources(ROOT / "crates" / crate / "src")).circles() == []


def _built(*packages: str) -> dict[str, set[str]]:
    """Other people's crates as these packages build them: with which features."""
    command = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none"]
    command += [*packages, "--format", "{p}|{f}"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, set[str]] = {}
    for line in lines.splitlines():
        crate, features = line.removesuffix(" (*)").split("|")
        if "airtcp-" not in crate:
            found.setdefault(crate.removesuffix(" (proc-macro)"), set()).add(features)
    return found


def split_modules(root: Path) -> list[str]:
    """The files `x.rs` next to a folder `x`, below `root`."""
    return [
        str(path.relative_to(root))
        for path in (root / "crates").glob("*/*/**/*.rs")
        if path.with_suffix("").is_dir()
    ]


def test_a_module_with_modules_of_its_own_is_a_folder() -> None:
    """`x/mod.rs`, never `x.rs` next to `x/`."""
    assert split_modules(ROOT) == [], "move each into its folder, as mod.rs"


@pytest.mark.skipif(sys.platform != "linux", reason="airtcp-net is Linux's alone")
def test_the_two_packages_of_make_build_share_what_they_build() -> None:
    """A crate with other features is built twice, and all that uses it: a minute of five."""
    extension, net = _built("--package", "airtcp-python"), _built("--package", "airtcp-net")
    differ = {
        crate: (extension[crate], net[crate])
        for crate in extension.keys() & net.keys()
        if extension[crate] != net[crate]
    }
    assert not differ, "name the missing features in crates/python/ or crates/net/Cargo.toml"


PUBLISHED = (
    "units",
    "packet",
    "bpf",
    "tcp",
    "endpoint",
    "recording",
    "link",
    "network",
    "capture",
)
"""Crates for programs of others, as in docs/reference/crates.md."""


@pytest.mark.parametrize("crate", PUBLISHED)
def test_a_published_crate_is_whole(crate: str) -> None:
    named = manifest(ROOT, crate)
    package = named["package"]
    assert isinstance(package, dict)
    assert package["description"]
    assert package["readme"] == "README.md"
    assert 1 <= len(package["keywords"]) <= 5
    assert all(len(word) <= 20 for word in package["keywords"])
    folder = ROOT / "crates" / crate
    # The registry takes five of its own list.
    assert 1 <= len(package["categories"]) <= 5
    is_bare = "no_std" in (folder / "src" / "lib.rs").read_text(encoding="utf-8")
    assert ("no-std" in package["categories"]) is is_bare
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# airtcp-{crate}\n")
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (folder / licence).read_bytes() == (ROOT / licence).read_bytes()
    for example in re.findall(r"--example (\w+)", readme):
        assert (folder / "examples" / f"{example}.rs").is_file()
    assert f"`airtcp-{crate}`" in (ROOT / "docs/reference/crates.md").read_text(encoding="utf-8")


def test_published_crates_use_published_ones_of_the_same_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    versions = {
        name.removeprefix("airtcp-"): value.get("version")
        for name, value in workspace["dependencies"].items()
        if name.startswith("airtcp-")
    }
    told = {crate for crate, version in versions.items() if version is not None}
    assert told == set(PUBLISHED)
    assert {versions[crate] for crate in told} == {workspace["package"]["version"]}
    for crate in PUBLISHED:
        needed = manifest(ROOT, crate).get("dependencies", {})
        assert isinstance(needed, dict)
        own = {name.removeprefix("airtcp-") for name in needed if name.startswith("airtcp-")}
        assert own <= set(PUBLISHED), crate


@pytest.mark.parametrize("crate", [name for name in ORDER if name not in PUBLISHED])
def test_what_belongs_to_the_program_alone_is_not_published(crate: str) -> None:
    package = manifest(ROOT, crate)["package"]
    assert isinstance(package, dict)
    assert package["publish"] is False
