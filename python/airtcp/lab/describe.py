"""The links, the remedies, and the settings of one link."""

import json
from typing import Any

import msgspec

from airtcp import _core
from airtcp.comparison.ranking import Asker
from airtcp.comparison.ranking.aims import Aim
from airtcp.lab.requests import Link
from airtcp.lab.sources import Sources


def overview(sources: Sources, can: str) -> dict[str, Any]:
    """The available links and remedies, and the changes that are allowed at first."""
    return {
        "version": _core.engine_version,
        "can": can,
        "askers": [{"name": asker.value, "words": asker.words} for asker in Asker],
        "aims": [{"name": aim.value, "words": aim.words.removeprefix("For ")} for aim in Aim],
        "links": sources.all(),
        "remedies": msgspec.Raw(_core.lab_remedies().encode()),
    }


def link(sources: Sources, request: Link) -> dict[str, Any]:
    """One link: its sliders, its flows, the remedies that apply to it, and a diagnosis' findings.

    Raises:
        ScenarioError: it is wrong.
    """
    described: dict[str, Any] = json.loads(
        sources.source(request.source).describe(request.settings)
    )
    return {
        **described,
        "found": sources.drops.found(request.source),
        "refusal": sources.drops.refusal(request.source),
    }
