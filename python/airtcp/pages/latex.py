"""A page's table as LaTeX, to include in a paper."""

from airtcp.pages.tables import Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "−": "$-$",  # noqa: RUF001, the minus of our numbers
    "±": r"$\pm$",
    "×": r"$\times$",  # noqa: RUF001
    "µ": r"$\mu$",
    "…": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}


def escaped(text: str) -> str:
    """A cell's text for LaTeX, which needs no package for it."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def tabular(table: Table) -> str:
    """The `tabular` of a table; columns of words are on the left, numbers on the right."""
    columns = "l" * table.names + "r" * (len(table.columns) - table.names)
    rows = (table.columns, *table.rows)
    first, *others = (" & ".join(map(escaped, row)) + r" \\" for row in rows)
    body = "\n".join([first, r"\hline", *others])
    return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"
