"""The licence texts of all crates linked into a wheel, and a list of these crates (SBOM).

MIT, BSD, Apache and most other licences demand that their text and the copyright notice come with
every copy. Both files go into the wheel's metadata: the texts as PEP 639 wants them, the list as
PEP 770 does, in CycloneDX.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTICES = "THIRD-PARTY-NOTICES"
ROOTS = ("airtcp-python", "airtcp-net")
"""The packages in a wheel: its core, and the program for real packets."""
_TEXT = re.compile(r"(LICEN[CS]E|COPYING|NOTICE|COPYRIGHT|UNLICENSE)([-._].*)?", re.IGNORECASE)
_RULE = "=" * 78


class MissingTextError(Exception):
    """A crate without a licence text, which cannot be made up for."""


@dataclass(frozen=True)
class Crate:
    """A linked crate."""

    name: str
    version: str
    licence: str
    """Its SPDX expression."""
    authors: tuple[str, ...]
    folder: Path

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:cargo/{self.name}@{self.version}"

    def texts(self) -> list[str]:
        """Its licence texts and notices.

        Raises:
            MissingTextError: it ships no text, and its licence is not MIT.
        """
        files = sorted(file for file in self.folder.iterdir() if _TEXT.fullmatch(file.name))
        found = [file.read_text("utf-8", "replace").strip() for file in files if file.is_file()]
        if found:
            return found
        if "MIT" not in re.split(r"[ /()]+", self.licence):
            raise MissingTextError(
                f"{self.name} {self.version} ({self.licence}): no licence text in {self.folder}: "
                "expected a LICENSE, COPYING or NOTICE file; depend on a version that has one"
            )
        body = (ROOT / "LICENSE-MIT").read_text("utf-8").partition("Permission is")
        return [
            f"Copyright (c) {', '.join(self.authors) or self.name}\n\n{body[1]}{body[2]}".strip()
        ]


def linked(metadata: Mapping[str, Any], roots: Iterable[str] = ROOTS) -> list[Crate]:
    """Crates of others that are linked into `roots`: no build tools, tests or macros.

    `metadata` is that of `cargo metadata`, filtered by platform.
    """
    packages = {one["id"]: one for one in metadata["packages"]}
    nodes = {one["id"]: one for one in metadata["resolve"]["nodes"]}
    wanted, seen = set(roots), set()
    left = [key for key, one in packages.items() if one["name"] in wanted]
    while left:
        key = left.pop()
        if key in seen or any("proc-macro" in of["kind"] for of in packages[key]["targets"]):
            continue
        seen.add(key)
        left += [
            one["pkg"]
            for one in nodes[key]["deps"]
            if any(kind["kind"] is None for kind in one["dep_kinds"])
        ]
    found = [packages[key] for key in seen if packages[key]["source"]]
    crates = [
        Crate(
            one["name"],
            one["version"],
            one["license"] or "",
            tuple(one["authors"]),
            Path(one["manifest_path"]).parent,
        )
        for one in found
    ]
    return sorted(crates, key=lambda one: (one.name, one.version))


def standard_library(version: str) -> Crate:
    """Rust's, which every program of Rust contains.

    Args:
        version: that of the compiler.
    """
    holders = ("The Rust Project contributors",)
    return Crate("std", version, "MIT OR Apache-2.0", holders, Path(__file__).parent)


def notices(crates: Iterable[Crate]) -> str:
    """All texts, each once, with the crates that it covers.

    Raises:
        MissingTextError: a crate has no text.
    """
    covered: dict[str, list[str]] = {}
    for crate in crates:
        for text in crate.texts():
            covered.setdefault(text, []).append(f"{crate.name} {crate.version}")
    head = (
        "airtcp contains the libraries below, unchanged, each under the terms after its name.\n"
        "airtcp's own terms are in LICENSE-MIT and LICENSE-APACHE.\n"
    )
    blocks = [
        f"{_RULE}\n{', '.join(dict.fromkeys(names))}\n{_RULE}\n\n{text}\n"
        for text, names in sorted(covered.items(), key=lambda item: item[1])
    ]
    return "\n".join([head, *blocks])


def sbom(crates: Iterable[Crate], version: str) -> str:
    """The crates as a CycloneDX 1.5 document, the same for the same crates."""
    components = [
        {
            "type": "library",
            "bom-ref": crate.purl,
            "name": crate.name,
            "version": crate.version,
            "purl": crate.purl,
            "licenses": [{"expression": crate.licence.replace("/", " OR ")}],
        }
        for crate in crates
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "airtcp", "version": version}},
        "components": components,
    }
    return json.dumps(document, indent=1) + "\n"
