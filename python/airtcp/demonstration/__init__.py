"""The demonstration: a link, what is wrong on it, what helps, and what to do, on one page.

- `story`: the runs: a link and what helps on it, and a link that was recorded.
- `kernel`: the best remedy on this machine's kernel.
- `page`: the page.
"""

from airtcp.demonstration.story import Story, tell

__all__ = ["Story", "tell"]
