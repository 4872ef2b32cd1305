"""The release of a kernel image, from its header."""

import re

_HEADER = b"HdrS"
_HEADER_AT = 0x202
_VERSION_POINTER_AT = 0x20E
_SETUP = 0x200
"""Offsets of the x86 boot protocol (Linux' Documentation/arch/x86/boot.rst)."""


def release(image: bytes) -> str | None:
    """The release of an x86 image (bzImage), as `uname -r` prints it; None for other files."""
    if image[_HEADER_AT : _HEADER_AT + 4] != _HEADER:
        return None
    pointer = int.from_bytes(image[_VERSION_POINTER_AT : _VERSION_POINTER_AT + 2], "little")
    text = image[_SETUP + pointer : _SETUP + pointer + 256].split(b"\0")[0]
    found = re.match(rb"[0-9]+\.[0-9][\w.+~-]*", text)
    return found.group().decode() if found else None
