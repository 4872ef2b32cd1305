"""Checks what airtcp depends on: advisories against crates, and licences.

    python packaging/dependencies.py                   # in `make lint`
    python packaging/dependencies.py --renew FOLDER    # from a checkout of RustSec's database

The advisories are a dated copy of RustSec's database (public domain, CC0) in advisories.json: a
check needs no network, and gives the same answer for the same commit.
"""

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from semver import matches

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "packaging" / "advisories.json"
LOCKS = ("Cargo.lock", "fuzz/Cargo.lock")
ACCEPTED: dict[str, str] = {}
"""Advisories that do not concern us, by their id, with the reason."""
TWICE = {
    "getrandom": "0.2 on other systems, 0.3 by ahash, which Arrow takes",
    "r-efi": "by getrandom, for machines that start without an operating system",
    "syn": "1 by pcap-file in tests, 2 by Arrow's and landlock's macros, 3 by serde's and most",
    "thiserror": "1 by pcap-file in tests",
    "thiserror-impl": "with thiserror",
}
"""Crates that are locked in several versions, and why."""
LICENCES = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-1-Clause",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "Unicode-3.0",
        "Unlicense",
        "Zlib",
    }
)
"""Licences that MIT and Apache-2.0 may be distributed with, by their SPDX names."""
PYTHON_LICENCES = LICENCES | {
    "MPL-2.0",
    "PSF-2.0",
    "Python-2.0",
    "MIT-CMU",
    "LicenseRef-matplotlib",
}
"""The same for Python's packages, which are installed as they are and not linked."""
_OLD_NAMES = {
    "MIT License": "MIT",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Classifiers and licence names of packages that have no SPDX expression."""


@dataclass(frozen=True)
class Advisory:
    """One of RustSec's."""

    id: str
    package: str
    kind: str
    """Empty for a vulnerability, or such as "unmaintained"."""
    patched: tuple[str, ...]
    """Requirements; a version that meets one is not affected."""
    unaffected: tuple[str, ...]

    def concerns(self, package: str, version: str) -> bool:
        """Whether a version of a package is affected."""
        fine = (*self.patched, *self.unaffected)
        return package == self.package and not any(matches(version, one) for one in fine)


def known() -> tuple[str, list[Advisory]]:
    """The date of the copy, and its advisories."""
    document = json.loads(LIST.read_text("utf-8"))
    found = [
        Advisory(
            one["id"],
            one["package"],
            one["kind"],
            tuple(one["patched"]),
            tuple(one["unaffected"]),
        )
        for one in document["advisories"]
    ]
    return document["date"], found


def locked(lock: Path) -> Iterator[tuple[str, str]]:
    """Names and versions of the crates of a lock file that come from a registry."""
    for one in tomllib.loads(lock.read_text("utf-8"))["package"]:
        if "source" in one:
            yield one["name"], one["version"]


def affected(crates: Iterable[tuple[str, str]], advisories: Iterable[Advisory]) -> list[str]:
    """A line for each advisory that concerns one of the crates and is not accepted."""
    by_name: dict[str, list[Advisory]] = {}
    for advisory in advisories:
        by_name.setdefault(advisory.package, []).append(advisory)
    return [
        f"{name} {version}: {one.id} ({one.kind or 'vulnerability'}); fixed in "
        f"{' or '.join(one.patched) or 'no version: depend on another crate'}"
        for name, version in sorted(set(crates))
        for one in by_name.get(name, ())
        if one.concerns(name, version) and one.id not in ACCEPTED
    ]


def is_allowed(expression: str, allowed: Iterable[str] = LICENCES) -> bool:
    """Whether an SPDX expression leaves a choice of allowed licences only.

    An exception (`WITH`) only adds permissions.
    """
    plain = re.sub(r"\s+WITH\s+[\w.-]+", "", expression.replace("/", " OR "))
    words = re.findall(r"[()]|[\w.+-]+", plain)
    try:
        return _any_of(words, frozenset(allowed)) and not words
    except IndexError:
        return False


def _any_of(words: list[str], allowed: frozenset[str]) -> bool:
    """Reads alternatives from the beginning of `words`, and removes them."""
    holds = _all_of(words, allowed)
    while words[:1] == ["OR"]:
        words.pop(0)
        holds = _all_of(words, allowed) or holds
    return holds


def _all_of(words: list[str], allowed: frozenset[str]) -> bool:
    holds = _one(words, allowed)
    while words[:1] == ["AND"]:
        words.pop(0)
        holds = _one(words, allowed) and holds
    return holds


def _one(words: list[str], allowed: frozenset[str]) -> bool:
    word = words.pop(0)
    if word != "(":
        return word in allowed
    holds = _any_of(words, allowed)
    return words.pop(0) == ")" and holds


def crate_licences() -> Iterator[tuple[str, str]]:
    """Name with version, and licence, of every crate of others, build tools and tests included."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for one in json.loads(told.stdout)["packages"]:
        if one["source"]:
            yield f"{one['name']} {one['version']}", one["license"] or ""


def python_licences(requirements: Path) -> Iterator[tuple[str, str]]:
    """The same for the packages of a list of requirements that are installed here."""
    for line in requirements.read_text("utf-8").splitlines():
        name, _, version = line.partition("==")
        if not version or line.startswith("#"):
            continue
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        classifiers = (
            one.rpartition(" :: ")[2]
            for one in about.get_all("Classifier", [])
            if one.startswith("License :: OSI Approved")
        )
        names = [*classifiers] or [about.get("License") or ""]
        old = " OR ".join(_OLD_NAMES.get(one, one) for one in names)
        told = about.get("License-Expression") or old or _title(name, about.get("License-File"))
        yield f"{name} {version}", "MIT" if told.startswith("MIT License") else told


def _title(name: str, file: str | None) -> str:
    """The first line of a package's licence text (PEP 639), where its metadata has no name."""
    text = metadata.distribution(name).read_text(f"licenses/{file}") if file else None
    return (text or "").lstrip().partition("\n")[0].strip()


def faults() -> list[str]:
    """A line for each advisory and each licence that is not allowed."""
    found = []
    _, advisories = known()
    for lock in LOCKS:
        if (ROOT / lock).exists():
            crates = affected(locked(ROOT / lock), advisories)
            found += [f"{lock}: {line}" for line in crates]
    for name, licence in crate_licences():
        if not is_allowed(licence):
            found.append(f"{name}: licence {licence!r} is not in LICENCES of {Path(__file__).name}")
    for requirements in sorted((ROOT / "packaging" / "requirements").glob("*.txt")):
        found += [
            f"{requirements.name}: {name}: licence {licence!r} is not in PYTHON_LICENCES"
            for name, licence in python_licences(requirements)
            if not is_allowed(licence, PYTHON_LICENCES)
        ]
    return found


def read(folder: Path) -> list[Advisory]:
    """The advisories of a checkout of RustSec's database that are not withdrawn."""
    found = []
    for file in sorted((folder / "crates").glob("*/RUSTSEC-*.md")):
        block = file.read_text("utf-8").partition("```toml\n")[2].partition("\n```")[0]
        document = tomllib.loads(block)
        about, versions = document["advisory"], document.get("versions", {})
        # A notice is about a use, not about versions.
        if "withdrawn" in about or about.get("informational") == "notice":
            continue
        found.append(
            Advisory(
                about["id"],
                about["package"],
                about.get("informational", ""),
                tuple(versions.get("patched", ())),
                tuple(versions.get("unaffected", ())),
            )
        )
    return found


def renew(folder: Path) -> None:
    """Replaces the copy."""
    command = ["git", "-C", folder, "log", "-1", "--format=%cs"]
    date = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    advisories = read(folder)
    rows = ",\n".join(json.dumps(asdict(one)) for one in advisories)
    LIST.write_text(f'{{"date": "{date}", "advisories": [\n{rows}\n]}}\n', encoding="utf-8")
    print(f"{LIST.name}: {len(advisories)} advisories, {date}")


def main() -> None:
    """Checks, or renews the copy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--renew", type=Path, metavar="FOLDER", help="a checkout of the database")
    folder = parser.parse_args().renew
    if folder is not None:
        renew(folder)
        return
    found = faults()
    sys.stderr.writelines(f"{line}\n" for line in found)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
