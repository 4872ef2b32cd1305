"""Writes requirements.md: what RFCs require, where it is in the code, and which test shows it.

    python docs/reference/write_requirements.py

The sources are docs/reference/requirements/, a file an RFC, each requirement in words of our own.
tests/python/test_requirements.py holds them against the code.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE / "requirements"
PAGE = HERE / "requirements.md"
LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "defines")


@dataclass(frozen=True)
class Place:
    """A file of the repository, and a function in it; without one the file cites the RFC."""

    path: str
    item: str = ""

    @classmethod
    def parse(cls, text: str) -> "Place":
        """From `path` or `path: item`."""
        path, _, item = text.partition(": ")
        return cls(path, item)


@dataclass(frozen=True)
class Requirement:
    """What a section asks for."""

    section: str
    level: str
    says: str
    code: tuple[Place, ...]
    test: tuple[Place, ...]
    exception: str


@dataclass(frozen=True)
class Rfc:
    """An RFC that the project follows."""

    number: int
    title: str
    requirements: tuple[Requirement, ...]


def rfcs() -> tuple[Rfc, ...]:
    """All of them, by number."""
    files = sorted(SOURCES.glob("rfc*.toml"), key=lambda file: int(file.stem[3:]))
    return tuple(_read(file) for file in files)


def _read(file: Path) -> Rfc:
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Rfc(
        int(file.stem[3:]),
        table["title"],
        tuple(
            Requirement(
                row["section"],
                row["level"],
                row["says"].strip(),
                tuple(map(Place.parse, row.get("code", []))),
                tuple(map(Place.parse, row.get("test", []))),
                row.get("exception", "").strip(),
            )
            for row in table["requirement"]
        ),
    )


def page(all_rfcs: Sequence[Rfc]) -> str:
    """The page, as Markdown."""
    return "\n".join(_lines(all_rfcs)) + "\n"


def _lines(all_rfcs: Sequence[Rfc]) -> Iterator[str]:
    yield "# Requirements of RFCs"
    yield ""
    yield from (
        "What the TCP endpoint takes from RFCs, by section and in our own words, with the file",
        "that does it and the tests that show it. Every section that the code cites is here; a",
        "test holds both against each other. Where airtcp differs, or a default is another, the",
        "reason stands beside it. A section that states a rule without a key word of RFC 2119,",
        "as all of RFC 6582 does, *defines*.",
    )
    yield ""
    yield from (
        "Sections and levels were compared with the text of RFC 3168 §6.1 and RFC 6298, and with",
        "quotations from RFC 2018, 2883, 4015, 5681, 5682, 5961, 6582, 6675, 6937, 7323, 8985,",
        "9293 and 9406: not with every sentence of these, and not with RFC 3522 and RFC 9438.",
    )
    yield ""
    yield from (
        "The page is generated from `docs/reference/requirements/` by",
        "`docs/reference/write_requirements.py`.",
    )
    yield ""
    yield "| RFC | | MUST | SHOULD | MAY | with a test | differs |"
    yield "|---:|---|---:|---:|---:|---:|---:|"
    for rfc in all_rfcs:
        asked = [row for row in rfc.requirements if row.level != "defines"]
        counts = [
            sum(row.level.startswith(level) for row in asked) for level in ("MUST", "SHOULD", "MAY")
        ]
        tested = sum(bool(row.test) for row in asked)
        differs = sum(bool(row.exception) for row in asked)
        cells = " | ".join(str(count) for count in (*counts, tested, differs))
        yield f"| [{rfc.number}](#rfc-{rfc.number}) | {rfc.title} | {cells} |"
    for rfc in all_rfcs:
        yield ""
        yield f"## RFC {rfc.number}"
        yield ""
        yield f"[{rfc.title}](https://www.rfc-editor.org/rfc/rfc{rfc.number})."
        yield ""
        yield "| § | | | code | tests |"
        yield "|---|---|---|---|---|"
        for row in rfc.requirements:
            says = f"{row.says} *{row.exception}*" if row.exception else row.says
            cells = (row.section, row.level, says, _files(row.code), _tests(row.test))
            yield f"| {' | '.join(cells)} |"


def _files(places: Sequence[Place]) -> str:
    return ", ".join(f"[`{_short(place.path)}`](../../{place.path})" for place in places)


def _tests(places: Sequence[Place]) -> str:
    named = ((place.item or Path(place.path).stem, place.path) for place in places)
    return ", ".join(f"[`{name}`](../../{path})" for name, path in named)


def _short(path: str) -> str:
    return path.removeprefix("crates/").replace("/src/", "/")


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(rfcs()), encoding="utf-8")


if __name__ == "__main__":
    main()
