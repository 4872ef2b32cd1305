"""Builds a scenario from files about a link: which parts are used, and which are assumed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from airtcp._core import Scenario, ScenarioError
from airtcp.core.quantities import format_bit_rate
from airtcp.core.recordings.capacity import Capacity, capacity
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.configured import configured
from airtcp.core.recordings.draft import Draft
from airtcp.core.recordings.light import light_delays, with_trains
from airtcp.core.recordings.link import PlayedLink, queue_packets
from airtcp.core.recordings.provenance import provenance
from airtcp.core.recordings.recording import UNKNOWN, UP, Recording, read_recording
from airtcp.core.recordings.told import told

_ASSUMED_RTT_S = 0.04
_LEO_STEP_S = 0.01
"""LeoReplayer's step between two delays."""


@dataclass(frozen=True)
class ImportedLink:
    """A link built from files, with its notes."""

    link: PlayedLink
    said: list[str]
    """Facts in the files and assumptions, for people."""
    recordings: tuple[Recording, ...]


def import_link(paths: Sequence[Path], choices: Choices | None = None) -> ImportedLink:
    """Reads files of one link, recognised by content, into a scenario.

    Raises:
        ScenarioError: a file cannot be read, or they do not make a link.
    """
    chosen = choices or Choices()
    if not paths:
        raise ScenarioError("import: expected a file; `airtcp import --formats` lists what is read")
    recordings = tuple(read_recording(path) for path in paths)
    _refuse_strangers(recordings)
    first = recordings[0]
    if first.has_probes and not any(one.is_link for one in recordings):
        link, assumed = _played(recordings, chosen)
    else:
        link, assumed = _described(recordings, chosen)
    said = [line for one in recordings for line in told(one, chosen)]
    said += [f"Assumed: {line}." for line in assumed]
    head = provenance(recordings, chosen, said)
    return ImportedLink(replace(link, toml=head + link.toml), said, recordings)


def _refuse_strangers(recordings: Sequence[Recording]) -> None:
    probes = [one for one in recordings if one.has_probes and not one.is_link and not one.is_bare]
    if len(probes) > 1:
        raise ScenarioError(
            f"import {probes[0].path} {probes[1].path}: two logs of probes; expected those of one "
            "link and one time: give one"
        )


def _played(recordings: Sequence[Recording], chosen: Choices) -> tuple[PlayedLink, list[str]]:
    """Only probes: played by time, at a rate that has to be given."""
    from airtcp.core.recordings.events import find_events
    from airtcp.core.recordings.link import played_link
    from airtcp.core.recordings.log import read_ping

    one = recordings[0]
    if chosen.rate is None:
        raise ScenarioError(
            f"{one.path}: a ping shows no rate: give one, {chosen.rate_option}, or a file that has "
            f"one, such as iperf3's; `airtcp diagnose {one.path}` tries a range"
        )
    log = read_ping(one.path, chosen.interval_s)
    if log.refusal:
        raise ScenarioError(f"{one.path}: {log.refusal}")
    link = played_link(log, find_events(log), chosen.rate)
    queue = queue_packets(chosen.rate) if chosen.queue_packets is None else chosen.queue_packets
    assumed = [
        f"a queue of {queue} packets, which no probe shows (--queue says otherwise)",
        "each way takes half of a round trip",
    ]
    toml = link.toml.replace(
        f"queue = {{ packets = {queue_packets(chosen.rate)} }}", f"queue = {{ packets = {queue} }}"
    )
    if chosen.direction == UP:
        toml = toml.replace("[tcp]", '[flows]\ndirection = "up"\n\n[tcp]')
    return replace(link, toml=toml), assumed


def _described(recordings: Sequence[Recording], chosen: Choices) -> tuple[PlayedLink, list[str]]:
    """A rate of any kind, with delay, queue and losses where files have them."""
    draft = Draft()
    shaped = next((one for one in recordings if one.shaping), None)
    if shaped is not None:
        way = configured(draft, shaped, recordings, chosen)
    else:
        found = capacity(draft, recordings, chosen)
        way = found.direction
        _add_delay(draft, recordings, found, chosen)
    name = recordings[0].path.name.split(".")[0].replace("_", "-") or "link"
    name = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "-" for c in name)
    kind = re.split("[:,(]", recordings[0].title)[0].strip().replace('"', "'")
    head = [
        f'name = "{name.strip("-") or "link"}"',
        f'description = "The link of {kind}"',
        'duration = "60 s"',
        "",
    ]
    tail = ["", "[flows]", f'direction = "{way}"', "", "[tcp]", 'profile = "linux"', ""]
    return PlayedLink("\n".join(head + draft.lines + tail), draft.files), draft.assumed


def _add_delay(
    draft: Draft, recordings: Sequence[Recording], found: Capacity, chosen: Choices
) -> None:
    """Delay, queue and loss for the rate."""
    rtt_s, is_idle = _base_rtt_s(draft, recordings, chosen)
    played = _played_delays(recordings, chosen)
    lines = draft.lines
    loss = chosen.loss if chosen.loss is not None else _loss(recordings, found)
    trains = with_trains(recordings)
    if trains and chosen.rtt_s is None:
        lights = found.lights or {found.direction: trains[0]}
        light_delays(draft, lights, found.direction, loss or 0)
    elif played is not None:
        rows, step_s = played
        text = "".join(
            f"{1e3 * step_s * n:.3f},{delay_ms},{loss or 0:.6g}\n"
            for n, delay_ms in enumerate(rows)
        )
        draft.files["delays.csv"] = "time_ms,delay_ms,loss\n" + text
        lines.append('recorded = { path = "delays.csv", order = "reorder" }')
        lines.append(f'repeat = {{ every = "{step_s * len(rows):.3f} s", start = "beginning" }}')
        draft.assume(f"delays are {1e3 * step_s:g} ms apart", "--step")
    else:
        lines.append(f'delay = "{1e3 * rtt_s / 2:.6g} ms"')
        if loss:
            lines.append(f"loss = {{ rate = {loss:.6g} }}")
    queue = chosen.queue_packets
    if queue is None:
        loaded = [one.figures.loaded_s(found.direction) for one in recordings]
        waits = [one - rtt_s for one in loaded if one is not None and one > rtt_s]
        if waits and found.is_links:
            # A sender keeps the queue nearly full: its mean is a little below its limit.
            queue = max(4, round(max(waits) * found.mean_bps / 12_000))
            how = "the delay under load beyond the base" if is_idle else "the spread of delays"
            draft.assume(f"a queue of {queue} packets, by {how} and the rate", "--queue")
        else:
            queue = queue_packets(format_bit_rate(found.mean_bps))
            draft.assume(f"a queue of {queue} packets, 200 ms", "--queue")
    lines.append(f"queue = {{ packets = {queue} }}")


def _base_rtt_s(
    draft: Draft, recordings: Sequence[Recording], chosen: Choices
) -> tuple[float, bool]:
    """The round trip without load, and whether a file has it as such."""
    if chosen.rtt_s is not None:
        return chosen.rtt_s, True
    idle = [one.figures.idle_rtt_s for one in recordings]
    known = [rtt for rtt in idle if rtt is not None]
    if known:
        return min(known), True
    for name, what in (
        ("least_rtt_s", "the smallest round trip is one without load"),
        (
            "least_loaded_rtt_s",
            "the smallest round trip under load is taken for that without, which is no longer",
        ),
    ):
        found = [getattr(one.figures, name) for one in recordings]
        least = [rtt for rtt in found if rtt is not None]
        if least:
            draft.assume(what, "--rtt")
            return min(least), False
    probes = [one for one in recordings if one.has_probes and not one.is_bare]
    if probes:
        from airtcp.core.recordings.log import read_ping

        log = read_ping(probes[0].path, chosen.interval_s)
        draft.assume("the probes' small round trips are those without load", "--rtt")
        return log.least_s, False
    if not any(one.is_bare for one in recordings):
        draft.assume(f"a round trip of {1e3 * _ASSUMED_RTT_S:g} ms: no file has one", "--rtt")
    return _ASSUMED_RTT_S, False


def _played_delays(
    recordings: Sequence[Recording], chosen: Choices
) -> tuple[list[float], float] | None:
    """LeoReplayer's one-way delays, which accompany a rate trace without times."""
    bare = next((one for one in recordings if one.is_bare), None)
    if bare is None or not any(one.opportunities for one in recordings):
        return None
    from airtcp.core.recordings.log import read_ping

    step_s = _LEO_STEP_S if chosen.step_s is None else chosen.step_s
    return [float(ms) for ms in 1e3 * read_ping(bare.path, step_s).rtt_s], step_s


def _loss(recordings: Sequence[Recording], found: Capacity) -> float:
    """The link's losses; where more was offered than it carried, losses are its queue's."""
    for one in recordings:
        losses = one.figures.losses
        of_link = any(
            rates.direction == found.direction and rates.bound == "link" for rates in one.rates
        )
        if found.direction in losses and not of_link:
            return losses[found.direction]
        if UNKNOWN in losses and not (one.rates and of_link):
            # There and back.
            return float(1 - (1 - losses[UNKNOWN]) ** 0.5)
    return 0.0


def recorded_scenario(path: Path, settings: Sequence[tuple[str, str]]) -> Scenario:
    """The link of a recording as a scenario with settings over it.

    Raises:
        ScenarioError: it is no link by itself, or no rate is among the settings where one is
            needed.
    """
    given = dict(settings)
    rate = given.get("link.rate")
    direction = given.get("flows.direction")
    chosen = Choices(
        rate=rate,
        direction=direction if direction in {"up", "down"} else None,
        rate_option='--set "link.rate=20 Mbit/s"',
    )
    # The core reads the files of a scenario once.
    with TemporaryDirectory(prefix="airtcp-") as held:
        link = import_link([path], chosen).link
        link.write(Path(held))
        return Scenario.parse(link.toml, str(path), held, settings)
