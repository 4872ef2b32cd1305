"""The open points of a paper: from its text, and parameters left open by its calibrations."""

from airtcp.papers.calibration import calibrated, was_run
from airtcp.papers.experiment import Experiment
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Calibration, Paper
from airtcp.papers.readings import Admitted, OpenPoint


def open_points(paper: Paper, outcomes: Outcomes) -> list[OpenPoint]:
    """The paper's open points; before them, parameters that its calibrations do not identify."""
    left_open = [
        _left_open(paper, calibration, outcomes)
        for calibration in paper.file.calibrations
        if was_run(paper, calibration, outcomes)
    ]
    return [*filter(None, left_open), *paper.file.readings]


def _left_open(paper: Paper, calibration: Calibration, outcomes: Outcomes) -> OpenPoint | None:
    """A calibrated parameter as an open point, with the places as good as the chosen one.

    None if the chosen one is the only such place, or no other experiment depends on it.
    """
    axis = paper.experiment(calibration.experiment).axis(calibration.axis)
    alike = calibrated(paper, calibration, outcomes).alike
    places = [place for place in axis.places if place in alike or place == calibration.chosen]
    others = [one.id for one in paper.file.experiments if _depends(paper, one, calibration)]
    if len(places) < 2 or not others:
        return None
    values = [
        # The scenario has the settings of the chosen place already.
        Admitted(
            str(place),
            settings={} if place == calibration.chosen else dict(axis.choice(place).settings),
            at=calibration.at,
        )
        for place in places
    ]
    return OpenPoint(
        id=calibration.what,
        open=f"{calibration.what}: alike in the calibration",
        source=calibration.source,
        default=str(calibration.chosen),
        why="chosen by the calibration, which does not tell these apart",
        values=values,
        experiments=others,
    )


def _depends(paper: Paper, one: Experiment, calibration: Calibration) -> bool:
    """Whether another experiment has the calibrated scenario, and the places calibrated there.

    A calibration may set a key that another scenario does not have.
    """
    calibrating = paper.experiment(calibration.experiment)
    places = {axis.name: axis.places for axis in one.axes}
    return (
        one.id != calibrating.id
        and one.scenario == calibrating.scenario
        and all(place in places.get(name, []) for name, place in calibration.at.items())
    )
