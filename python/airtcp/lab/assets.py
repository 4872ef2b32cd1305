"""The files of the page, which are package data."""

from importlib.resources import files

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".LICENSE": "text/plain; charset=utf-8",
}


def assets() -> dict[str, tuple[bytes, str]]:
    """Every file by its path on the server, with its media type; read once."""
    root = files("airtcp.lab") / "static"
    found = {}
    for folder in ("", "js/", "vendor/"):
        for file in (root / folder if folder else root).iterdir():
            suffix = "." + file.name.rpartition(".")[2]
            if file.is_file() and suffix in TYPES:
                found[f"/{folder}{file.name}"] = (file.read_bytes(), TYPES[suffix])
    found["/"] = found["/index.html"]
    return found
