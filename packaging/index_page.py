"""The page of a package index: README.md without links that lead nowhere outside a checkout.

A wheel carries the page in its METADATA. Links to files of the repository become absolute where the
repository's address is known, and plain text where it is not. The notices of linked crates are
added with it.
"""

import base64
import hashlib
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

_IMAGE = re.compile(r"!\[([^\]]*)\]\((?!https?:)[^)]*\)\n*")
_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def index_page(readme: str, repository: str | None) -> str:
    """README.md as an index shows it.

    Args:
        readme: its text.
        repository: where the repository can be seen, as https://example.org/airtcp, if anywhere.
    """
    if repository is None:
        return _LINK.sub(r"\1", _IMAGE.sub("", readme))
    base = repository.rstrip("/")
    text = _IMAGE.sub(
        lambda found: found[0].replace("](", f"]({base}/raw/main/", 1),
        readme,
    )
    return _LINK.sub(lambda found: f"[{found[1]}]({base}/blob/main/{found[2]})", text)


def put_into(
    wheel: Path, page: str, repository: str | None, added: Mapping[str, bytes] | None = None
) -> None:
    """Replaces the page in a wheel, and adds the address of the repository and files.

    Args:
        wheel: the file, which is replaced.
        page: the page.
        repository: where the repository can be seen, if anywhere.
        added: files of the metadata folder by their names in it; those in `licenses/` are listed
            as License-File (PEP 639).

    Raises:
        OSError: the wheel cannot be read or written.
    """
    whole = wheel.with_suffix(".tmp")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as new:
        changed: dict[str, bytes] = {}
        more = added or {}
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".dist-info/METADATA"):
                head = content.decode().partition("\n\n")[0]
                licences = (name.partition("/") for name in more)
                for folder, _, licence in licences:
                    head += f"\nLicense-File: {licence}" if folder == "licenses" else ""
                if repository is not None:
                    head += f"\nProject-URL: Source, {repository}"
                content = f"{head}\n\n{page}".encode()
                changed[entry.filename] = content
            elif entry.filename.endswith(".dist-info/RECORD"):
                # It is the last entry of a wheel (PEP 427 recommends so).
                folder = entry.filename.rpartition("/")[0]
                for name, text in more.items():
                    changed[f"{folder}/{name}"] = text
                    new.writestr(f"{folder}/{name}", text)
                content = _record(content.decode(), changed).encode()
            new.writestr(entry, content)
    whole.replace(wheel)


def _record(text: str, changed: dict[str, bytes]) -> str:
    """RECORD with the hashes and sizes of changed files (PEP 376, PEP 427)."""
    lines, listed = [], set()
    for line in text.splitlines():
        name = line.partition(",")[0]
        if name in changed:
            line = _line(name, changed[name])
        lines.append(line)
        listed.add(name)
    lines += [_line(name, content) for name, content in changed.items() if name not in listed]
    return "".join(f"{line}\n" for line in lines)


def _line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"{name},sha256={digest.decode()},{len(content)}"
