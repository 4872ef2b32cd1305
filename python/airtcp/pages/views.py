"""How each type of result is shown: a report, a figure, a notebook's fragment, words."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

RENDERERS = {
    "Comparison": {
        "report": "pages.comparison:write_report",
        "figure": "pages.comparison:difference_figure",
        "drawing": "pages.comparison:difference_rows",
        "fragment": "pages.comparison:fragment",
        "text": "pages.comparison:text",
        "verdict": "comparison.verdict:verdict",
        "deployment": "comparison.deployment:deployment",
    },
    "Diagnosis": {
        "report": "pages.diagnosis:write_report",
        "fragment": "pages.fragments:of_diagnosis",
    },
    "GridResult": {"fragment": "pages.fragments:of_grid"},
    "PingDiagnosis": {
        "report": "pages.diagnosis:write_ping_report",
        "fragment": "pages.fragments:of_ping",
    },
    "Ranking": {"fragment": "pages.fragments:of_ranking"},
    "Run": {
        "figure": "pages.run:figure",
        "drawing": "pages.run:drawing",
        "picture": "pages.run:picture",
        "fragment": "pages.run:fragment",
    },
    "Verification": {
        "report": "pages.verification:write_report",
        "verdict": "kernel.verdict:verdict",
    },
}
"""By type and kind of view, the function: its module is imported when it is first needed."""


def has_view(kind_of_result: type, view: str) -> bool:
    """Whether a type of result, or one that it derives from, has a view."""
    return any(view in RENDERERS.get(one.__name__, {}) for one in kind_of_result.__mro__)


def renderer(kind_of_result: type, view: str) -> Callable[..., Any]:
    """The function that shows a type of result, or the nearest type that it derives from.

    Raises:
        KeyError: no view is registered.
    """
    for one in kind_of_result.__mro__:
        if view in RENDERERS.get(one.__name__, {}):
            module, _, function = RENDERERS[one.__name__][view].partition(":")
            found: Callable[..., Any] = getattr(import_module(f"airtcp.{module}"), function)
            return found
    raise KeyError(f"no {view} of a {kind_of_result.__name__}")
