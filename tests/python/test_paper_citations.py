"""Every citation of a paper names a part that the paper has: a section, table, figure, equation.

`papers/<paper>/sections.toml` lists the parts. Where the papers' texts are at hand, in the folder
that AIRTCP_PAPERS names, the lists are held against them, and so is every quotation.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = Path(os.environ.get("AIRTCP_PAPERS", ROOT.parent / "shared" / "papers"))

_CHAPTER = r"(?:IX|IV|V?I{1,3}|V|X)"
_PART = rf"(?:{_CHAPTER}(?:[-.][A-H](?:\.\d)?)?|\d(?:\.\d){{0,2}})(?![\w%])"
_NUMBERS = r"(?:\d|[IVX]+)(?![\w%])(?:(?:,| and| to|,? or|-) ?(?:\d|[IVX]+)(?![\w%.]))*"
_CITED = (
    rf"§(?P<section>{_PART})|\b[Tt]ables? (?P<table>{_NUMBERS})"
    rf"|\b(?:Figs?\.|[Ff]igures?) (?P<figure>{_NUMBERS})"
    rf"|\b(?:[Ee]q\.|[Ee]quations?) (?P<equation>{_NUMBERS})"
)
_OTHERS = (
    r"RFC \d+|\b[Dd]raft\b|IEEE|802\.\d+|pcapng|qlog|TS \d\d\.|TAOCP|virtio|WCAG"
    r"|[A-Z][\w-]+ et al|[A-Z][\w-]+ & [A-Z][\w-]+|\b(?:TACK|Veno|LEDBAT|Vegas|Heusse)\b"
)
_CONTINUED = re.compile(r"\n\s*(?://[/!]?|#|\*)[ ]?(?=\S)| ?\\\n\s*")


@dataclass(frozen=True)
class Parts:
    """Parts of a paper that can be cited."""

    paper: str
    text: str
    cited_as: list[str]
    tables: list[str]
    figures: list[str]
    equations: list[str]
    sections: dict[str, str]

    def has(self, kind: str, name: str) -> bool:
        """Whether the paper has that part."""
        return name in getattr(self, f"{kind}s")


PAPERS = [
    Parts(path.parent.name, **tomllib.loads(path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "papers").glob("*/sections.toml"))
]
_NAMES = "|".join(re.escape(name) for paper in PAPERS for name in paper.cited_as)
_AUTHORS = rf"\b(?P<paper>{_NAMES})\b(?:(?:, [A-Z]\w+)* & [A-Z]\w+| et al)?"
_TOKEN = re.compile(rf"(?P<source>{_AUTHORS}|{_OTHERS})|{_CITED}")


def cited_in(text: str, own: Parts | None = None) -> Iterator[tuple[Parts, str, str]]:
    """Each paper, kind of part and name of a part that a text cites.

    A citation belongs to the last source named before it. `own` is the paper that a line without a
    source means; elsewhere a source goes on across lines.
    """
    meant = own
    for line in _CONTINUED.sub(" ", text).splitlines():
        meant = own or meant
        for token in _TOKEN.finditer(line):
            if token["source"]:
                meant = next((one for one in PAPERS if token["paper"] in one.cited_as), None)
            elif meant is not None:
                kind = token.lastgroup or ""
                for name in re.split(r",? (?:and|to|or) |, ?|-(?=\d)", token[kind]):
                    yield meant, kind, name


def sources() -> Iterator[tuple[Path, Parts | None]]:
    """The files in which papers are cited, and the paper that each is about."""
    by_name = {paper.paper: paper for paper in PAPERS}
    for folder in ("crates", "bpf", "python", "docs", "papers", "scenarios", "studies"):
        for path in sorted((ROOT / folder).rglob("*")):
            is_text = path.suffix in {".rs", ".py", ".toml", ".md", ".h", ".c", ".j2"}
            if is_text and "requirements" not in path.parts and path.is_file():
                yield path, by_name.get(path.parent.name) if folder == "papers" else None


def test_citations_are_found_in_every_form() -> None:
    by_name = {paper.paper: paper for paper in PAPERS}
    text = (
        "/// Lien et al., Table II, and (Lien, Reeve &\n    /// Lee §III.A), RFC 6298 §2.2\n"
        'a: "Miyim §III, eq. 3; RFC \\\n     9293 §3.4",\n// Srinivasan, Fig. 4\n// §3.2\n'
    )
    assert [(paper.paper, kind, name) for paper, kind, name in cited_in(text)] == [
        ("newzag", "table", "II"),
        ("newzag", "section", "III.A"),
        ("rto-factor", "section", "III"),
        ("rto-factor", "equation", "3"),
        ("wsc-tcp", "figure", "4"),
        ("wsc-tcp", "section", "3.2"),
    ]
    own = by_name["newzag"]
    found = list(cited_in("§II-D, Tables I and II\nRFC 6298 §2\nFig. 4", own))
    assert [name for _, _, name in found] == ["II-D", "I", "II", "4"]


def test_every_citation_names_a_part_that_the_paper_has() -> None:
    wrong, seen = [], 0
    for path, own in sources():
        for paper, kind, name in cited_in(path.read_text(encoding="utf-8"), own):
            seen += 1
            if not paper.has(kind, name):
                wrong.append(f"{path.relative_to(ROOT)}: {paper.paper}: no {kind} {name}")
    assert not wrong, "\n".join(wrong)
    assert seen > 250, "the citations are no longer found"


_HEADINGS = [
    (re.compile(rf"#* ?({_CHAPTER})\. ([A-Z].*)"), ""),
    (re.compile(r"#* ?([A-H])\. ([A-Z].*)"), "-"),
    (re.compile(r"#* ?(\d)\) \*([^*]*)"), "."),
]
_DECIMAL = re.compile(r" ?(\d(?:\.\d){1,2}) ([A-Z][\w-]+.*)|[ ]?(\d)\. ([A-Z-]{3,}.*)")


def sections_of(paper: Parts, text: str) -> dict[str, str]:
    """The sections of a text, each with all that is in it, by the numbers of their headings."""
    path = ["", "", ""]
    is_decimal = "1" in paper.sections
    found: dict[str, str] = {}
    for line in text.splitlines():
        if is_decimal:
            match = _DECIMAL.match(line)
            number = (match[1] or match[3]) if match else ""
            if match and _same(match[2] or match[4], paper.sections.get(number, "")):
                path = [number, "", ""]
        for level, (form, joint) in enumerate([] if is_decimal else _HEADINGS):
            match = form.match(line)
            if match and (level == 0 or path[level - 1]):
                path[level] = (path[level - 1] + joint if level else "") + match[1]
                path[level + 1 :] = [""] * (2 - level)
                assert _same(match[2], paper.sections.get(path[level], "")), line
                break
        holders = [part for part in path if part]
        if is_decimal and path[0]:
            numbers = path[0].split(".")
            holders = [".".join(numbers[:count]) for count in range(1, len(numbers) + 1)]
        for part in holders:
            found[part] = f"{found.get(part, '')}{line}\n"
    return found


def _plain(text: str) -> str:
    """The letters and digits of a text, which a transcription of its signs does not change."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _same(heading: str, title: str) -> bool:
    """By their beginnings: a scan spoils letters of capitals."""
    return bool(title) and _plain(heading)[:6] == _plain(title)[:6]


def _text_of(paper: Parts) -> str:
    file = TEXTS / paper.text
    if not file.exists():
        pytest.skip(f"{paper.text} is not here: AIRTCP_PAPERS names the folder of the texts")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.paper)
def test_the_lists_are_those_of_the_texts(paper: Parts) -> None:
    text = _text_of(paper)
    assert list(sections_of(paper, text)) == list(paper.sections)
    assert set(re.findall(r"Fig(?:s?\.|ure) (\d)", text)) == set(paper.figures)
    assert set(re.findall(r"^T(?:able|ABLE) ([IVX]+|\d)$", text, re.MULTILINE)) == set(paper.tables)
    numbered = re.findall(r"[,\s]\((\d)\)\s*(?:\$\$)?$", text, re.MULTILINE)
    assert set(numbered) == set(paper.equations)


_QUOTED = re.compile(rf'§({_PART})[^§"\n]{{0,120}}?\\?"([^"\n]{{12,}}?)\\?"')
"""A section and the words that are quoted from it."""


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.paper)
def test_quotations_are_in_the_sections_that_they_name(paper: Parts) -> None:
    sections = {name: _plain(text) for name, text in sections_of(paper, _text_of(paper)).items()}
    wrong = []
    for path in sorted((ROOT / "papers" / paper.paper).glob("*.*")):
        if path.suffix in {".toml", ".md"}:
            for name, words in _QUOTED.findall(path.read_text(encoding="utf-8")):
                if _plain(words) not in sections.get(name, ""):
                    wrong.append(f'{path.relative_to(ROOT)}: §{name}: "{words}"')
    assert not wrong, "\n".join(wrong)
