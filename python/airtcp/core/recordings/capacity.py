"""The rate of a link out of recordings: a constant, or opportunities by time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from airtcp._core import ScenarioError
from airtcp.core.quantities import parse_bit_rate
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.draft import Draft
from airtcp.core.recordings.light import light_traces, with_trains
from airtcp.core.recordings.opportunities import (
    MAX_OPPORTUNITIES,
    PACKET_BITS,
    PACKET_BYTES,
    mean_bps,
    opportunities,
    to_lines,
)
from airtcp.core.recordings.recording import DOWN, UNKNOWN, UP, Rates, Recording

HEAVY_BYTES = 1400
"""Bytes of an opportunity in CellReplay's heavy trace, which accompanies a trace of trains."""
MIN_STEPS = 10
MIN_VARIATION = 0.15
"""A rate that varies by less of its mean is played as a constant."""
_SERIES = frozenset(("throughput", "gnettrack", "mm-link", "goresponsiveness"))
"""Formats whose rates are played by time although they are lower bounds."""
_MAX_HOLD_S = 5.0


@dataclass(frozen=True)
class Capacity:
    """The rate of the direction that carries data."""

    direction: str
    mean_bps: float
    is_links: bool
    lights: Mapping[str, Recording] = field(default_factory=dict)
    """Recordings of opportunities after a pause, by direction."""


def capacity(draft: Draft, recordings: Sequence[Recording], chosen: Choices) -> Capacity:
    """Writes the rate of both directions, and chooses which one carries data.

    Raises:
        ScenarioError: neither the files nor the user gave a rate.
    """
    draft.lines.append("[link]")
    if chosen.rate is not None:
        given = parse_bit_rate(chosen.rate)
        if given is None:
            raise ScenarioError(f'--rate {chosen.rate}: expected a rate such as "20 Mbit/s"')
        draft.lines.append(f'rate = "{chosen.rate}"')
        return Capacity(chosen.direction or DOWN, given, is_links=True)
    traces = _traces(draft, recordings, chosen)
    rates = _by_direction(draft, recordings, chosen)
    if not traces and not rates:
        only = recordings[0]
        raise ScenarioError(
            f"{only.path}: is {only.summary}, which has no rate: give one, "
            '--rate "20 Mbit/s", or a file that has one'
        )
    way = chosen.direction or _way(traces, rates)
    if way not in traces and way not in rates:
        known = next(iter(traces or rates))
        raise ScenarioError(
            f"--direction {way}: the files have the rate of the direction {known} alone; give "
            f"one for {way} too, or --rate"
        )
    for direction, one in list(rates.items()):
        if direction not in traces and _varies(one, recordings):
            traces[direction] = _from_steps(draft, one, direction, _opportunity(recordings))
    if traces and way in traces:
        named = {str(one.path): _named_direction(one) for one in recordings}
        names = {path: direction for path, direction in named.items() if direction is not None}
        light = light_traces(draft, recordings, traces, names, chosen)
        return _as_traces(draft, traces, light, rates, way, _opportunity(recordings))
    if with_trains(recordings):
        draft.assume("light opportunities are left out: no file has the heavy ones by time", None)
    one = rates[way]
    _say_lower_bound(draft, one)
    draft.lines.append(f'rate = "{_exact(one.mean_bps)}"')
    back = DOWN if way == UP else UP
    if back in rates:
        draft.lines.append(f'reverse = {{ rate = "{_exact(rates[back].mean_bps)}" }}')
    else:
        draft.assume("the way back is as fast", "--set link.reverse.rate=…")
    return Capacity(way, one.mean_bps, one.is_links)


def _opportunity(recordings: Sequence[Recording]) -> int:
    """Bytes of an opportunity; a trace next to trains is CellReplay's."""
    return HEAVY_BYTES if with_trains(recordings) else PACKET_BYTES


def _exact(bps: float) -> str:
    return f"{round(bps)} bit/s" if bps < 1e6 else f"{bps / 1e6:.6f} Mbit/s"


def _way(traces: dict[str, list[int]], rates: dict[str, Rates]) -> str:
    """Data goes down where both directions are known."""
    known = traces or rates
    return DOWN if DOWN in known else next(iter(known))


def _named_direction(one: Recording) -> str | None:
    """The direction in a file's name, as in mahimahi's traces."""
    name = one.path.name.lower().removesuffix(".gz")
    if name.endswith((".up", "-up", "_up")) or "uplink" in name:
        return UP
    if name.endswith((".down", "-down", "_down")) or "downlink" in name:
        return DOWN
    return None


def _traces(draft: Draft, recordings: Sequence[Recording], chosen: Choices) -> dict[str, list[int]]:
    """Opportunities by direction; a trace in mahimahi's form is copied byte by byte."""
    with_traces = [one for one in recordings if one.opportunities]
    has_trains = bool(with_trains(recordings))
    found: dict[str, list[int]] = {}
    for number, one in enumerate(with_traces):
        trace = one.opportunities[0]
        way = trace.direction
        if way == UNKNOWN:
            named = _named_direction(one)
            if named is not None:
                way = named
                draft.assume(
                    f"{one.path.name} is of the direction {way}, by its name", "--direction"
                )
            elif len(with_traces) == 2:
                way = (UP, DOWN)[number]
                draft.assume(
                    f"{one.path.name} is of the direction {way}, as mm-link takes them", None
                )
            else:
                way = chosen.direction or DOWN
                if chosen.direction is None:
                    draft.assume("the direction is down", "--direction")
        if way in found:
            raise ScenarioError(
                f"{one.path}: a second trace of the direction {way}; expected one of each, named "
                "*.up and *.down"
            )
        times = trace.times_ms
        if has_trains:
            draft.assume(
                f"an opportunity of {one.path.name} has {HEAVY_BYTES} bytes, as CellReplay's", None
            )
        found[way] = times
        is_own = one.format == "mahimahi"
        draft.files[f"link.{way}"] = one.path.read_bytes() if is_own else to_lines(times)
    return found


def _by_direction(
    draft: Draft, recordings: Sequence[Recording], chosen: Choices
) -> dict[str, Rates]:
    found: dict[str, Rates] = {}
    for one in recordings:
        for rates in one.rates:
            way = rates.direction
            if way == UNKNOWN:
                way = chosen.direction or DOWN
                if chosen.direction is None:
                    draft.assume("the direction is down", "--direction")
            found.setdefault(way, rates)
    return found


def _varies(one: Rates, recordings: Sequence[Recording]) -> bool:
    """Whether the rate is to be played by time."""
    is_series = any(
        one in recording.rates and recording.format in _SERIES for recording in recordings
    )
    of_link = [step for step in one.steps if step[3]]
    if not is_series and len(of_link) < MIN_STEPS:
        return False
    steps = one.steps if is_series else of_link
    if len(steps) < 2:
        return False
    length = np.array([step[1] for step in steps])
    rate = np.array([step[2] for step in steps])
    mean = float(np.average(rate, weights=length))
    deviation = float(np.sqrt(np.average((rate - mean) ** 2, weights=length)))
    return mean > 0 and deviation > MIN_VARIATION * mean


def _from_steps(draft: Draft, one: Rates, direction: str, packet_bytes: int) -> list[int]:
    """A series as opportunities. Where only some steps are the link's, they hold until the next."""
    some_are_links = any(step[3] for step in one.steps)
    steps: list[tuple[float, float]] = []
    held, end_s = 0.0, 0.0
    for start_s, length_s, bps, is_links in one.steps:
        # The sender was limited: the link's rate is at least the measured one.
        held = bps if is_links or not some_are_links else max(held, bps)
        hole_s = start_s - end_s
        if steps and 0 < hole_s <= _MAX_HOLD_S:
            steps.append((hole_s, steps[-1][1]))
        steps.append((length_s, held))
        end_s = start_s + length_s
    times, is_cut = opportunities(steps, packet_bytes)
    if len(times) < 2:
        raise ScenarioError("its rate is too low for a single packet; give --rate")
    if is_cut:
        draft.assume(f"the first {MAX_OPPORTUNITIES} packets stand for the whole series", None)
    _say_lower_bound(draft, one)
    draft.files[f"link.{direction}"] = to_lines(times)
    return times


def _say_lower_bound(draft: Draft, one: Rates) -> None:
    if not one.is_links:
        draft.assume(
            "the link is no faster than what got through, which is a lower bound", "--rate"
        )


def _as_traces(
    draft: Draft,
    traces: dict[str, list[int]],
    light: Mapping[str, Recording],
    rates: dict[str, Rates],
    way: str,
    packet_bytes: int,
) -> Capacity:
    back = DOWN if way == UP else UP
    if back not in traces and back in rates:
        # The other direction of a trace has to be one too: 10 s of a constant rate.
        bps = max(rates[back].mean_bps, PACKET_BITS)
        constant, _ = opportunities([(10.0, bps)], packet_bytes)
        draft.files[f"link.{back}"] = to_lines(constant)
        traces[back] = constant
    elif back not in traces:
        draft.assume("the way back has no limit of its rate", f"--set link.trace.{back}=FILE")
    names = ", ".join(f'{one} = "link.{one}"' for one in (DOWN, UP) if one in traces)
    if light:
        of_idle = ", ".join(f'{one} = "light.{one}"' for one in light)
        names += f", light = {{ {of_idle} }}"
    if packet_bytes != PACKET_BYTES:
        names += f', opportunity = "{packet_bytes} B"'
    draft.lines.append(f'trace = {{ {names}, data = "{way}" }}')
    mean = mean_bps(traces[way], packet_bytes)
    is_links = way not in rates or rates[way].is_links
    return Capacity(way, mean, is_links, light)
