"""Description of a link and of the remedies for the page, before anything runs."""

from typing import Any

import msgspec

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.comparison.ranking import Aim, Asker
from airtcp.core.catalogue import deployments, remedies
from airtcp.lab.controls import controls
from airtcp.lab.requests import Link
from airtcp.lab.sources import Sources


def overview(sources: Sources, can: str) -> dict[str, Any]:
    """The available links and remedies, and the initial choice of what the user may change."""
    return {
        "version": _core.engine_version,
        "can": can,
        "askers": [{"name": asker.value, "words": asker.words} for asker in Asker],
        "aims": [{"name": aim.value, "words": aim.words.removeprefix("For ")} for aim in Aim],
        "links": sources.all(),
        "remedies": [
            {name: entry[name] for name in ("name", "place", "effect", "parameters")}
            for entry in remedies()
        ],
    }


def link(sources: Sources, request: Link) -> dict[str, Any]:
    """One link: its sliders, its flows, and the remedies that apply to it.

    Raises:
        ScenarioError: it is wrong.
    """
    chosen = sources.scenario(request.source, request.settings)
    scenario, document = chosen.scenario, chosen.document
    amiss: dict[str, str] = {}
    for entry in remedies():
        try:
            scenario.with_remedies(entry["name"])
        except ScenarioError as error:
            amiss[entry["name"]] = str(error)

    def accepts(key: str, text: str) -> bool:
        try:
            sources.scenario(request.source, {**request.settings, key: text})
        except ScenarioError:
            return False
        return True

    return {
        "name": scenario.name,
        "description": document.get("description", ""),
        "found": sources.drops.found(request.source),
        "refusal": sources.drops.refusal(request.source),
        "topology": document["topology"],
        "flows": document["flows"]["count"],
        "profile": document["tcp"]["profile"],
        "remedies": document["remedies"],
        "amiss": amiss,
        **msgspec.structs.asdict(controls(document, accepts)),
    }


def deployment(remedy: str) -> list[str]:
    """Deployment of a combination of remedies on a real system, one text for each."""
    return [one["text"] for one in deployments(remedy)] if remedy.strip() else []
