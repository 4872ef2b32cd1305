"""A path MTU black hole: packets above some length vanish without any ICMP error (RFC 2923)."""

import numpy as np
import polars as pl

from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.quantities import format_count

FEWEST_LONG = 3
"""Minimum number of lost long packets; fewer may be chance."""
FEWEST_ATTEMPTS = 3
"""Minimum number of failed transmissions of the same bytes."""
TCP_HEADER = 20
IP_HEADER, IPV6_HEADER = 20, 40
MIN_KNOWN = 1000
"""Minimum length of an arrived packet that bounds the path MTU from below usefully."""
ICMP_HEADER = 8
"""Excluded, like IP's, from the size of `ping -s`; the segment size excludes IP's and TCP's."""


def longest_that_arrives(segments: pl.DataFrame) -> int | None:
    """Bytes of the longest IP packet that arrived; None if longer ones never failed.

    Chance loses some long packets; it does not lose every one, transmission after transmission,
    while shorter ones arrive.
    """
    if segments.is_empty():
        return None
    arrived = segments.filter(pl.col("acked_ns").is_not_null() & ~pl.col("lost"))["size"]
    # The SYN and its answer got through even if no data did.
    longest = arrived.max() if len(arrived) else 0
    assert isinstance(longest, int)
    long = segments.filter(pl.col("size") > longest)
    if len(long) < FEWEST_LONG:
        return None
    attempts = long.group_by("start").len()["len"].max()
    is_tried = isinstance(attempts, int) and attempts >= FEWEST_ATTEMPTS
    return longest if is_tried else None


def mtu_hole(capture: Capture) -> CaptureFinding | None:
    """The finding; None if packets of every length arrive."""
    facts = capture.facts
    if facts is None or facts["view"] == "receiver":
        return None
    longest = longest_that_arrives(capture.segments)
    if longest is None or not _is_hole(capture, longest):
        return None
    segments = capture.segments
    long = segments.filter(pl.col("size") > longest)
    shortest_lost = int(np.min(long["size"].to_numpy()))
    short = segments.filter(pl.col("size") <= longest)
    count = format_count(len(long))
    shown = f"{longest} bytes" if longest else "the handshake's"
    more = "" if len(long["size"].unique()) == 1 else " and more"
    sentence = (
        f"Packets longer than {shown} never arrive (all {count}, of {shortest_lost} bytes{more}), "
        "shorter ones do: a path MTU black hole. net.ipv4.tcp_mtu_probing=1 at the sender, "
        "or a clamped MSS, ends it."
    )
    host = facts["receiver"].rsplit(":", 1)[0].strip("[]")
    header = IPV6_HEADER if ":" in host else IP_HEADER
    probe = shortest_lost - header - ICMP_HEADER
    evidence = [
        f"Up to that length {format_count(int(short['acked_ns'].is_not_null().sum()))} of "
        f"{format_count(len(short))} packets of data were acknowledged; of the longer ones none "
        "was, however often it was repeated: a longer capture shows nothing more.",
        f"The path carries some length from {longest} to {shortest_lost - 1} bytes: "
        f"`ping -M do -s {probe} {host}` gets no answer, and smaller values "
        "find the longest that does.",
    ]
    last_long = int(np.min(long["time_ns"].to_numpy()))
    if not (short["time_ns"] > last_long).any():
        evidence.append(
            "No short packet was sent after the first long one: a peer that went away at that "
            "moment would look the same, and this ping tells."
        )
    clamp = "mss-clamp"
    if longest >= MIN_KNOWN:
        clamp = f"mss-clamp:bytes={longest - header - TCP_HEADER}"
    return CaptureFinding("mtu-hole", sentence, tuple(evidence), ("mtu-probing", clamp))


def _is_hole(capture: Capture, longest: int) -> bool:
    """Whether arrival depends on the length, and not on a moment.

    On a path that went silent, nothing arrives afterwards; a long packet that is lost before
    shorter ones arrive, or the very first long ones, are lost by their length.
    """
    segments = capture.segments
    long = segments.filter(pl.col("size") > longest)
    first_long = int(np.min(long["time_ns"].to_numpy()))
    short = segments.filter(pl.col("size") <= longest)
    arrived = short.filter(pl.col("acked_ns").is_not_null())
    after = short.filter(pl.col("time_ns") > first_long)
    if len(after):
        return 2 * int(after["acked_ns"].is_not_null().sum()) >= len(after)
    # The handshake's packets are as long as a header.
    facts = capture.facts
    assert facts is not None
    return len(arrived) > 0 or facts["last"][1]["time_ns"] <= first_long
