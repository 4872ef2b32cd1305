"""Writes the fitted link as a scenario: `link.toml` and the files that it names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from airtcp.core.files import write_whole
from airtcp.diagnosis import bounds
from airtcp.diagnosis.beside import Beside
from airtcp.diagnosis.link import PACKET_BYTES, FittedLink
from airtcp.diagnosis.observed import Observed, Reals
from airtcp.diagnosis.rate import WINDOW_S
from airtcp.diagnosis.stops import StopProcess
from airtcp.diagnosis.wifi import PACING_SHIFT, Wifi

OPPORTUNITY_BITS = 8 * 1500
MAX_OPPORTUNITIES = 20_000_000
"""Of a recorded rate: 40 s at 6 Gbit/s."""
RECORDED_RATE = "rate.opportunities"
RECORDED_STOPS = "stops.csv"
RECORDED_LOSSES = "lost.csv"
RECORDED_PATH = "path.csv"
UDP_PAYLOAD, UDP_HEADERS = 1472, 28
SLOWEST = 3.0
"""Maximum duration of a replay, as a multiple of the capture's."""


@dataclass(frozen=True)
class Stack:
    """The two ends, as far as they are known, as keys of `[tcp]`."""

    profile: str
    mss: int
    sack: bool
    timestamps: bool
    receive_buffer: int | None = None
    """Bytes of the largest window offered, if it limited the flow."""
    ack_segments: int | None = None
    """Segments per acknowledgment; None for the profile's default."""
    ecn: bool = False
    """Whether both ends use ECN."""

    def lines(self) -> list[str]:
        """The table `[tcp]`."""
        # A profile includes SACK and dependent features; without the option all of them are off.
        lines = [f'profile = "{self.profile}"', f"mss = {bounds.mss(self.mss)}"]
        if not self.sack:
            lines += ["sack = false", "dsack = false", "tail_loss_probe = false"]
            lines += ['loss_detection = "duplicate-acks"', "dsack_undo = false"]
        if not self.timestamps:
            lines += ["timestamps = false", "eifel = false"]
        if self.receive_buffer is not None:
            lines += [
                f"receive_buffer = {bounds.window(self.receive_buffer)}",
                'receive_window = "fixed"',
            ]
        if self.ecn:
            lines.append('ecn = "request"')
        if self.ack_segments is not None:
            lines.append(f"delayed_ack = {{ segments = {self.ack_segments} }}")
        return lines


@dataclass(frozen=True)
class WrittenLink:
    """A scenario as text, and the other files of its folder."""

    toml: str
    files: Mapping[str, str]

    def write(self, folder: Path, name: str) -> Path:
        """Writes `name` and the other files into `folder`; returns the scenario's path.

        Raises:
            OSError: the folder cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in self.files.items():
            write_whole(folder / file, text.encode())
        path = folder / name
        write_whole(path, self.toml.encode())
        return path


def modelled(
    link: FittedLink, stack: Stack, seconds: float, phase: float | None = None
) -> WrittenLink:
    """The link as a process: each seed draws another hour of the same link.

    Seeds do not shift periodic stops; `phase`, from 0 to 1, is the offset of the first stop, as a
    share of the period.
    """
    if link.wifi is not None:
        return on_the_air(link.wifi, stack, seconds)
    files: dict[str, str] = {}
    lines = _rate(link, files)
    if link.loss.bursts is not None:
        bursts = link.loss.bursts
        lines.append(
            'loss = { model = "gilbert-elliott", '
            f"good_to_bad = {bounds.share(bursts.good_to_bad)}, "
            f"bad_to_good = {bounds.share(bursts.bad_to_good)}, "
            f"loss_in_bad = {bounds.share(bursts.loss_in_bad)} }}"
        )
    elif link.loss.lost:
        lines.append(f"loss = {{ rate = {bounds.share(link.loss.rate)} }}")
    shows_stops = bool(link.stops.stops) and not _are_in_the_rate(link)
    if shows_stops and link.stops.is_periodic and phase is not None:
        period = link.stops.mean_period_s
        starts = np.arange(phase * period, seconds, period)
        lines.append(
            _listed(((float(at), link.stops.mean_length_s) for at in starts), link.stops, files)
        )
    elif shows_stops:
        lines.append(_stops(link.stops))
    about = "The link of a capture, as a process"
    return _scenario(lines, files, stack, seconds, about, link.beside)


def replayed(link: FittedLink, flow: Observed, stack: Stack, later_packets: int = 0) -> WrittenLink:
    """The link with the recorded stops and losses of the capture, and as much data.

    Stops and losses come `later_packets` packet times later than in the capture.

    Data sent after the capture's last packet would meet no losses any more: the same data meets the
    same losses, at any speed. A Wi-Fi link is replayed as its process: the damaged frames of each
    aggregate are not in the capture.
    """
    if link.wifi is not None:
        return on_the_air(link.wifi, stack, flow.seconds + flow.base_rtt_s)
    files: dict[str, str] = {}
    lines = _rate(link, files)
    # The simulated handshake takes a round trip before the first data leaves.
    packet_s = 8.0 * PACKET_BYTES / max(link.bps, bounds.MIN_BPS)
    offset = flow.begun_s - flow.base_rtt_s - later_packets * packet_s
    if link.stops.stops and not _are_in_the_rate(link):
        begun = ((max(0.0, one.start_s - offset), one.length_s) for one in link.stops.stops)
        lines.append(_listed(begun, link.stops, files))
    # Packet 0 is the SYN. The simulated queue drops packets by itself, and the link after it does
    # not number them.
    passed = np.flatnonzero(flow.lost & ~flow.dropped)
    if len(passed) and link.beside:
        # The capture's packet numbers do not apply to the packets of all flows.
        lines.append(f"loss = {{ rate = {bounds.share(link.loss.rate)} }}")
    elif len(passed):
        numbered = sorted({max(1, 1 + int(index) + later_packets) for index in passed})
        numbers = "\n".join(str(one) for one in numbered)
        files[RECORDED_LOSSES] = f"packet\n{numbers}\n"
        lines.append(f'lost_packets = {{ path = "{RECORDED_LOSSES}" }}')
    # Cross traffic goes on as long as the capture did: the remaining capacity depends on time.
    longest = flow.seconds if link.beside else SLOWEST * flow.seconds
    payload = round(float(flow.newly.sum()))
    about = "A capture, played back"
    return _scenario(lines, files, stack, longest + flow.base_rtt_s, about, link.beside, payload)


def on_the_air(wifi: Wifi, stack: Stack, seconds: float) -> WrittenLink:
    """A Wi-Fi link with its flows."""
    lines = [
        'name = "link"',
        'description = "The Wi-Fi link of a capture, as a process"',
        f'duration = "{bounds.duration(seconds)}"',
        'topology = "wlan"',
        "",
        *wifi.lines(),
        "[tcp]",
        *stack.lines(),
        *([] if wifi.is_download else [f"pacing_shift = {PACING_SHIFT}"]),
        "",
        "[flows]",
        *wifi.flow_lines(),
        "",
    ]
    return WrittenLink("\n".join(lines), {})


def flooded(wifi: Wifi, seconds: float) -> WrittenLink:
    """A Wi-Fi link with this flow replaced by datagrams that saturate it."""
    kinds = ", ".join(['"udp"'] + wifi.others * ['"tcp"'])
    lines = [
        'name = "link"',
        f'duration = "{bounds.duration(seconds)}"',
        'topology = "wlan"',
        "",
        *wifi.lines(),
        "[flows]",
        *wifi.flow_lines(),
        f"kind = [{kinds}]",
        f'udp = {{ rate = "{wifi.mode.bps:.0f} bit/s", size = {UDP_PAYLOAD} }}',
        "",
    ]
    return WrittenLink("\n".join(lines), {})


def _are_in_the_rate(link: FittedLink) -> bool:
    """Whether a recorded rate includes the stops: it is zero while packets wait."""
    return link.rate.steps is not None and not link.stops.are_held


def with_queue(link: FittedLink, packets: int) -> FittedLink:
    """The link with a different queue."""
    return replace(link, queue=replace(link.queue, packets=packets))


def _rate(link: FittedLink, files: dict[str, str]) -> list[str]:
    lines = [_delay(link, files)]
    if link.rate.steps is None:
        lines.append(f'rate = "{bounds.rate(link.rate.bps)}"')
    else:
        files[RECORDED_RATE] = opportunities(link.rate.steps)
        lines.append(f'trace = {{ up = "{RECORDED_RATE}", data = "up" }}')
    lines.append(f"queue = {{ packets = {bounds.packets(link.queue.packets)} }}")
    if link.late is not None:
        late = link.late
        by = bounds.delay(late.by_s)
        lines.append(f'late = {{ share = {bounds.share(late.share)}, by = "{by}" }}')
    if link.jitter is not None:
        mean = bounds.delay(link.jitter.mean_s, least_us=1)
        order = "in-order" if link.jitter.keeps_order else "reorder"
        lines.append(f'jitter = {{ mean = "{mean}", shape = "exponential", order = "{order}" }}')
    policer, target_s = link.drops.policer, link.drops.aqm_target_s
    if policer is not None:
        lines.append(
            f'policer = {{ rate = "{bounds.rate(policer.bps)}", '
            f"burst = {bounds.burst(policer.burst_bytes)} }}"
        )
    elif target_s is not None:
        marks = ", ecn = true" if link.drops.marks else ""
        is_codel = link.drops.discipline == "codel"
        target = f', target = "{bounds.target(target_s)}"' if is_codel else ""
        lines.append(f'aqm = {{ discipline = "{link.drops.discipline}"{target}{marks} }}')
    return lines


def _delay(link: FittedLink, files: dict[str, str]) -> str:
    """The one-way delay; for a path that changes, as a recording."""
    if not link.phases:
        return f'delay = "{bounds.delay(link.delay_s)}"'
    begins = [0.0, *(from_s for from_s, _ in link.phases[1:])]
    rows = "".join(
        f"{1e3 * bounds.listed(begin):.3f},{1e3 * bounds.listed(delay_s):.3f},0\n"
        for begin, (_, delay_s) in zip(begins, link.phases, strict=True)
    )
    files[RECORDED_PATH] = f"time_ms,delay_ms,loss\n{rows}"
    return f'recorded = {{ path = "{RECORDED_PATH}" }}'


def opportunities(steps: Reals) -> str:
    """Delivery opportunities of 1500 bytes, one line per millisecond, for a rate in windows."""
    return _opportunities(steps.tobytes())


@lru_cache(maxsize=4)
def _opportunities(steps: bytes) -> str:
    """Cached by the rates' bytes: links drawn from one fit share the recording."""
    rates = np.frombuffer(steps, dtype=np.float64)
    # No link delivers more: a capture has such rates whose times were changed.
    most_bps = MAX_OPPORTUNITIES * OPPORTUNITY_BITS / (WINDOW_S * max(len(rates), 1))
    rates = np.clip(np.nan_to_num(rates), 0.0, most_bps)
    ends = np.concatenate(([0.0], np.cumsum(rates * WINDOW_S / OPPORTUNITY_BITS)))
    at_s = np.arange(len(ends)) * WINDOW_S
    times = np.interp(np.arange(1, int(ends[-1]) + 1), ends, at_s)
    # A link has to deliver something.
    times = times if len(times) else at_s[-1:]
    milliseconds = np.maximum(1, np.rint(1e3 * times)).astype(np.int64)
    return "".join(f"{at}\n" for at in milliseconds.tolist())


def _listed(
    stops: Iterable[tuple[float, float]], process: StopProcess, files: dict[str, str]
) -> str:
    """Stops by start and length in milliseconds, in a file: in order, without overlap."""
    rows = "".join(f"{begin / 1e3:.3f},{(end - begin) / 1e3:.3f}\n" for begin, end in apart(stops))
    files[RECORDED_STOPS] = f"start_ms,length_ms\n{rows}"
    packets = "held" if process.are_held else "wait"
    return f'stops = {{ process = "recorded", path = "{RECORDED_STOPS}", packets = "{packets}" }}'


def apart(stops: Iterable[tuple[float, float]]) -> list[tuple[int, int]]:
    """Start and end in whole microseconds, of stops in any order that may touch or overlap.

    Stops before the start of a scenario, which has no time before it, all begin there.
    """
    joined: list[tuple[int, int]] = []
    for start, length in sorted(stops):
        # A recording holds 30 days; of a clock that was set meanwhile stops lie beyond them.
        begin, end = (round(1e6 * bounds.listed(at)) for at in (start, start + length))
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif end > begin:
            joined.append((begin, end))
    return joined


def _stops(process: StopProcess) -> str:
    packets = "held" if process.are_held else "wait"
    length = bounds.length(process.mean_length_s)
    if process.is_periodic:
        every = bounds.length(process.mean_period_s)
        return (
            f'stops = {{ process = "periodic", every = "{every}", '
            f'length = "{length}", packets = "{packets}" }}'
        )
    lengths = "fixed" if process.have_one_length else "exponential"
    return (
        f'stops = {{ process = "random", working = "{bounds.length(process.mean_working_s, 1.0)}", '
        f'length = "{length}", lengths = "{lengths}", packets = "{packets}" }}'
    )


def _beside(beside: Beside) -> list[str]:
    """Keys of `[flows]` for the flow and its cross traffic, which no remedy changes."""
    if beside.give_way:
        return [f"count = {1 + beside.flows}", f"unchanged = {beside.flows}"]
    payload = UDP_PAYLOAD / (UDP_PAYLOAD + UDP_HEADERS)
    return [
        "count = 2",
        "unchanged = 1",
        'kind = ["tcp", "udp"]',
        f'udp = {{ rate = "{bounds.rate(payload * beside.cross_bps)}", size = {UDP_PAYLOAD} }}',
    ]


def _scenario(
    link: list[str],
    files: dict[str, str],
    stack: Stack,
    seconds: float,
    description: str,
    beside: Beside | None,
    payload: int | None = None,
) -> WrittenLink:
    lines = [
        'name = "link"',
        f'description = "{description}"',
        f'duration = "{bounds.duration(seconds)}"',
        "",
        "[link]",
        *link,
        "",
        "[tcp]",
        *stack.lines(),
        "",
    ]
    flows = [] if payload is None else [f"bytes = {payload}"]
    if beside is not None:
        flows = _beside(beside)
    if flows:
        lines += ["[flows]", *flows, ""]
    return WrittenLink("\n".join(lines), files)
