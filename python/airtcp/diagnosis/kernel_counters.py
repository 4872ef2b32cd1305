"""A kernel's counters of TCP: the output of `nstat` or `netstat -s`.

They count segments of all connections since the machine started, or since the last `nstat`. Linux
counts a retransmission in RetransSegs and not in OutSegs (tcp_output.c, __tcp_transmit_skb and
__tcp_retransmit_skb), and a pure acknowledgment in OutSegs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_count, format_percent

FEWEST_SEGMENTS = 1000
"""Minimum number of segments for a share of retransmissions."""
MANY = 0.01
"""Share of retransmissions from which on TCP is slower on most paths."""
FEWEST_TIMEOUTS = 10
"""Minimum number of timeouts for a share of spurious ones."""
_NSTAT = re.compile(r"^(Tcp(?:Ext)?[A-Za-z0-9]+)\s+(\d+)\s+[\d.]+\s*$", re.MULTILINE)
_WORDS = {
    "TcpOutSegs": (r"(\d+) segments sent out", r"Segments Sent\s*=\s*(\d+)"),
    "TcpRetransSegs": (
        r"(\d+) segments retransmit+ed",
        r"Segments Retransmitted\s*=\s*(\d+)",
    ),
    "TcpExtTCPTimeouts": (r"TCPTimeouts: (\d+)", r"(\d+) other TCP timeouts"),
    "TcpExtTCPSpuriousRTOs": (r"TCPSpuriousRTOs: (\d+)",),
    "TcpExtTCPDSACKRecv": (r"TCPDSACKRecv: (\d+)", r"(\d+) DSACKs received"),
    "TcpExtTCPLossProbes": (r"TCPLossProbes: (\d+)",),
}
"""For nstat's name of a counter, the lines of `netstat -s`: net-tools' of several versions, with
their spelling, and Windows'."""
_BEGINS = re.compile(
    r"#kernel\b|(?:Ip|Icmp|Tcp|TcpExt|IpExt|Udp):\s|.*Statistics for IPv[46]", re.S
)


@dataclass(frozen=True)
class KernelCounters:
    """Counters of all connections of a machine; None if they are not in the output."""

    sent: int
    """Segments sent for the first time, pure acknowledgments among them."""
    retransmitted: int
    timeouts: int | None
    spurious: int | None
    """Timeouts that the kernel undid, since an acknowledgment of the original came (F-RTO or
    Eifel)."""
    duplicates_reported: int | None
    """Duplicate arrivals that receivers reported (D-SACK)."""
    probes: int | None
    """Loss probes (RFC 8985 §7), which repeat a segment, too."""

    @property
    def share(self) -> float:
        """Share of retransmissions in all segments sent, 0 to 1."""
        return self.retransmitted / max(self.sent + self.retransmitted, 1)

    @property
    def needless(self) -> float | None:
        """Share of the retransmissions that receivers had already, at least; None if not known."""
        if self.duplicates_reported is None or self.retransmitted < FEWEST_TIMEOUTS:
            return None
        return min(self.duplicates_reported / self.retransmitted, 1.0)

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        if self.sent + self.retransmitted < FEWEST_SEGMENTS:
            return "Too few segments were sent to judge: read the counters after a transfer."
        share = format_percent(100 * self.share, decimals=2)
        if self.share < MANY:
            return f"{share} of the segments sent were retransmissions: few, over all connections."
        return (
            f"{share} of the segments sent were retransmissions, over all connections of this "
            "machine: packets are lost, or repeated although they arrived."
        )

    @property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline]
        lines.append(
            f"{format_count(self.retransmitted)} retransmissions beside {format_count(self.sent)} "
            "segments sent once; pure acknowledgments count among these, so of the data the share "
            "is larger."
        )
        timeouts, spurious = self.timeouts, self.spurious
        if timeouts is not None and spurious is not None and timeouts >= FEWEST_TIMEOUTS:
            part = format_percent(100 * min(spurious / timeouts, 1.0), decimals=0)
            words = (
                "the timer expired although nothing was lost, as delay spikes of a radio do it"
                if spurious > timeouts / 10
                else "most timeouts were needed"
            )
            lines.append(
                f"Of {format_count(timeouts)} timeouts {format_count(spurious)} ({part}) were "
                f"found spurious by the kernel: {words}."
            )
        needless = self.needless
        if needless is not None:
            lines.append(
                f"Receivers reported {format_count(self.duplicates_reported or 0)} duplicates "
                f"(D-SACK), {format_percent(100 * needless, decimals=0)} of the retransmissions: "
                "these were needless"
                + (
                    f", up to {format_count(self.probes)} loss probes among them."
                    if self.probes
                    else "."
                )
            )
        lines.append(
            "The counters run since the machine started, and mix all its paths, local ones too. "
            "For one transfer: `nstat -n; TRANSFER; nstat > tcp.txt`. No remedy is ranked from "
            "them: capture the transfer (`airtcp diagnose --advise`)."
        )
        return lines


def is_kernel_counters(text: str) -> bool:
    """Whether a text begins like the output of `nstat` or `netstat -s`."""
    return _BEGINS.match(text.lstrip()) is not None


def parsed(text: str, source: str) -> KernelCounters:
    """The counters in an output.

    Raises:
        ScenarioError: the segments sent are not among them.
    """
    found = {name: int(value) for name, value in _NSTAT.findall(text)} or _in_words(text)
    if "TcpOutSegs" not in found:
        raise ScenarioError(
            f"{source}: the counters lack the segments that TCP sent: expected all of `nstat -az` "
            "or `netstat -s`"
        )
    return KernelCounters(
        found["TcpOutSegs"],
        found.get("TcpRetransSegs", 0),
        found.get("TcpExtTCPTimeouts"),
        found.get("TcpExtTCPSpuriousRTOs"),
        found.get("TcpExtTCPDSACKRecv"),
        found.get("TcpExtTCPLossProbes"),
    )


def _in_words(text: str) -> Mapping[str, int]:
    """Windows counts IPv4 and IPv6 apart: the sums."""
    found = {}
    for name, patterns in _WORDS.items():
        values = [int(value) for pattern in patterns for value in re.findall(pattern, text)]
        if values:
            found[name] = sum(values)
    return found
