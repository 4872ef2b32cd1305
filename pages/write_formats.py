"""Writes the table of formats into links.md, from the registry.

    python pages/write_formats.py

tests/python/test_import.py holds the page against the registry.
"""

from pathlib import Path

from airtcp.core.recordings.formats import formats_known
from airtcp.pages.provenance import stamp

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "links.md"
BEGIN, END = "<!-- generated: formats -->\n", "<!-- end -->"


def table() -> str:
    """The table in Markdown."""
    rows = ["| file | may tell | never tells |", "|---|---|---|"]
    for one in formats_known():
        knows = ", ".join(one.knows) or "nothing of the link"
        title = one.title.replace("|", "\\|")
        rows.append(f"| {title} (`{one.name}`) | {knows} | {', '.join(one.lacks)} |")
    return "\n".join(rows) + "\n"


def written(page: str) -> str:
    """The page with today's table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    stamp(PAGE.parents[2], "formats")
