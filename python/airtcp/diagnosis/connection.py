"""One connection by the kernel's counters (`struct tcp_info`), in sentences."""

from dataclasses import dataclass

from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent

LIMITED_SHARE = 0.1
"""Minimum share of the connection's time for a limit to be named."""
MOSTLY = 0.5
"""Minimum share of the time for the limit that dominates, regardless of the network."""
FEWEST_NEEDLESS = 10
"""Minimum number of needless retransmissions that shows a property of the path."""
WAITING_S = 0.1
WAITING_RATIO = 2.0
"""Minimum excess in seconds, and minimum ratio, of the smoothed over the minimum RTT for
queueing.
"""


@dataclass(frozen=True)
class Connection:
    """One connection's counters; None if its kernel does not print them."""

    local: str
    peer: str
    control: str | None
    """The congestion control."""
    rtt_s: float | None
    """The smoothed round trip."""
    least_rtt_s: float | None
    sent_bytes: int
    """Payload sent, retransmissions included."""
    received_bytes: int
    resent_bytes: int
    needless: int | None
    """Segments that the receiver reported as duplicates (D-SACK)."""
    segments: int
    """Data segments sent, or an upper bound of them."""
    resent: int
    """Retransmitted segments."""
    reordering: int | None
    """Number of times that the sender detected reordering."""
    delivery_bps: float | None
    """The last sample of the delivery rate."""
    busy_s: float | None
    """Time in which data was in flight or waited to be sent."""
    receiver_s: float
    """Part of it in which the receiver's window was the limit."""
    buffer_s: float
    """Part of it in which the send buffer was the limit."""
    is_application_limited: bool
    """Whether the last delivery rate was limited by the application rather than the path."""
    cwnd: int | None
    """The congestion window, in segments."""
    is_bound: bool = False
    """Whether `segments` includes segments without data, as in kernels before 4.6."""
    is_cut: bool = False
    """Whether its counters end before the retransmissions, as in a terminal's or pager's copy."""

    @property
    def resent_share(self) -> float:
        """Share of the segments that were retransmitted."""
        return self.resent / self.segments if self.segments else 0.0

    @property
    def receiver_share(self) -> float:
        """Share of its busy time in which the receiver's window was the limit."""
        return self.receiver_s / self.busy_s if self.busy_s else 0.0

    @property
    def buffer_share(self) -> float:
        """Share of its busy time in which the send buffer was the limit."""
        return self.buffer_s / self.busy_s if self.busy_s else 0.0

    @property
    def is_reordered(self) -> bool:
        """Whether most retransmitted segments had arrived: packets are reordered, or late."""
        needless = self.needless or 0
        return needless >= FEWEST_NEEDLESS and needless > MOSTLY * self.resent

    @property
    def waiting_s(self) -> float:
        """Time that its data waits on the way, by the smoothed round trip; 0 if hardly any."""
        if self.rtt_s is None or self.least_rtt_s is None or not self.sent_bytes:
            return 0.0
        waits = self.rtt_s - self.least_rtt_s
        is_long = waits >= WAITING_S and self.rtt_s >= WAITING_RATIO * self.least_rtt_s
        return waits if is_long else 0.0

    @property
    def limit(self) -> str | None:
        """The first sentence if one end is the limit most of the time; otherwise None."""
        if self.busy_s is None or max(self.receiver_share, self.buffer_share) <= MOSTLY:
            return None
        rate = "" if self.delivery_bps is None else f" at {format_bit_rate(self.delivery_bps)}"
        ends = f"{self.local} to {self.peer}"
        if self.receiver_share >= self.buffer_share:
            share = format_percent(100 * self.receiver_share)
            return (
                f"{ends}: the receiver's window holds it back{rate} for {share} of the time. A "
                "larger receive buffer is the remedy (at the receiver: net.ipv4.tcp_rmem, or "
                "SO_RCVBUF left unset), or an application there that reads sooner."
            )
        share = format_percent(100 * self.buffer_share)
        return (
            f"{ends}: its own send buffer holds it back{rate} for {share} of the time. A larger "
            "send buffer is the remedy (at the sender: net.ipv4.tcp_wmem, or SO_SNDBUF left unset)."
        )

    @property
    def waiting_headline(self) -> str:
        """The first sentence on a queue, for a connection with data in one."""
        share = format_percent(100 * self.resent_share, decimals=2)
        losses = f"; {share} of its segments were retransmitted" if self.resent_share else ""
        waits, now = 1e3 * self.waiting_s, 1e3 * (self.rtt_s or 0.0)
        return (
            f"{self.local} to {self.peer}: its data waits {waits:.0f} ms in a queue of the path or "
            f"at the receiver (smoothed round trip {now:.0f} ms, minimum {now - waits:.0f} "
            f"ms){losses}."
        )

    @property
    def repairs_headline(self) -> str:
        """The first sentence on retransmissions, for a connection that has some."""
        ends = f"{self.local} to {self.peer}"
        count = format_count(self.resent)
        if self.is_reordered:
            needless = format_count(self.needless or 0)
            order = "packets are reordered" if self.reordering else "they came late"
            return (
                f"{ends}: {needless} of its {count} retransmissions were needless by D-SACK: "
                f"{order}. {format_count(self.resent - (self.needless or 0))} were needed."
            )
        share = format_percent(100 * self.resent_share, decimals=2)
        if self.is_bound:
            return (
                f"{ends}: {count} of at most {format_count(self.segments)} segments were "
                f"retransmitted (at least {share})."
            )
        return f"{ends}: {share} of its segments were retransmitted."

    @property
    def cut_headline(self) -> str:
        """The first sentence on a connection with incomplete counters."""
        return (
            f"{self.local} to {self.peer}: its counters are cut off in front of those of "
            "retransmissions (retrans, rcv_space), which may be any number: give whole lines, "
            "`ss -tin > FILE`."
        )

    @property
    def sentences(self) -> list[str]:
        """Exactly the facts that the counters show."""
        if self.is_cut:
            return [self.cut_headline]
        lines = [self._head(), self._repairs()]
        lines += [text for text in (self._limit(), self._wait()) if text]
        return lines

    def _head(self) -> str:
        control = "an unnamed congestion control" if self.control is None else self.control
        rate = ""
        if self.delivery_bps is not None:
            limit = ", limited by its application" if self.is_application_limited else ""
            rate = f", last delivery rate {format_bit_rate(self.delivery_bps)}{limit}"
        return (
            f"{self.local} to {self.peer}: {control}, {format_bytes(self.sent_bytes)} sent and "
            f"{format_bytes(self.received_bytes)} received{rate}."
        )

    def _repairs(self) -> str:
        if not self.sent_bytes and not self.segments:
            return "It sent no data: the counters of the other end show the limits of a download."
        if not self.resent:
            return "Nothing was retransmitted."
        if not self.segments:
            return (
                f"{format_count(self.resent)} segments were retransmitted; this kernel does not "
                "count how many were sent."
            )
        share = format_percent(100 * self.resent_share, decimals=2)
        needless = ""
        if self.needless:
            needless = f", {format_count(self.needless)} of them needless by D-SACK"
        order = ""
        if self.reordering:
            order = f"; packets were reordered {format_count(self.reordering)} times"
        least = " or more" if self.is_bound else ""
        most = "at most " if self.is_bound else ""
        return (
            f"{format_count(self.resent)} of {most}{format_count(self.segments)} segments were "
            f"retransmitted ({share}{least}){needless}{order}. Counters cannot tell whether a "
            "queue or the radio lost them: a capture can."
        )

    def _limit(self) -> str:
        if not self.sent_bytes and not self.segments:
            return ""
        if self.busy_s is None:
            return "This kernel has no counters of the limits (sndbuf_limited, rwnd_limited)."
        held = []
        for who, seconds in (
            ("the receiver's window", self.receiver_s),
            ("its own send buffer", self.buffer_s),
        ):
            if self.busy_s > 0 and seconds > LIMITED_SHARE * self.busy_s:
                held.append(
                    f"{who} held it back for {format_percent(100 * seconds / self.busy_s)} of that"
                )
        network = "" if held else ", and neither its receiver nor its send buffer held it back much"
        return (
            f"It had data to send for {self.busy_s:.1f} s"
            f"{': ' if held else network}{' and '.join(held)}."
        )

    def _wait(self) -> str:
        if self.rtt_s is None or self.least_rtt_s is None:
            return ""
        least, now = 1e3 * self.least_rtt_s, 1e3 * self.rtt_s
        if not self.waiting_s:
            return f"Its smoothed round trip is {now:.0f} ms, the minimum {least:.0f} ms."
        return (
            f"Latency: its smoothed round trip is {now:.0f} ms, the minimum {least:.0f} ms: data "
            "waits in a queue of the path or at the receiver."
        )
