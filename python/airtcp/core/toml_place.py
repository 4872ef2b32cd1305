"""The line of a TOML file on which a key is."""

import re

_TABLE = re.compile(r"^\s*\[\[?\s*([^\]\[]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*([A-Za-z0-9_."' -]+?)\s*=""")
_STATED = re.compile(r"\bline (\d+)")
_NAMED = re.compile(r"""(?<![\w."'/-])([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)""")


def line_of(text: str, message: str) -> int | None:
    """The line that an error message is about; None if it names no line.

    The message states the line itself (a fault of TOML's grammar), or begins with a dotted key: the
    longest part of it that the file has decides, since the rest may be in an inline table.
    """
    if stated := _STATED.search(message):
        return int(stated[1])
    lines = _lines_by_key(text)
    for named in _NAMED.finditer(message):
        parts = named[1].split(".")
        while parts:
            if line := lines.get(".".join(parts)):
                return line
            parts.pop()
    return None


def _lines_by_key(text: str) -> dict[str, int]:
    """The first line of each dotted key and table."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _plain(header[1])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            name = _plain(key[1])
            found.setdefault(f"{table}.{name}" if table else name, number)
    return found


def _plain(key: str) -> str:
    return re.sub(r"""["'\s]""", "", key)
