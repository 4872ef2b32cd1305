"""Text as people save it: also gzipped, or in the UTF-16 of a Windows console."""

import codecs
import gzip
import zlib
from pathlib import Path

_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def saved_text(path: Path, most: int = -1) -> str:
    """The text of a file, or of its first `most` bytes; unknown bytes are replaced.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(most)
    if content.startswith(_GZIP):
        try:
            with gzip.open(path) as unpacked:
                content = unpacked.read(most)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return ""
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    return content.decode(encoding, errors="replace")
