"""The open points of a paper: from its text, and parameters left open by its calibrations."""

from collections.abc import Mapping
from typing import Any

from airtcp.papers.calibration import calibrated, was_run
from airtcp.papers.experiment import Axis, Experiment, Value
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.readings import Admitted, OpenPoint


def open_points(paper: Paper, outcomes: Outcomes) -> list[OpenPoint]:
    """The paper's open points; before them, parameters that its calibrations do not identify."""
    points = []
    for calibration in paper.file.calibrations:
        if not was_run(paper, calibration, outcomes):
            continue
        alike = calibrated(paper, calibration, outcomes).alike
        calibrating = paper.experiment(calibration.experiment)
        axis = calibrating.axis(calibration.axis)
        names = [place for place in axis.places if place in alike or place == calibration.chosen]
        # A calibration may set a key that another scenario does not have.
        others = [
            one.id
            for one in paper.file.experiments
            if one.id != calibrating.id
            and one.scenario == calibrating.scenario
            and _has_places(one, calibration.at)
        ]
        if len(names) < 2 or not others:
            continue
        points.append(
            OpenPoint(
                id=calibration.what,
                open=f"{calibration.what}: alike in the calibration",
                source=calibration.source,
                default=str(calibration.chosen),
                why="chosen by the calibration, which does not tell these apart",
                values=[
                    Admitted(
                        str(place),
                        settings=_beyond_default(axis, place, calibration.chosen),
                        at=calibration.at,
                    )
                    for place in names
                ],
                experiments=others,
            )
        )
    return points + list(paper.file.readings)


def _has_places(experiment: Experiment, at: Mapping[str, Value]) -> bool:
    places = {axis.name: axis.places for axis in experiment.axes}
    return all(place in places.get(name, []) for name, place in at.items())


def _beyond_default(axis: Axis, place: Value, chosen: Value) -> dict[str, Any]:
    """Settings of a place; empty for the chosen one, which the scenario has already."""
    return {} if place == chosen else dict(axis.choice(place).settings)
