"""A path MTU black hole: packets above some length vanish without any ICMP error (RFC 2923)."""

import numpy as np

from airtcp.core.quantities import format_bytes, format_count
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.tables import Segments

FEWEST_LONG = 3
"""Minimum number of lost long packets; fewer may be chance."""
FEWEST_ATTEMPTS = 3
"""Minimum number of failed transmissions of the same bytes."""
MIN_TRIED_NS = 200_000_000
"""Minimum time between the first of these and the last: a timeout of Linux. In a file that lists
packets backward, an acknowledgment comes before its data, all at one time.
"""
TCP_HEADER = 20
IP_HEADER, IPV6_HEADER = 20, 40
MIN_KNOWN = 1000
"""Minimum length of an arrived packet that bounds the path MTU from below usefully."""
MIN_GAP = 512
"""Minimum bytes of a gap at the receiver: a full segment is longer."""
MIN_OPEN_S = 3.0
"""Minimum time for which a gap stays open: several timeouts of the sender."""
ICMP_HEADER = 8
"""Excluded, like IP's, from the size of `ping -s`; the segment size excludes IP's and TCP's."""


def longest_that_arrives(segments: Segments) -> int | None:
    """Bytes of the longest IP packet that arrived; None if longer ones never failed.

    Chance loses some long packets; it does not lose every one, transmission after transmission,
    while shorter ones arrive.
    """
    if not len(segments):
        return None
    arrived = segments.size[segments.acked & ~segments.lost]
    # The SYN and its answer got through even if no data did.
    longest = int(arrived.max(initial=0))
    long = segments.size > longest
    if np.count_nonzero(long) < FEWEST_LONG:
        return None
    # Transmissions of the same bytes are adjacent, in the order of their times.
    order = np.lexsort((segments.time_ns[long], segments.start[long]))
    times, starts = segments.time_ns[long][order], segments.start[long][order]
    _, first, attempts = np.unique(starts, return_index=True, return_counts=True)
    spans = times[first + attempts - 1] - times[first]
    is_tried = (attempts >= FEWEST_ATTEMPTS) & (spans >= MIN_TRIED_NS)
    return longest if is_tried.any() else None


def mtu_hole(capture: Capture) -> CaptureFinding | None:
    """The finding; None if packets of every length arrive."""
    facts = capture.facts
    if facts is None:
        return None
    if facts["view"] == "receiver":
        return _at_receiver(capture)
    segments = capture.tables.segments
    longest = longest_that_arrives(segments)
    if longest is None or not _is_hole(capture, longest):
        return None
    is_long = segments.size > longest
    long, short = segments.size[is_long], segments.acked[~is_long]
    shortest_lost = int(long.min())
    count = format_count(len(long))
    longer = "" if len(np.unique(long)) == 1 else " or more"
    shorter = f"those of up to {longest} bytes" if longest else "those of the handshake"
    sentence = (
        f"Packets of {shortest_lost} bytes{longer} never arrive (all {count} were lost), {shorter} "
        "do: a path MTU black hole. net.ipv4.tcp_mtu_probing=1 at the sender, or a clamped MSS, "
        "ends it."
    )
    host = facts["receiver"].rsplit(":", 1)[0].strip("[]")
    header = IPV6_HEADER if ":" in host else IP_HEADER
    probe = shortest_lost - header - ICMP_HEADER
    evidence = [
        f"Of the shorter ones {format_count(int(np.count_nonzero(short)))} of "
        f"{format_count(len(short))} packets of data were acknowledged; of the longer ones none "
        "was, however often it was repeated: a longer capture shows nothing more.",
        f"The path carries some length from {longest} to {shortest_lost - 1} bytes: "
        f"`ping -M do -s {probe} {host}` gets no answer, and smaller values "
        "find the longest that does.",
    ]
    first_long = segments.time_ns[is_long].min()
    if not (segments.time_ns[~is_long] > first_long).any():
        evidence.append(
            "No short packet was sent after the first long one: a peer that went away at that "
            "moment would look the same, and this ping tells."
        )
    clamp = "mss-clamp"
    if longest >= MIN_KNOWN:
        clamp = f"mss-clamp:bytes={longest - header - TCP_HEADER}"
    return CaptureFinding("mtu-hole", sentence, tuple(evidence), ("mtu-probing", clamp))


def _at_receiver(capture: Capture) -> CaptureFinding | None:
    """The finding from arrivals: a gap that nothing fills, while short packets arrive after it."""
    segments = capture.tables.segments
    if not len(segments):
        return None
    found = open_gap(segments)
    if found is None:
        return None
    gap, since_ns = found
    longest = int(segments.size.max())
    facts = capture.facts
    assert facts is not None
    until_ns = max(end["time_ns"] for end in facts["last"])
    open_s = (until_ns - since_ns) / 1e9
    # Full segments come in series of one length; where they arrive, length is not the cause.
    is_series = np.count_nonzero(segments.size == longest) >= FEWEST_LONG
    if is_series or gap < MIN_GAP or open_s < MIN_OPEN_S:
        return None
    host = facts["receiver"].rsplit(":", 1)[0].strip("[]")
    header = IPV6_HEADER if ":" in host else IP_HEADER
    sentence = (
        f"{format_bytes(gap)} never arrived in {open_s:.1f} s, though packets of up to {longest} "
        "bytes sent after them did: long packets are lost on the way here, a path MTU black hole. "
        "A clamped MSS, or net.ipv4.tcp_mtu_probing=1 at the sender, ends it."
    )
    evidence = (
        f"The longest packet of data that arrived has {longest} bytes, and no series of packets of "
        "one length did, as full segments would be. A sender that stopped at that moment would "
        f"look the same: `ping -M do -s {1500 - header - ICMP_HEADER} {host}` from the sender "
        "tells, or a capture there.",
    )
    clamp = "mss-clamp"
    if longest >= MIN_KNOWN:
        clamp = f"mss-clamp:bytes={longest - header - TCP_HEADER}"
    return CaptureFinding("mtu-hole", sentence, evidence, (clamp, "mtu-probing"))


def open_gap(segments: Segments) -> tuple[int, int] | None:
    """The first gap in the data that is open at the end: its bytes, and when data after it came.

    None without one. Times are the segments', in nanoseconds.
    """
    order = np.lexsort((segments.end, segments.start))
    starts = segments.start[order]
    # How far the data reached before each segment.
    edges = np.maximum.accumulate(np.concatenate(([0], segments.end[order])))[:-1]
    behind_gaps = np.flatnonzero(starts > edges)
    if not len(behind_gaps):
        return None
    at = behind_gaps[0]
    after = segments.time_ns[segments.start >= starts[at]]
    return int(starts[at] - edges[at]), int(after.min())


def _is_hole(capture: Capture, longest: int) -> bool:
    """Whether arrival depends on the length, and not on a moment.

    On a path that went silent, nothing arrives afterwards; a long packet that is lost before
    shorter ones arrive, or the very first long ones, are lost by their length.
    """
    segments = capture.tables.segments
    is_long = segments.size > longest
    first_long = segments.time_ns[is_long].min()
    arrived = segments.acked[~is_long]
    after = arrived[segments.time_ns[~is_long] > first_long]
    if len(after):
        return 2 * int(np.count_nonzero(after)) >= len(after)
    # The handshake's packets are as long as a header.
    facts = capture.facts
    assert facts is not None
    return bool(arrived.any()) or facts["last"][1]["time_ns"] <= first_long
