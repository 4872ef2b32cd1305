"""What airtcp depends on: advisories are found by version, licences by SPDX expression."""

import importlib
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "packaging"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "packaging"))


dependencies, semver = _script("dependencies"), _script("semver")


@pytest.mark.parametrize(
    ("requirement", "inside", "outside"),
    [
        # The Cargo Book, "Specifying Dependencies".
        ("1.2.3", ["1.2.3", "1.9.9"], ["1.2.2", "2.0.0", "2.0.0-alpha"]),
        ("^1.2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0"]),
        ("0.2.3", ["0.2.3", "0.2.9"], ["0.2.2", "0.3.0"]),
        ("^0.0.3", ["0.0.3"], ["0.0.2", "0.0.4"]),
        ("^0.0", ["0.0.0", "0.0.9"], ["0.1.0"]),
        ("^0", ["0.0.0", "0.9.9"], ["1.0.0"]),
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.2.2", "1.3.0"]),
        ("~1", ["1.0.0", "1.9.9"], ["2.0.0"]),
        ("1.2.*", ["1.2.0", "1.2.9"], ["1.1.9", "1.3.0"]),
        ("*", ["0.0.1", "9.9.9"], []),
        (">= 1.2.0", ["1.2.0", "1.10.0"], ["1.1.9", "1.2.0-rc.1"]),
        ("> 1.2", ["1.3.0"], ["1.2.9"]),
        ("<= 1.2", ["1.2.9"], ["1.3.0"]),
        (">= 1.2, < 1.5", ["1.2.0", "1.4.9"], ["1.5.0", "1.1.0"]),
        ("= 1.2.3", ["1.2.3"], ["1.2.4"]),
        # semver.org §11: the order of its example.
        ("< 1.0.0-alpha.beta", ["1.0.0-alpha", "1.0.0-alpha.1"], ["1.0.0-beta", "1.0.0"]),
        ("> 1.0.0-beta.2", ["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0"], ["1.0.0-beta"]),
    ],
)
def test_versions_meet_requirements(
    requirement: str, inside: list[str], outside: list[str]
) -> None:
    assert [one for one in inside if not semver.matches(one, requirement)] == []
    assert [one for one in outside if semver.matches(one, requirement)] == []


def test_an_advisory_is_told_with_its_remedy() -> None:
    _, known = dependencies.known()
    # RUSTSEC-2024-0436: no version of paste is maintained. RUSTSEC-2020-0071: `time` before 0.2.23.
    told = dependencies.affected(
        [("paste", "1.0.15"), ("time", "0.1.43"), ("libm", "0.2.8")], known
    )
    assert told == [
        "paste 1.0.15: RUSTSEC-2024-0436 (unmaintained); fixed in no version: depend on another "
        "crate",
        "time 0.1.43: RUSTSEC-2020-0071 (vulnerability); fixed in >= 0.2.23",
    ]
    assert dependencies.affected([("time", "0.3.47")], known) == []


def test_every_requirement_of_the_list_can_be_read() -> None:
    date, known = dependencies.known()
    assert date > "2026"
    assert len(known) > 1000
    for advisory in known:
        assert advisory.concerns(advisory.package, "0.0.0-0") in (True, False)


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-2.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
        ("(MIT", False),
        ("MIT MIT", False),
        ("", False),
    ],
)
def test_licences_are_judged_by_expression(expression: str, allowed: bool) -> None:
    assert dependencies.is_allowed(expression) is allowed


def test_a_database_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "crates" / "old"
    folder.mkdir(parents=True)
    text = '```toml\n[advisory]\nid = "RUSTSEC-1-{n}"\npackage = "old"\n{more}\n' + (
        '[versions]\npatched = [">= 2"]\n```\n# Words\n'
    )
    for number, more in enumerate(["", 'withdrawn = "2026-01-01"', 'informational = "notice"']):
        name = f"RUSTSEC-1-{number}.md"
        (folder / name).write_text(text.replace("{n}", str(number)).replace("{more}", more))
    (found,) = dependencies.read(tmp_path)
    assert found.concerns("old", "1.9.0")
    assert not found.concerns("old", "2.0.0")


def test_nothing_we_lock_has_an_advisory() -> None:
    _, known = dependencies.known()
    for lock in dependencies.LOCKS:
        if (ROOT / lock).exists():
            assert dependencies.affected(dependencies.locked(ROOT / lock), known) == []


def test_no_crate_is_there_twice_but_those_named() -> None:
    """A second version is compiled and linked too; each of these comes with a crate of others."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text("utf-8"))["package"]
    names = [one["name"] for one in packages]
    assert {name for name in names if names.count(name) > 1} <= dependencies.TWICE.keys()
