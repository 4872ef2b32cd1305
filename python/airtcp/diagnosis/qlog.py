"""QUIC as logged by an endpoint: qlog (draft-ietf-quic-qlog-main-schema), sequential or whole.

A capture of QUIC hides lost packets; the sender's log holds sent, acknowledged and declared-lost
packets. Neither shows why a packet was lost.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.diagnosis.fittable import why_no_fit
from airtcp.diagnosis.latency import Latency, latency
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.loss import Loss
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.qlog_events import Event, NoQlogError, events_of
from airtcp.diagnosis.saved import saved_text

UDP_AND_IP = 28
"""Bytes of the headers of UDP and IPv4, which a log omits."""
FEWEST_PACKETS = 100
FEWEST_ACKS = 10
MAX_SILENT = 0.005
"""Maximum share of packets with an unknown fate: the last ones, and packets never acknowledged
because their acknowledgment was lost.
"""
NO_DATA = frozenset({"ack", "padding", "connection_close"})
"""Frames that are not acknowledged (RFC 9000 §13.2)."""


@dataclass(frozen=True)
class QuicLog:
    """One direction of a QUIC connection, as its sender logged it."""

    path: str
    flow: Observed
    lost: int
    """Packets declared lost and not acknowledged later."""
    needless: int
    """Packets declared lost but acknowledged later (spurious)."""
    silent: int
    """Packets sent before an acknowledged one, with neither outcome in the log."""
    waits: Latency
    link: FittedLink

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        low, high = Loss(len(self.flow.sent_s), self.lost, None).interval
        share = format_percent(100 * self.lost / len(self.flow.sent_s), decimals=2)
        return (
            f"{format_bit_rate(self.flow.goodput_bps)} of QUIC, with {share} of its packets lost "
            f"({100 * low:.2g} to {100 * high:.2g} %) and a round trip of "
            f"{1e3 * self.waits.median_s:.0f} ms in the median, {1e3 * self.waits.base_s:.0f} ms "
            "at least."
        )

    @property
    def sentences(self) -> list[str]:
        """Facts that the log shows, and questions that it cannot answer; the headline first."""
        flow = self.flow
        sent = len(flow.sent_s)
        lines = [
            self.headline,
            f"In {flow.seconds:.1f} s it sent {format_count(sent)} packets, "
            f"{format_bytes(float(flow.size.sum()))}; {format_count(self.lost)} were lost, and "
            f"{format_count(self.needless)} more were called lost and arrived.",
        ]
        if self.silent > MAX_SILENT * sent:
            lines.append(
                f"{format_count(self.silent)} more were neither acknowledged nor called lost: this "
                "log names losses in a form that airtcp does not read, or not at all."
            )
        if self.waits.is_large:
            lines.append(
                f"Latency: one packet in twenty takes {1e3 * self.waits.high_s:.0f} ms and more: "
                "something fills a queue, this connection or another."
            )
        rate = self.link.rate
        if rate.is_constant and rate.source in ("queue", "dispersion"):
            lines.append(f"The link's rate is {format_bit_rate(rate.bps)}.")
        else:
            lines.append("The link's rate did not show.")
        stops = self.link.stops.stops
        if stops:
            lines.append(
                f"Nothing came for {sum(stop.length_s for stop in stops):.1f} s in "
                f"{len(stops)} {'stop' if len(stops) == 1 else 'stops'}."
            )
        lines.append(
            "Whether a queue or the radio lost packets does not show here, and remedies are for "
            "TCP: for either, capture a transfer over TCP on the same link (`airtcp diagnose "
            "--advise`)."
        )
        return lines


def read_qlog(path: str) -> QuicLog:
    """Reads the log of a QUIC connection's data sender.

    Raises:
        ScenarioError: it cannot be read, or holds too little data from a sender.
    """
    try:
        text = saved_text(Path(path))
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read ({error.strerror})") from None
    sent: dict[int, tuple[float, float]] = {}
    came: dict[int, float] = {}
    reports: list[tuple[float, float]] = []
    called_lost: set[int] = set()
    try:
        for event in events_of(text):
            if event.name == "packet_sent" and event.number is not None:
                if not event.frames or set(event.frames) - NO_DATA:
                    sent.setdefault(event.number, (event.time_s, event.bytes))
            elif event.name == "packet_lost" and event.number is not None:
                called_lost.add(event.number)
            elif event.name == "packet_received":
                newly = _acknowledged(event, sent, came)
                if newly > 0:
                    reports.append((event.time_s, newly))
    except NoQlogError as error:
        raise ScenarioError(f"{path}: {error}") from None
    numbers = sorted(number for number in sent if sent[number][1] > 0)
    if len(numbers) < FEWEST_PACKETS or len(reports) < FEWEST_ACKS or not came:
        raise ScenarioError(
            f"{path}: holds {len(numbers)} packets with data and {len(reports)} acknowledgments of "
            f"them: expected the qlog of the end that sends the data, {FEWEST_PACKETS} packets at "
            "least"
        )
    lost = np.array([number in called_lost and number not in came for number in numbers])
    length = np.array([sent[number][1] for number in numbers])
    flow = Observed(
        sent_s=np.array([sent[number][0] for number in numbers]),
        size=length + UDP_AND_IP,
        payload=length,
        start=np.cumsum(length) - length,
        attempt=np.zeros(len(numbers), dtype=np.int64),
        lost=lost,
        dropped=np.zeros(len(numbers), dtype=np.bool_),
        full=np.zeros(len(numbers), dtype=np.bool_),
        acked_s=np.array([came.get(number, np.nan) for number in numbers]),
        rtt_s=np.array([came.get(number, np.nan) - sent[number][0] for number in numbers]),
        ack_s=np.array([time_s for time_s, _ in reports]),
        newly=np.array([newly for _, newly in reports]),
    )
    latest, known = max(came), came.keys() | called_lost
    unfit = why_no_fit(flow)
    if unfit is not None:
        raise ScenarioError(f"{path}: {unfit}")
    return QuicLog(
        path,
        flow,
        int(lost.sum()),
        len(called_lost & came.keys()),
        sum(number < latest and number not in known for number in numbers),
        latency(flow, None),
        fitted_link(flow),
    )


def _acknowledged(
    event: Event, sent: dict[int, tuple[float, float]], came: dict[int, float]
) -> float:
    """Records the packets that a received packet acknowledges; returns the new bytes."""
    newly = 0.0
    for first, last in event.acknowledged:
        for number in range(first, last + 1):
            if number in sent and number not in came:
                came[number] = event.time_s
                newly += sent[number][1]
    return newly
