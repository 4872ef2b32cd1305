"""Known and unknown facts of a recording, in its first lines."""

from datetime import UTC, datetime

import numpy as np

from airtcp.core.quantities import format_bit_rate
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.events import Events, find_events
from airtcp.core.recordings.log import FEWEST, PingLog, read_ping
from airtcp.core.recordings.recording import DOWN, UNKNOWN, UP, Rates, Recording

_BOUNDS = {
    "link": "the link's own: a queue stood in front of it, or more was sent than arrived",
    "setting": "the link's own, as it is set",
    "target": "a lower bound: the sender was told to send no more",
    "window": "a lower bound: a window or a buffer of the endpoints was full",
    "shaper": "a lower bound: a shaper in front of the link let no more through",
    "transfer": "a lower bound: nothing shows that the link was full",
}


def told(one: Recording, chosen: Choices) -> list[str]:
    """Sentences: the file, direction, rate, delay, clock, gaps and losses, remarks."""
    lines = [f"{one.path}: {one.summary}."]
    lines.append(_direction(one))
    lines += [_rate(rates) for rates in one.rates]
    if one.opportunities:
        lines.append("The rate is the link's, as a saturator found it, opportunity by opportunity.")
    lines.append(_delay(one))
    if one.has_probes and not one.is_link:
        lines += _probes(one, chosen)
    if one.began_unix_s is not None:
        began = datetime.fromtimestamp(one.began_unix_s, UTC)
        lines.append(f"It was recorded on {began:%Y-%m-%d at %H:%M} (UTC, by its own clock).")
    lines += one.remarks
    lines += [
        f"Assumed: {what}." if option is None else f"Assumed: {what} ({option} says otherwise)."
        for what, option in one.assumptions
    ]
    return [line for line in lines if line]


def _direction(one: Recording) -> str:
    known = {rates.direction for rates in one.rates}
    known |= {trace.direction for trace in one.opportunities}
    known |= set(one.delays)
    known.discard(UNKNOWN)
    match sorted(known):
        case []:
            return "The file does not name a direction." if one.is_link else ""
        case [way]:
            return f"Its direction is {way}."
        case _:
            return "It has both directions."


def _rate(rates: Rates) -> str:
    way = {UP: " up", DOWN: " down"}.get(rates.direction, "")
    return f"The rate{way}, {format_bit_rate(rates.counted_bps)}, is {_BOUNDS[rates.bound]}."


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.4g} ms"


def _delay(one: Recording) -> str:
    set_s = [shaping["delay_ns"] / 1e9 for shaping in one.shaping if shaping["delay_ns"]]
    if set_s:
        return f"The delay, {' and '.join(map(_ms, set_s))} one way, is as it is set."
    figures = one.figures
    loaded = [
        f"{_ms(rtt)}{way}"
        for rtt, way in (
            (figures.loaded_down_rtt_s, " (load down)"),
            (figures.loaded_up_rtt_s, " (load up)"),
            (figures.loaded_rtt_s, ""),
        )
        if rtt is not None
    ]
    under_load = f"under load {', '.join(loaded)}" if loaded else ""
    if figures.idle_rtt_s is not None:
        idle = f"The round trip without load is {_ms(figures.idle_rtt_s)}"
        return f"{idle}, {under_load}." if loaded else f"{idle}; it has none under load."
    if figures.least_loaded_rtt_s is not None or loaded:
        least = figures.least_loaded_rtt_s
        at_least = f", at least {_ms(least)}" if least is not None else ""
        return (
            f"It has round trips under load only ({under_load or 'load'}{at_least}), none of the "
            "idle link."
        )
    if figures.least_rtt_s is not None:
        return (
            f"Its smallest round trip is {_ms(figures.least_rtt_s)}, with or without load: the "
            "file does not say."
        )
    if one.has_probes and not one.is_bare:
        return (
            "Its round trips are without load."
            if one.load == "idle"
            else "The file does not say whether the link was loaded while it was probed."
        )
    return "It has no delay."


def _probes(one: Recording, chosen: Choices) -> list[str]:
    log = read_ping(one.path, chosen.interval_s)
    lines = [log.clock_words]
    if not log.clock_words:
        lines.append(f"Each probe has a time stamp; they are {log.interval_s:.3g} s apart.")
    found = find_events(log) if len(log.answered) >= FEWEST else None
    lines.append(_unanswered(log, found))
    if found is not None and len(found.stops):
        stops = "1 stop" if len(found.stops) == 1 else f"{len(found.stops)} stops"
        lines.append(f"The link has {stops}: several probes waited and were answered together.")
    return lines


def _unanswered(log: PingLog, events: Events | None) -> str:
    """The lost probes: how many, and how many of them in a row."""
    lost = f"{log.lost} of {log.sent} probes got no answer"
    if events is None or not log.lost:
        return f"{lost}."
    gaps = len(events.gaps)
    if not gaps:
        return f"{lost}, no more in a row than single losses make by chance."
    outages = "1 outage" if gaps == 1 else f"{gaps} outages"
    within = int(np.count_nonzero(np.isnan(log.rtt_s) & ~events.alone))
    return f"{lost}, {within} of them in {outages} of several in a row."
