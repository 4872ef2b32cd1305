"""The sender's limit: a send buffer, or an application window, that is too small for the path.

A congestion window grows while nothing is lost. A sender that has the same bytes in flight for many
round trips, without losses and without a standing queue, is limited at its end.
"""

from dataclasses import dataclass

import numpy as np

from airtcp.core.quantities import format_bit_rate, format_bytes, format_part, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words
from airtcp.diagnosis.tables import Segments

WINDOW_S = 1.0
FEWEST_WINDOWS = 5
ROUND_TRIPS = 20
"""Round trips in which an unlimited window outgrows any apparent bound."""
NEAR_SEGMENTS = 2.5
NEAR_SHARE = 0.06
"""Maximum relative difference of peaks that count as equal."""
ALIKE = 0.8
"""Minimum share of the windows with the same peak."""
ROOM = 1.25
"""Minimum ratio of the link's rate to the flow's."""
MOSTLY = 0.5
HOST_S = 0.001
"""Maximum time from an acknowledgment to the data that it releases: of a host, or its pacing."""
CLOCKED = 0.9
"""Minimum share of the transmissions that acknowledgments release."""
FLAT_S, FLAT_SHARE = 0.001, 0.03
"""Maximum delay over the base round trip, absolute or relative, without a queue."""


@dataclass(frozen=True)
class Bound:
    """A recurring maximum of a sender's bytes in flight."""

    bytes: float
    share: float
    """Share of the windows in which it was reached."""


def flight_bound(segments: Segments, flow: Observed) -> Bound | None:
    """The bound of a flow's bytes in flight; None if they grow and shrink."""
    window = np.floor((segments.time_ns / 1e9 - flow.begun_s) / WINDOW_S).astype(np.int64)
    # Skips slow start, and the tail of the transfer.
    first = max(1, int(10 * flow.base_rtt_s / WINDOW_S))
    whole = (window >= first) & (window < window.max(initial=0))
    order = np.argsort(window[whole], kind="stable")
    _, begins = np.unique(window[whole][order], return_index=True)
    peaks = np.maximum.reduceat(segments.in_flight[whole][order], begins)
    if len(peaks) < max(FEWEST_WINDOWS, ROUND_TRIPS * flow.base_rtt_s / WINDOW_S):
        return None
    middle = float(np.median(peaks))
    near = max(NEAR_SEGMENTS * flow.full_size, NEAR_SHARE * middle)
    share = float(np.mean(np.abs(peaks - middle) <= near))
    return Bound(middle, share) if share >= ALIKE else None


def send_buffer(
    capture: Capture, flow: Observed | None, link: FittedLink | None, socket: Connection | None
) -> CaptureFinding | None:
    """The finding; None if the network bounds the bytes in flight."""
    facts = capture.facts
    if (
        facts is None
        or flow is None
        or facts["view"] != "sender"
        or not len(capture.tables.segments)
    ):
        return None
    counted = 0.0 if socket is None else socket.buffer_share
    is_counted = counted > MOSTLY
    if not is_counted and (not _has_room(capture, flow, link) or _is_held_elsewhere(capture, link)):
        return None
    bound = flight_bound(capture.tables.segments, flow)
    if bound is None and not is_counted:
        return None
    flights = capture.tables.segments.in_flight
    held = bound.bytes if bound is not None else float(flights.max())
    known = link is not None and _shows_rate(link) and link.bps > ROOM * flow.goodput_bps
    of_rate = (
        format_part(flow.goodput_bps, link.bps)
        if known and link
        else format_bit_rate(flow.goodput_bps)
    )
    round_trip = seconds_words(flow.base_rtt_s)
    needed = link.bps * flow.base_rtt_s / 8.0 if known and link else 0.0
    size = f"; {format_bytes(needed)} in flight fill the link" if needed else ""
    remedies: tuple[str, ...] = ("send-buffer",)
    if is_counted:
        share = format_percent(100 * counted, decimals=0)
        sentence = (
            f"The sender's own buffer holds the flow back for {share} of the time "
            f"(sndbuf_limited): {format_bytes(held)} in flight make {of_rate} at a round trip of "
            f"{round_trip}. A larger send buffer (net.ipv4.tcp_wmem, or SO_SNDBUF left unset) is "
            "the remedy."
        )
        evidence = [f"It never has more than {format_bytes(held)} in flight{size}."]
    else:
        holder, larger, room, remedies = _holders(capture)
        sentence = (
            f"The sender never has more than {format_bytes(held)} in flight, whatever is "
            f"acknowledged: {holder} holds the flow at {of_rate}, at a round trip of "
            f"{round_trip}. {larger} is the remedy."
        )
        evidence = [
            f"Nothing was lost that would keep a congestion window so small{room}{size}.",
            "A window of the application (SSH, HTTP/2) or a clamp of the congestion window would "
            "look the same: `ss -ti` of the sender names the buffer (sndbuf_limited), and "
            "`airtcp diagnose` takes its output beside the capture.",
        ]
    return CaptureFinding("send-buffer", sentence, tuple(evidence), remedies)


def _holders(capture: Capture) -> tuple[str, str, str, tuple[str, ...]]:
    """The end or ends that may hold the flow, their change, evidence, and names of remedies.

    Windows without their scale, which is in the SYNs, do not show whether they have room.
    """
    own = "(net.ipv4.tcp_wmem, or SO_SNDBUF left unset)"
    # The window of a SYN is never scaled, and a closed one is closed at any scale.
    if np.count_nonzero(capture.tables.acks.windows > 0) > 1:
        return (
            "its send buffer",
            f"A larger one {own}",
            ", and the receiver's window has room",
            ("send-buffer",),
        )
    return (
        "its send buffer or the receiver's window, whose scale this capture lacks,",
        f"A larger one {own}, or a larger receive buffer (net.ipv4.tcp_rmem, or SO_RCVBUF left "
        "unset),",
        "",
        ("send-buffer", "receive-buffer"),
    )


def _shows_rate(link: FittedLink) -> bool:
    return link.rate.source in ("queue", "dispersion", "given")


def _has_room(capture: Capture, flow: Observed, link: FittedLink | None) -> bool:
    """Whether the link has spare capacity, without a standing queue."""
    facts = capture.facts
    if facts is None or facts["shares"].get("link", 0.0) > MOSTLY:
        return False
    if link is not None and _shows_rate(link):
        return link.bps > ROOM * flow.goodput_bps * flow.overhead
    return _waits_for_acknowledgments(flow)


def _waits_for_acknowledgments(flow: Observed) -> bool:
    """Whether the link delivers faster for a part of each round trip, and no queue ever builds up.

    A sender that keeps as much in flight as its buffer holds, to the byte, sends no bursts that
    would show the link's rate, but what acknowledgments release: then none for the rest of the
    round trip. A program that writes evenly does not wait for them, and a window that fills the
    link has them come evenly.
    """
    queued_s = float(np.quantile(flow.rtt_s[flow.sampled], 0.95)) - flow.base_rtt_s
    came = flow.ack_s[flow.newly > 0]
    if queued_s > max(FLAT_S, FLAT_SHARE * flow.base_rtt_s) or len(came) < 2:
        return False
    # Nearer than by chance, where acknowledgments are frequent.
    near_s = min(HOST_S, float(came[-1] - came[0]) / len(came) / 2)
    sent_s = flow.sent_s[flow.sent_s > came[0]]
    if not len(sent_s):
        return False
    latest = came[np.searchsorted(came, sent_s, side="right") - 1]
    if np.mean(sent_s - latest <= near_s) < CLOCKED:
        return False
    part_s = flow.base_rtt_s / 4
    ends = np.searchsorted(flow.ack_s, flow.ack_s + part_s)
    whole = np.concatenate(([0.0], np.cumsum(flow.newly)))
    bps = 8.0 * (whole[ends] - whole[:-1]) / part_s
    _, first = np.unique(np.floor((flow.ack_s - flow.begun_s) / flow.base_rtt_s), return_index=True)
    return float(np.median(np.maximum.reduceat(bps, first))) > ROOM * flow.goodput_bps


def _is_held_elsewhere(capture: Capture, link: FittedLink | None) -> bool:
    """Whether losses, stops, the receiver's window or the application explain the bytes in flight.

    A link that stops for much of the time leaves few round trips for a window to grow in.
    """
    facts = capture.facts
    assert facts is not None
    shares = facts["shares"]
    ends = shares.get("receiver_window", 0.0) + shares.get("small_writes", 0.0)
    seconds = sum(facts["seconds"].values())
    idle_s = seconds - facts["under_way_s"]
    stopped_s = 0.0 if link is None else sum(stop.length_s for stop in link.stops.stops)
    lost = float(capture.tables.segments.lost.mean())
    elsewhere = max(ends, max(idle_s, stopped_s) / seconds if seconds > 0 else 0.0)
    return elsewhere > MOSTLY / 2 or lost > 0.001
