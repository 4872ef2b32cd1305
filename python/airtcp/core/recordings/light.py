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
    heavy: Mapping[str, Sequence[int]],
    named: Mapping[str, str],
    chosen: Choices,
) -> dict[str, Recording]:
    """The recording of each direction's light opportunities; copies it into the draft.

    Args:
        draft: takes the files and the assumptions.
        recordings: every recording.
        heavy: times of a saturated link's opportunities in ms, by direction.
        named: directions that are in names of files, by path.
        chosen: the user's choices.

    Raises:
        ScenarioError: two are of one direction, or a saturated link's trace is missing.
    """
    found: dict[str, Recording] = {}
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
        if way in found:
            raise ScenarioError(
                f"{one.path}: a second trace of light opportunities of the direction {way}; "
                "expected one of each, named *.up and *.down"
            )
        if way not in heavy:
            raise ScenarioError(
                f"{one.path}: has the light opportunities of the direction {way}, and no file has "
                "the heavy ones: name both, or --direction"
            )
        found[way] = one
        draft.files[f"light.{way}"] = one.path.read_bytes()
        _say_periods(draft, one, heavy[way][-1] / 1e3, way)
    return found


def _say_periods(draft: Draft, one: Recording, heavy_s: float, way: str) -> None:
    """Light and heavy opportunities were recorded one after the other: no common time exists."""
    light_s = one.trains[-1][0]
    if abs(light_s - heavy_s) >= 1e-3:
        draft.assume(
            f"delays and light opportunities of {one.path.name} repeat after {light_s:.3f} s, the "
            f"heavy ones {way} after {heavy_s:.3f} s, each by itself as CellReplay plays them: "
            "from the second lap on other parts of them meet",
            None,
        )


def light_delays(
    draft: Draft, lights: Mapping[str, Recording], direction: str, loss: float
) -> None:
    """Writes base delays by time, of both directions where each was recorded."""
    back = DOWN if direction == UP else UP
    data = lights.get(direction) or lights[back]
    rows, every_s = base_delays(data)
    draft.files["delays.csv"] = _conditions(rows, loss)
    draft.lines.append('recorded = { path = "delays.csv", order = "in-order" }')
    other = lights.get(back)
    if other is None or other is data:
        draft.assume(f"both ways have the delays of {data.path.name}", "--rtt")
    else:
        rows, other_s = base_delays(other)
        within = [row for row in rows if row[0] < 1e3 * every_s]
        draft.files[f"delays.{back}.csv"] = _conditions(within, loss)
        draft.lines.append(
            f'reverse = {{ recorded = {{ path = "delays.{back}.csv", order = "in-order" }} }}'
        )
        if abs(other_s - every_s) >= 1e-3:
            happens = "are cut there" if other_s > every_s else "keep their last value until then"
            draft.assume(
                f"delays of both ways repeat after {every_s:.3f} s, as {data.path.name} is long; "
                f"those of {other.path.name}, of {other_s:.3f} s, {happens}",
                None,
            )
    draft.lines.append(f'repeat = {{ every = "{every_s:.3f} s", start = "beginning" }}')
    draft.assume("a delay one way is half of the round trip of a train's first packet", "--rtt")


def _conditions(rows: Sequence[tuple[float, float]], loss: float) -> str:
    text = "".join(f"{at:.3f},{delay_ms:.4f},{loss:.6g}\n" for at, delay_ms in rows)
    return "time_ms,delay_ms,loss\n" + text


def base_delays(one: Recording) -> tuple[list[tuple[float, float]], float]:
    """One-way delays without load, by time, of a recording with trains.

    Returns:
        Rows of time and delay, both in ms, and the recording's length in seconds, after which it
        repeats. Between two trains the delay is interpolated, as in CellReplay
        (`cellular_queue.cc`).
    """
    at_s = np.array([train[0] for train in one.trains])
    base_s = np.array([train[1] for train in one.trains])
    end_s = float(at_s[-1])
    count = min(MAX_ROWS, max(2, round(end_s / STEP_S)))
    steps = np.arange(count) * end_s / count
    delays = np.interp(steps, at_s, base_s)
    changed = np.concatenate(([True], np.round(1e3 * np.diff(delays), 3) != 0))
    rows = zip((1e3 * steps[changed]).tolist(), (1e3 * delays[changed]).tolist(), strict=True)
    return list(rows), end_s
