"""Order of the site's search results: pages for users before pages for contributors.

A hook of mkdocs: the theme multiplies a page's score by `search.boost` of its front matter, which
the repository's view of the pages would show as a table.
"""

from typing import Any

BOOSTS = {
    "start/install.md": 4.0,
    "start/how-do-i.md": 4.0,
    "start/": 2.0,
    "guides/": 1.5,
    "measurements/": 0.3,
    "contributing/": 0.1,
}
"""Factor of the score by the beginning of a page's path; the first that fits counts."""


def boost(path: str) -> float:
    """The factor of a page, 1 without an entry."""
    return next((factor for start, factor in BOOSTS.items() if path.startswith(start)), 1.0)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs for each page."""
    page.meta["search"] = {"boost": boost(page.file.src_uri)}
    return markdown
