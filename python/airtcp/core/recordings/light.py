"""CellReplay's light opportunities and base delays, which accompany traces of a saturated link."""

from collections.abc import Mapping, Sequence

import numpy as np

from airtcp._core import ScenarioError
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.draft import Draft
from airtcp.core.recordings.recording import DOWN, UP, Recording

STEP_S = 0.01
"""Between two lines the base delay is interpolated in steps of at least this."""
MAX_ROWS = 60_000


def with_trains(recordings: Sequence[Recording]) -> list[Recording]:
    """The recordings that have trains of packets over an idle link."""
    return [one for one in recordings if one.trains]


def light_traces(
    draft: Draft,
    recordings: Sequence[Recording],
    heavy: Mapping[str, object],
    named: Mapping[str, str],
    chosen: Choices,
) -> dict[str, str]:
    """The file of light opportunities of each direction that has one; copies it into the draft.

    Args:
        draft: takes the files and the assumptions.
        recordings: every recording.
        heavy: traces of a saturated link, by direction.
        named: directions that stand in names of files, by path.
        chosen: the user's choices.

    Raises:
        ScenarioError: two are of one direction, or a saturated link's trace is missing.
    """
    files: dict[str, str] = {}
    lights = with_trains(recordings)
    for number, one in enumerate(lights):
        if str(one.path) in named:
            way = named[str(one.path)]
            draft.assume(f"{one.path.name} is of the direction {way}, by its name", None)
        elif len(lights) == 1 and len(heavy) == 1:
            way = next(iter(heavy))
        elif len(lights) == 2:
            way = (UP, DOWN)[number]
            draft.assume(f"{one.path.name} is of the direction {way}, as mm-link takes them", None)
        else:
            way = chosen.direction or DOWN
            draft.assume(f"{one.path.name} is of the direction {way}", "--direction")
        if way in files:
            raise ScenarioError(
                f"{one.path}: a second trace of light opportunities of the direction {way}; "
                "expected one of each, named *.up and *.down"
            )
        if way not in heavy:
            raise ScenarioError(
                f"{one.path}: has the light opportunities of the direction {way}, and no file has "
                "the heavy ones: name both, or --direction"
            )
        files[way] = f"light.{way}"
        draft.files[files[way]] = one.path.read_bytes()
    return files


def base_delays(recordings: Sequence[Recording]) -> tuple[list[tuple[float, float]], float] | None:
    """One-way delays without load, by time.

    Returns:
        Rows of time and delay, both in ms, and the recording's length in seconds, after which it
        repeats; None without trains. Between two trains the delay is interpolated, as in CellReplay
        (`cellular_queue.cc`).
    """
    lights = with_trains(recordings)
    if not lights:
        return None
    at_s = np.array([train[0] for train in lights[0].trains])
    base_s = np.array([train[1] for train in lights[0].trains])
    end_s = float(at_s[-1])
    count = min(MAX_ROWS, max(2, round(end_s / STEP_S)))
    steps = np.arange(count) * end_s / count
    delays = np.interp(steps, at_s, base_s)
    changed = np.concatenate(([True], np.round(1e3 * np.diff(delays), 3) != 0))
    rows = zip((1e3 * steps[changed]).tolist(), (1e3 * delays[changed]).tolist(), strict=True)
    return list(rows), end_s
