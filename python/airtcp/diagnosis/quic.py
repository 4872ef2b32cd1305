"""QUIC in a capture, without keys: evidence from headers, sizes and times (RFC 9000, RFC 9312).

Packet numbers and acknowledgments are encrypted. A capture shows the round trip of the handshake,
that of the spin bit if both ends take part (RFC 9000 §17.4), and the time and size of datagrams.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from airtcp import _core
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count
from airtcp.diagnosis.tables import Flags, Reals, Words, words_of

FEWEST_EDGES = 8
"""Minimum number of spin-bit edges to measure round trips."""
RANDOM_SHARE = 0.2
"""Minimum share of packets with a changed bit that shows a random bit: an end that does not take
part may draw it for each packet (RFC 9000 §17.4).
"""
HASTY = 0.5
"""Minimum spacing of edges as a share of the handshake's round trip: closer ones are due to
reordering (RFC 9312 §3.8.2).
"""
WINDOW_S = 0.1
STOP_S = 0.08
STOP_RTTS = 1.5
"""Minimum silence in round trips, in addition to 80 ms, that is a stop of an endpoint or the
link.
"""
TOGETHER_S = 50e-6
NEAR_SHARE = 0.1
"""Maximum share of the round trip to the near end, for a capture at that end."""
WAITING_S = 0.1
MAX_EDGE_S = 10.0
IPV4_AND_UDP, IPV6_AND_UDP = 28, 48
VERSIONS = {1: "1", 0x6B3343CF: "2"}


@dataclass(frozen=True)
class QuicFlow:
    """The QUIC flow of a capture with the most data."""

    client: str
    server: str
    has_begun: bool
    """Whether the capture holds its first packet."""
    is_download: bool
    """Whether most data came from the server."""
    versions: tuple[int, ...]
    has_negotiated: bool
    id_bytes: tuple[int, int] | None
    """Lengths of the connection IDs chosen by client and server; None without a handshake."""
    bytes: int
    """UDP payload in the direction of most data."""
    seconds: float
    packets: int
    largest_bytes: int
    """The longest datagram; above the MTU if the network card coalesces them."""
    handshake_s: float | None
    """Round trip of the first flight, including the server's processing time."""
    to_client_s: float | None
    """From the capture to the client and back, in the handshake."""
    spin: str
    """Behaviour of the spin bit: `used`, `constant`, `random`, or `few` short headers."""
    spin_s: tuple[float, ...]
    """Round trips by the spin bit, in the order of the capture."""
    busiest_bps: float
    """Bits of IP packets a second in the busiest tenths of a second."""
    mean_bps: float
    """Mean rate over all tenths of a second in which data arrived."""
    silences: tuple[tuple[float, float], ...]
    """Start and length, in seconds, of silences too long to be explained by round trips."""
    burst_packets: float | None
    """Packets in a burst, in the median by bytes; None if they come one by one."""
    others: int
    """Other QUIC flows in the capture."""
    is_cut: bool

    @property
    def place(self) -> str | None:
        """Vantage point: `client`, `server` or `middle`; None without a handshake."""
        if self.handshake_s is None or self.to_client_s is None:
            return None
        if self.to_client_s < NEAR_SHARE * self.handshake_s:
            return "client"
        rest = self.handshake_s - self.to_client_s
        return "server" if rest < NEAR_SHARE * self.handshake_s else "middle"

    @property
    def is_behind_link(self) -> bool | None:
        """Whether the capture sees data after the link; None if not known."""
        place = self.place
        if place is None or place == "middle":
            return None
        return (place == "client") == self.is_download

    @property
    def base_s(self) -> float | None:
        """The minimum round trip observed."""
        known = [] if self.handshake_s is None else [self.handshake_s]
        if self.spin_s:
            known.append(float(np.quantile(self.spin_s, 0.02)))
        return min(known) if known else None

    @property
    def loaded_s(self) -> tuple[float, float] | None:
        """Median and 95th percentile of the round trips by the spin bit."""
        if not self.spin_s:
            return None
        median, high = np.quantile(self.spin_s, (0.5, 0.95))
        return float(median), float(high)

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        rate = f"{format_bit_rate(self.mean_bps)} of QUIC"
        base, loaded = self.base_s, self.loaded_s
        if base is None:
            return f"{rate}; its round trip does not show, only its rate and its pauses do."
        if loaded is None:
            return f"{rate} with a round trip of {1e3 * base:.0f} ms in its handshake."
        wait = "data waits" if self.waits else "little waits"
        return (
            f"{rate}: {wait}. Its round trip is {1e3 * base:.0f} ms at least and "
            f"{1e3 * loaded[0]:.0f} ms in the median while sending, by its spin bit."
        )

    @property
    def waits(self) -> bool:
        """Whether one packet in twenty waits long."""
        base, loaded = self.base_s, self.loaded_s
        if base is None or loaded is None:
            return False
        return loaded[1] - base > max(WAITING_S, base)

    @property
    def sentences(self) -> list[str]:
        """Facts that the capture shows, and questions that it cannot answer; the headline first."""
        way = f"to {self.client}" if self.is_download else f"from {self.client}"
        other = f"from {self.server}" if self.is_download else f"to {self.server}"
        lines = [
            self.headline,
            f"{format_bytes(self.bytes)} in {format_count(self.packets)} datagrams {other} {way} "
            f"in {self.seconds:.1f} s{self._of_others()}.",
            *self._handshake(),
            self._spin(),
            self._delivery(),
            *self._silences(),
        ]
        lines.append(
            "Which packets were lost cannot be known, nor why: numbers and acknowledgments are "
            "encrypted. The qlog of the sender holds what was lost, and a transfer over TCP on the "
            "same link shows why (`airtcp diagnose --advise`)."
        )
        return lines

    def _of_others(self) -> str:
        if not self.others:
            return ""
        flows = "flow" if self.others == 1 else "flows"
        return f", the largest beside {format_count(self.others)} other {flows} of QUIC"

    def _handshake(self) -> list[str]:
        if self.handshake_s is None:
            begun = "is incomplete here" if self.has_begun else "was before the capture"
            return [f"Its handshake {begun}: where it was captured does not show."]
        versions = ", ".join(VERSIONS.get(one, f"{one:#010x}") for one in self.versions if one)
        place = {
            "client": "the capture was taken at the client",
            "server": "the capture was taken at the server",
            "middle": "the capture was taken between the two",
            None: "",
        }[self.place]
        negotiated = ", after the version was negotiated" if self.has_negotiated else ""
        ids = ""
        if self.id_bytes is not None:
            ids = f", connection IDs of {self.id_bytes[0]} and {self.id_bytes[1]} bytes"
        return [
            f"Handshake of version {versions}{negotiated}{ids}: "
            f"{1e3 * self.handshake_s:.1f} ms, the server's own time in it; {place}."
        ]

    def _spin(self) -> str:
        match self.spin:
            case "used":
                median, high = self.loaded_s or (0.0, 0.0)
                return (
                    f"The spin bit turned {format_count(len(self.spin_s) + 1)} times: round trips "
                    f"of {1e3 * median:.0f} ms in the median, and {1e3 * high:.0f} ms at the 95th "
                    "percentile. Pauses of the sender count as well."
                )
            case "random":
                return (
                    "The spin bit is drawn for each packet: one end takes no part, and no round "
                    "trip after the handshake shows."
                )
            case "constant":
                return (
                    "The spin bit never turns: one end takes no part, and no round trip after the "
                    "handshake shows."
                )
            case _:
                return "The spin bit turned too seldom to tell a round trip."

    def _delivery(self) -> str:
        bursts = ""
        if self.burst_packets is not None:
            bursts = f", in bursts of {self.burst_packets:.0f} packets"
        rate = f"{format_bit_rate(self.busiest_bps)} in its busiest tenths of a second{bursts}"
        match self.is_behind_link:
            case True:
                return f"{rate}: the link has that at least."
            case False:
                return f"{rate}, as sent: the link comes after the capture point."
            case None:
                return f"{rate}, where the capture was taken."

    def _silences(self) -> list[str]:
        if not self.silences:
            return []
        whole = sum(length for _, length in self.silences)
        longest = max(length for _, length in self.silences)
        times = "time" if len(self.silences) == 1 else "times"
        return [
            f"Nothing came {format_count(len(self.silences))} {times}, for {whole:.1f} s in all "
            f"and {longest:.2f} s at the longest: the link stood, losses were repaired by a "
            "timer, or nothing was sent, which are not told apart."
        ]


def read_quic(path: Path) -> QuicFlow | None:
    """The QUIC flow of a capture with most bytes; None without QUIC.

    Raises:
        CaptureError: the capture cannot be read.
    """
    flows, datagrams, is_cut = _core.read_quic(path)
    if not len(datagrams):
        return None
    flow, sizes = datagrams.wholes("flow"), datagrams.wholes("bytes")
    sums = np.bincount(flow, sizes)
    # Of equal ones the last.
    number = len(sums) - 1 - int(np.argmax(sums[::-1]))
    own = _datagrams_of(datagrams, flow == number)
    return _flow(own, flows.rows()[number], len(flows) - 1, is_cut=is_cut)


@dataclass(frozen=True, eq=False)
class _Datagrams:
    """Datagrams of one flow, in the order of their times."""

    time_s: Reals
    size: Reals
    """Bytes of the UDP payload."""
    from_server: Flags
    kind: Words
    version: Reals
    """NaN without one, as are the others."""
    spin: Reals
    """0 or 1."""
    source_id_bytes: Reals


def _datagrams_of(table: _core.Table, is_own: Flags) -> _Datagrams:
    at = np.flatnonzero(is_own)
    times = table.reals("time_ns")
    at = at[np.argsort(times[at], kind="stable")]
    return _Datagrams(
        time_s=times[at] / 1e9,
        size=table.reals("bytes")[at],
        from_server=table.flags("from_server")[at],
        kind=words_of(table, "kind")[at],
        version=table.reals("version")[at],
        spin=table.reals("spin")[at],
        source_id_bytes=table.reals("source_id_bytes")[at],
    )


def _flow(rows: _Datagrams, ends: dict[str, object], others: int, *, is_cut: bool) -> QuicFlow:
    server, size, time = rows.from_server, rows.size, rows.time_s
    is_download = bool(size[server].sum() >= size[~server].sum())
    data = server if is_download else ~server
    headers = IPV6_AND_UDP if str(ends["client"]).startswith("[") else IPV4_AND_UDP
    came, carried = time[data], size[data] + headers
    handshake_s, to_client_s = _handshake(rows, time)
    spin, samples = _spin(rows, time, server, is_download=is_download, handshake_s=handshake_s)
    usual = float(np.median(samples)) if len(samples) else (handshake_s or 0.0)
    busiest, mean = _delivery(came, carried)
    versions = np.unique(rows.version[np.isfinite(rows.version)]).tolist()
    return QuicFlow(
        client=str(ends["client"]),
        server=str(ends["server"]),
        has_begun=bool(ends["has_begun"]),
        is_download=is_download,
        versions=tuple(int(one) for one in versions),
        has_negotiated=0 in versions,
        id_bytes=_id_bytes(rows),
        bytes=int(size[data].sum()),
        seconds=float(came[-1] - came[0]),
        packets=int(data.sum()),
        largest_bytes=int(size.max()),
        handshake_s=handshake_s,
        to_client_s=to_client_s,
        spin=spin,
        spin_s=tuple(float(one) for one in samples),
        busiest_bps=busiest,
        mean_bps=mean,
        silences=_silences(came, max(STOP_S, STOP_RTTS * usual)),
        burst_packets=_bursts(came),
        others=others,
        is_cut=is_cut,
    )


def _id_bytes(rows: _Datagrams) -> tuple[int, int] | None:
    """The lengths of the source connection IDs of both ends."""
    known = np.isfinite(rows.source_id_bytes)
    of_client, of_server = (
        rows.source_id_bytes[known & (rows.from_server == way)] for way in (False, True)
    )
    if not len(of_client) or not len(of_server):
        return None
    return int(of_client[-1]), int(of_server[-1])


def _handshake(rows: _Datagrams, time: Reals) -> tuple[float | None, float | None]:
    """The round trip of the first flight, and the part of it between the capture and the client."""
    kinds, server = rows.kind.tolist(), rows.from_server.tolist()
    first = next(
        (at for at, kind in enumerate(kinds) if kind == "initial" and not server[at]), None
    )
    if first is None:
        return None, None
    # A retransmitted Initial leaves open which of them was answered.
    answer = next((at for at in range(first + 1, len(kinds)) if server[at]), None)
    if answer is None or any(not server[at] for at in range(first + 1, answer)):
        return None, None
    back = next((at for at in range(answer + 1, len(kinds)) if not server[at]), None)
    if back is None:
        return None, None
    return float(time[back] - time[first]), float(time[back] - time[answer])


def _spin(
    rows: _Datagrams, time: Reals, server: Flags, *, is_download: bool, handshake_s: float | None
) -> tuple[str, Reals]:
    """Behaviour of the spin bit, and the round trips between its edges.

    It is read in the direction of most packets, where an edge is seen soonest.
    """
    nothing = np.array([])
    has = np.isfinite(rows.spin) & (server == is_download)
    bits, at = rows.spin[has], time[has]
    if len(bits) < FEWEST_EDGES:
        return "few", nothing
    edges = np.flatnonzero(np.diff(bits) != 0) + 1
    if not len(edges):
        return "constant", nothing
    if len(edges) > RANDOM_SHARE * len(bits):
        return "random", nothing
    least = HASTY * handshake_s if handshake_s else 0.0
    kept = [float(at[edges[0]])]
    for edge in at[edges[1:]]:
        # A late packet of the previous phase makes two edges at once: skip it.
        if edge - kept[-1] >= least:
            kept.append(float(edge))
    if len(kept) < FEWEST_EDGES:
        return "few", nothing
    samples = np.diff(kept)
    return "used", samples[samples < MAX_EDGE_S]


def _delivery(came: Reals, carried: Reals) -> tuple[float, float]:
    """The rate of the busiest tenths of a second, and the mean of those with arrivals."""
    if len(came) < 2 or came[-1] - came[0] < WINDOW_S:
        return 0.0, 0.0
    windows = np.bincount(((came - came[0]) / WINDOW_S).astype(np.int64), carried)
    whole = windows[:-1] if len(windows) > 1 else windows
    busy = whole[whole > 0]
    per_s = 8.0 / WINDOW_S
    return per_s * float(np.quantile(busy, 0.95)), per_s * float(busy.mean())


def _silences(came: Reals, least: float) -> tuple[tuple[float, float], ...]:
    gaps = np.diff(came)
    places = np.flatnonzero(gaps > least)
    return tuple((float(came[at] - came[0]), float(gaps[at])) for at in places)


def _bursts(came: Reals) -> float | None:
    """Packets in a burst, in the median by packets."""
    if len(came) < 2:
        return None
    burst = np.cumsum(np.diff(came, prepend=came[0]) > TOGETHER_S)
    sizes = np.sort(np.bincount(burst))
    sizes = sizes[sizes > 0]
    whole = np.cumsum(sizes)
    median = float(sizes[np.searchsorted(whole, whole[-1] / 2)])
    return median if median >= 3 else None
