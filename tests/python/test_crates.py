"""Which crate may use which: only those above it, and worlds that share the middle do not meet."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ORDER = (
    "units",
    "packet",
    "tcp",
    "endpoint",
    "link",
    "network",
    "remedies",
    "scenario",
    "script",
    "packetdrill",
    "sessions",
    "sim",
    "capture",
    "net",
    "python",
)
"""From the ground up, as in CONTRIBUTING.md. What is planned there has its place here."""

APART = (("tcp", "link"), ("tcp", "network"), ("endpoint", "network"), ("sim", "net"))
"""Pairs that share what is above them and do not know each other."""

KINDS = ("dependencies", "dev-dependencies", "build-dependencies")


def _manifest(crate: str) -> dict[str, object]:
    return tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))


def _tables(manifest: dict[str, object]) -> list[dict[str, object]]:
    """Every table of dependencies, those of single platforms included."""
    target = manifest.get("target", {})
    assert isinstance(target, dict)
    found = [place.get(kind, {}) for place in (manifest, *target.values()) for kind in KINDS]
    return [table for table in found if isinstance(table, dict)]


def uses(manifest: dict[str, object]) -> set[str]:
    """The crates of the workspace that a manifest names, also under another name, but itself."""
    names = set()
    for table in _tables(manifest):
        for key, value in table.items():
            package = value.get("package", key) if isinstance(value, dict) else key
            if isinstance(package, str) and package.startswith("airtcp-"):
                names.add(package.removeprefix("airtcp-"))
    package = manifest["package"]
    assert isinstance(package, dict)
    return names - {str(package["name"]).removeprefix("airtcp-")}


CRATES = sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml"))
GRAPH = {crate: uses(_manifest(crate)) for crate in CRATES}


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
    manifest = tomllib.loads(
        """
        package.name = "airtcp-network"
        dependencies.airtcp-link.workspace = true
        dev-dependencies.engine = { package = "airtcp-sim", path = "../sim" }
        target."cfg(unix)".dependencies.airtcp-elsewhere.workspace = true
        """
    )
    assert upward({"network": uses(manifest)}) == ["network -> elsewhere", "network -> sim"]


@pytest.mark.parametrize(("one", "other"), APART)
def test_worlds_apart_do_not_meet(one: str, other: str) -> None:
    assert other not in _reached(one)
    assert one not in _reached(other)


def test_the_order_is_the_documented_one() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = text[text.index("from the ground up") :].split(";")[0].split("`")[1::2]
    assert listed == [crate for crate in ORDER if crate in CRATES]


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
