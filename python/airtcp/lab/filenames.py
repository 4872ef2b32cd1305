"""Keys of a scenario that name files, which a page must not choose freely."""

from collections.abc import Iterator, Mapping
from typing import Any

FILE_KEYS = frozenset({"path", "down", "up"})
"""Last parts of these keys."""


def named_files(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every key of a document that names a file, with the name; also in lists of tables."""
    for key, value in document.items():
        tables = value if isinstance(value, list) else [value]
        for table in tables:
            if isinstance(table, Mapping):
                for inner, name in named_files(table):
                    yield f"{key}.{inner}", name
        if key in FILE_KEYS and isinstance(value, str):
            yield key, value
