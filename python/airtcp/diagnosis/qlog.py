"""QUIC as its own end logged it: qlog (draft-ietf-quic-qlog-main-schema), sequential or whole.

A capture of QUIC hides which packets were lost; the sender's log holds what it sent, what was
acknowledged, and what it gave up for lost. Why something was lost is in neither.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from airtcp._core import ScenarioError
from airtcp.diagnosis.latency import Latency, latency
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.loss import Loss
from airtcp.diagnosis.observed import Observed
from airtcp.quantities import format_bit_rate, format_bytes, format_count, format_percent

UDP_AND_IP = 28
"""Bytes of the headers of UDP and IPv4, which a log leaves out."""
FEWEST_PACKETS = 100
FEWEST_ACKS = 10
NO_DATA = frozenset({"ack", "padding", "connection_close"})
"""Frames that are not acknowledged (RFC 9000 §13.2)."""
_RECORD = "\x1e"
_SPACE = "1RTT"


@dataclass(frozen=True)
class QuicLog:
    """One direction of a QUIC connection, as its sender logged it."""

    path: str
    flow: Observed
    lost: int
    """Packets that the sender gave up for lost, and that were not acknowledged later."""
    needless: int
    """Those that were."""
    waits: Latency
    link: FittedLink

    @property
    def headline(self) -> str:
        """The one sentence."""
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
        """What the log shows, and what it does not; the headline first."""
        flow = self.flow
        sent = len(flow.sent_s)
        lines = [
            self.headline,
            f"In {flow.seconds:.1f} s it sent {format_count(sent)} packets, "
            f"{format_bytes(float(flow.size.sum()))}; {format_count(self.lost)} were lost, and "
            f"{format_count(self.needless)} more were called lost and arrived.",
        ]
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


def is_qlog(first: str) -> bool:
    """Whether a text's beginning is that of a qlog."""
    bare = first.lstrip(_RECORD + " \r\n\t")
    return bare.startswith("{") and ("qlog" in first)


def read_qlog(path: str) -> QuicLog:
    """Reads the log of a QUIC connection's data sender.

    Raises:
        ScenarioError: it cannot be read, or holds too little of a sender.
    """
    try:
        text = Path(path).read_text(errors="replace")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read ({error.strerror})") from None
    sent: dict[int, tuple[float, float]] = {}
    came: dict[int, float] = {}
    rtts: dict[int, float] = {}
    reports: list[tuple[float, float]] = []
    called_lost: set[int] = set()
    for time_s, name, data in _events(text, path):
        number = data.get("header", {}).get("packet_number")
        if data.get("header", {}).get("packet_type", _SPACE) != _SPACE:
            continue
        if name == "packet_sent" and isinstance(number, int):
            frames = {one.get("frame_type") for one in data.get("frames", [])}
            if not frames or frames - NO_DATA:
                sent.setdefault(number, (time_s, float(data.get("raw", {}).get("length", 0))))
        elif name == "packet_lost" and isinstance(number, int):
            called_lost.add(number)
        elif name == "packet_received":
            newly = _acknowledged(data, sent, came, rtts, time_s)
            if newly is not None:
                reports.append((time_s, newly))
    numbers = sorted(number for number in sent if sent[number][1] > 0)
    if len(numbers) < FEWEST_PACKETS or len(reports) < FEWEST_ACKS or not rtts:
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
        rtt_s=np.array([rtts.get(number, np.nan) for number in numbers]),
        ack_s=np.array([time_s for time_s, _ in reports]),
        newly=np.array([newly for _, newly in reports]),
    )
    return QuicLog(
        path,
        flow,
        int(lost.sum()),
        len(called_lost & came.keys()),
        latency(flow, None),
        fitted_link(flow),
    )


def _acknowledged(
    data: dict[str, Any],
    sent: dict[int, tuple[float, float]],
    came: dict[int, float],
    rtts: dict[int, float],
    time_s: float,
) -> float | None:
    """Enters what a received packet acknowledges; the new bytes, None where it has no ACK."""
    newly, has_ack = 0.0, False
    for frame in data.get("frames", []):
        if frame.get("frame_type") != "ack":
            continue
        has_ack = True
        for ends in frame.get("acked_ranges", []):
            for number in range(int(ends[0]), int(ends[-1]) + 1):
                if number in sent and number not in came:
                    came[number] = time_s
                    rtts[number] = time_s - sent[number][0]
                    newly += sent[number][1]
    return newly if has_ack and newly > 0 else None


def _events(text: str, path: str) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """Times in seconds, names without their schema, and data of the events of one trace."""
    pieces = text.split(_RECORD) if _RECORD in text else text.splitlines()
    records: list[Any] = []
    try:
        whole = json.loads(text) if _RECORD not in text and not _is_lines(pieces) else None
        records = [] if whole is not None else [json.loads(one) for one in pieces if one.strip()]
    except (ValueError, RecursionError):
        raise ScenarioError(f"{path}: is no qlog: expected JSON, whole or sequential") from None
    if whole is not None:
        traces = whole.get("traces") if isinstance(whole, dict) else None
        records = traces[0].get("events", []) if traces else []
        common = traces[0].get("common_fields", {}) if traces else {}
    else:
        head = records[0] if records and isinstance(records[0], dict) else {}
        common = head.get("trace", {}).get("common_fields", {})
    is_delta = (
        "previous" in str(common.get("time_format", "")) or common.get("time_format") == "delta"
    )
    before = 0.0
    for one in records:
        if not isinstance(one, dict) or "name" not in one or not isinstance(one.get("data"), dict):
            continue
        time_ms = float(one.get("time", 0.0)) + (before if is_delta else 0.0)
        before = time_ms
        yield time_ms / 1e3, str(one["name"]).rsplit(":", 1)[-1], one["data"]


def _is_lines(pieces: list[str]) -> bool:
    """Whether each line is a record of its own."""
    first = next((one for one in pieces if one.strip()), "")
    try:
        return isinstance(json.loads(first), dict) and len(pieces) > 1
    except ValueError:
        return False
