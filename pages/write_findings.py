"""Writes the findings of the studies' pages: a sentence for cells of their tables.

    python pages/write_findings.py            # after the tables: make studies-docs does both
    python pages/write_findings.py --check    # only reports findings that a table contradicts

docs/measurements/findings.toml has the sentences. Each names the cells it speaks of and the sign
of their effects; {0}, {1} … in its text are the ranges of these effects. A sentence that one of
its cells contradicts is an error, and nothing is written.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docs" / "measurements"
SENTENCES = HERE / "findings.toml"

_EFFECT = re.compile(r"\(?([+-]?[\d.]+)(?: ± ([\d.]+))? %\)?")
_SHARE = re.compile(r"(\d+) % of \d+")


@dataclass(frozen=True)
class Effect:
    """An effect as a cell of a table has it: mean and half-width of its interval, in per cent."""

    mean: float
    half: float
    is_share: bool = False
    """A share of losses, rather than a difference."""


HOLDS: dict[str, Callable[[Effect], bool]] = {
    "gain": lambda effect: effect.mean - effect.half > 0,
    "loss": lambda effect: effect.mean + effect.half < 0,
    "no gain": lambda effect: effect.mean - effect.half <= 0,
    "no loss": lambda effect: effect.mean + effect.half >= 0,
    "not significant": lambda effect: abs(effect.mean) <= effect.half,
    "within 5 %": lambda effect: abs(effect.mean) <= 5,
    "share below 15 %": lambda effect: effect.mean < 15,
    "share below 50 %": lambda effect: effect.mean < 50,
    "share above 50 %": lambda effect: effect.mean > 50,
    "share above 90 %": lambda effect: effect.mean > 90,
}
"""Signs of an effect, by their names in findings.toml."""


def effect(cell: str) -> Effect | None:
    """The effect in a cell; `None` for a remedy that has no place on the link.

    Raises:
        ValueError: the cell is no effect.
    """
    if cell == "the same":
        return Effect(0.0, 0.0)
    if cell == "n/a":
        return None
    if found := _SHARE.fullmatch(cell):
        return Effect(float(found[1]), 0.0, is_share=True)
    if found := _EFFECT.fullmatch(cell):
        return Effect(float(found[1]), float(found[2] or 0))
    raise ValueError(f"no effect: {cell!r}")


def table(page: str, mark: str) -> dict[tuple[str, str], str]:
    """The cells of a page's table, by remedy and link, or by classifier and "link, column".

    Raises:
        ValueError: the page has no such table.
    """
    text = (HERE / page).read_text("utf-8")
    _, found, rest = text.partition(f"<!-- {mark}: begin -->\n")
    if not found:
        raise ValueError(f"{page}: no table {mark}")
    lines = [line for line in rest.partition("<!--")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    if rows[0][:3] == ["link", "stack", "classifier"]:
        return {
            (row[2], f"{row[0]}, {column}"): cell
            for row in rows[2:]
            for column, cell in zip(rows[0][3:], row[3:], strict=True)
        }
    return {
        (row[0], link): cell
        for row in rows[2:]
        for link, cell in zip(rows[0][1:], row[1:], strict=True)
        if row[0] != "*baseline*"
    }


def chosen(page: str, part: Mapping[str, Any]) -> Iterator[tuple[str, Effect]]:
    """Name and effect of each cell that a part of a finding speaks of.

    Raises:
        ValueError: a remedy or a link that the table lacks.
    """
    cells = table(page, part["table"])
    for remedy in part["remedies"]:
        for pattern in part["links"]:
            named = [key for key in cells if key[0] == remedy and fnmatchcase(key[1], pattern)]
            if not named:
                raise ValueError(f"{page}: {part['table']} has no {remedy} on {pattern}")
            for key in named:
                if found := effect(cells[key]):
                    yield f"{remedy} on {key[1]}", found


def written(effects: Sequence[Effect]) -> str:
    """The range of the effects' means: "+12 to +40 %"."""
    lowest, highest = (round(extreme(one.mean for one in effects)) for extreme in (min, max))
    is_signed = not effects[0].is_share
    ends = [f"{value:{'+' if value and is_signed else ''}d}" for value in sorted({lowest, highest})]
    return " to ".join(ends) + " %"


def sentence(finding: Mapping[str, Any]) -> str:
    """The finding as its page has it.

    Raises:
        ValueError: a cell contradicts it, or it names no cell.
    """
    ranges = []
    for part in finding["cells"]:
        cells = list(chosen(finding["page"], part))
        if not cells:
            raise ValueError(f"{finding['text']!r}: {part['table']} has no such effect")
        for name, found in cells:
            if not HOLDS[part["holds"]](found):
                raise ValueError(
                    f"{finding['page']}: {finding['text']!r} expects a {part['holds']} in "
                    f"{part['table']}, and {name} has {found.mean:+g} ± {found.half:g} %: "
                    "change the sentence in findings.toml"
                )
        ranges.append(written([found for _, found in cells]))
    text: str = finding["text"]
    return text.format(*ranges)


def findings() -> dict[tuple[str, str], list[str]]:
    """The sentences of each page and mark.

    Raises:
        ValueError: with a line for each finding that a table contradicts.
    """
    lists: dict[tuple[str, str], list[str]] = {}
    errors = []
    for finding in tomllib.loads(SENTENCES.read_text("utf-8"))["finding"]:
        try:
            one = sentence(finding)
        except ValueError as error:
            errors.append(str(error))
        else:
            lists.setdefault((finding["page"], finding["mark"]), []).append(one)
    if errors:
        raise ValueError("\n".join(errors))
    return lists


def main() -> None:
    """Checks, or writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    try:
        lists = findings()
    except ValueError as error:
        sys.exit(f"write_findings: {error}")
    for (name, mark), sentences in lists.items():
        page = HERE / name
        before = page.read_text("utf-8")
        after = put(before, mark, "\n".join(f"- {one}" for one in sentences))
        if before != after and is_check:
            sys.exit(f"write_findings: {name}: {mark} is not of its tables: run make studies-docs")
        page.write_text(after, encoding="utf-8")
    if not is_check:
        stamp(ROOT, *(mark for _, mark in lists))


if __name__ == "__main__":
    main()
