"""Where instructions are spent: callgrind's exclusive cost of source files, by part."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

LIBRARY = "Rust's library, inlined"
ELSEWHERE = "elsewhere"
_PLACE = re.compile(r"crates/(\w+)/src/(\w+)")


def part_of(source: str) -> str:
    """The crate and the file or folder in it that a source file belongs to."""
    place = _PLACE.search(source)
    if place:
        return "/".join(place.groups())
    return LIBRARY if "/rustc/" in source else ELSEWHERE


def spent(profile: Path) -> Counter[str]:
    """Instructions by part, excluding callees.

    The format is callgrind's: a file's name appears with its number the first time, and a line of
    costs that follows `calls=` is the callee's.
    """
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    current, is_callees = "", False
    with profile.open(encoding="utf-8") as lines:
        for line in lines:
            named = re.match(r"(c?f[lie])=\((\d+)\)(?: (.*))?", line)
            if named:
                kind, number, name = named.groups()
                if name:
                    names[number] = part_of(name)
                if not kind.startswith("c"):
                    current = names[number]
            elif line.startswith("calls="):
                is_callees = True
            elif line[0] in "+-*0123456789":
                fields = line.split()
                if not is_callees and len(fields) > 1:
                    costs[current] += int(fields[1])
                is_callees = False
    return costs
