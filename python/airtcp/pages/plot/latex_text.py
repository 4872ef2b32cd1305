"""Text for LaTeX, in the font of the document that includes it."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In the fonts that LaTeX begins with, these places have other characters.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\u2212": "$-$",
    "±": r"$\pm$",
    "\u00d7": r"$\times$",
    "µ": r"$\mu$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "\u2013": "--",
    "…": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}


def escaped(text: str) -> str:
    """A text for LaTeX, which needs no package for it."""
    return "".join(_SPECIAL.get(character, character) for character in text)
