"""The demonstration: a link, its problem, remedies that help, and next steps, on one page.

- `story`: the runs: a link with its remedies, and a recorded link.
- `kernel`: the best remedy on this machine's kernel.
- `page`: the page.
"""

from airtcp.pages.demonstration.story import Story, tell

__all__ = ["Story", "tell"]
