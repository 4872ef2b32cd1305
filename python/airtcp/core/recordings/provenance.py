"""Where an imported link comes from, as comments at the head of its scenario."""

import re
from collections.abc import Sequence
from textwrap import wrap

from airtcp._core import engine_version
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.recording import Recording

_WIDTH = 98


def provenance(recordings: Sequence[Recording], chosen: Choices, said: Sequence[str]) -> str:
    """The comment: files, programs, and notes on them.

    Names and addresses of machines are left out unless `chosen.keep_names`.
    """
    lines = [f"Imported by airtcp {engine_version} from:"]
    for one in recordings:
        program = f", written by {one.program}" if one.program else ""
        lines.append(f"  {one.path.name} ({one.title}{program})")
        if chosen.keep_names and one.hosts:
            lines.append(f"  machines: {', '.join(one.hosts)}")
    lines.append("")
    lines += said
    names = [host for one in recordings for host in one.hosts if host]
    text: list[str] = []
    for line in lines:
        shown = line if chosen.keep_names else without_names(line, names)
        text += wrap(shown, _WIDTH, subsequent_indent="  ") or [""]
    return "".join(f"# {line}".rstrip() + "\n" for line in text) + "\n"


def without_names(text: str, names: Sequence[str]) -> str:
    """A text without these names of machines, and without the folders of paths."""
    for name in sorted(names, key=len, reverse=True):
        for part in {name, name.rsplit(":", 1)[0]}:
            if len(part) > 2:
                text = re.sub(rf"(?<![\w.]){re.escape(part)}(?![\w.]*\w)", "HOST", text)
    return re.sub(r"(?<![\w.])/(?:[^\s/:]+/)+", "", text)
