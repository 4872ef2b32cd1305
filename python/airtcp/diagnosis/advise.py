"""The capture to take next."""

from typing import TYPE_CHECKING

from airtcp.core.quantities import format_bit_rate

if TYPE_CHECKING:
    from airtcp.diagnosis.result import Diagnosis

SNAP_BYTES = 128
"""Room for Ethernet 14, a VLAN tag 4, IPv6 40 and TCP with all options 60."""
SECONDS = 60
PROBE_SECONDS = 20
OPEN_SHARE = 0.1
"""Minimum share of unexplained losses or time that can change an answer."""


def advice(interface: str = "any", host: str | None = None, port: int | None = None) -> list[str]:
    """Commands that take a diagnosable capture, and where to run them."""
    words = ["tcp"]
    if host:
        words.append(f"and host {host}")
    if port:
        words.append(f"and port {port}")
    return [
        "On the host that sends the data, before the slow transfer begins:",
        f"  tcpdump -i {interface} -s {SNAP_BYTES} -w slow.pcap '{' '.join(words)}'",
        f"Let the transfer run for {SECONDS} s or more, as fast as it can, then press Ctrl-C, and:",
        "  airtcp diagnose slow.pcap",
        "Begin the capture first, so that it holds the handshake: without it the window's scale "
        "and the options are not known.",
        "If only the receiver is yours, capture there with the same command: losses are still "
        "told, but queues and the sender's timer less well.",
        "If neither is, ping through the link for five minutes meanwhile:",
        "  ping -D -i 0.2 -c 1500 HOST > link.ping && airtcp diagnose link.ping",
    ]


def probes(found: "Diagnosis") -> list[str]:
    """Questions that a capture leaves open, each with a transfer that would answer it, and why."""
    facts, link = found.capture.facts, found.link
    if facts is None or link is None:
        if found.findings:
            return [found.headline, *found.findings[0].evidence]
        reasons = list(found.refusals) or ["The capture shows no link."]
        return [*reasons, *advice()]
    host = facts["receiver"].rsplit(":", 1)[0].strip("[]")
    lines: list[str] = []
    if link.rate.bounds is not None:
        low, high = link.rate.bounds
        lines += [
            f"The rate is open, from {format_bit_rate(low)} to {format_bit_rate(high)}: the link "
            "was hardly ever full. A sender that losses do not slow down fills it:",
            f"  iperf3 -c {host} -t {PROBE_SECONDS} -C bbr",
            "or, where there is no BBR, datagrams at the higher rate, whose receiver says what "
            "arrives (others on the link will notice):",
            f"  iperf3 -c {host} -t {PROBE_SECONDS} -u -b {high:.0f}",
            "and where you know the rate, --rate says it.",
        ]
    if link.rate.steps is not None or link.is_shared:
        lines += [
            "Whether the rate varies or others take of it is open. Capture once more while nobody "
            "else uses the link: what is left of the changes is the link's.",
        ]
    if not link.queue.is_known and link.drops.policer is None:
        lines += [
            "The end of the queue is open: it never overflowed. Several flows fill it:",
            f"  iperf3 -c {host} -t {PROBE_SECONDS} -P 4 -C cubic",
        ]
    losses = found.capture.tables.labels.loss
    named = losses[losses != ""]
    unsure = int((named == "queue-or-radio").sum())
    if unsure > OPEN_SHARE * len(named):
        lines += [
            f"Whether a queue or the radio lost {unsure} of {len(named)} packets is open. Send at "
            "half the rate, so that nothing queues: what is lost then is the radio's:",
            f"  iperf3 -c {host} -t 60 -b {link.bps / 2:.0f}",
        ]
    if len(link.stops.stops) == 1:
        lines.append(
            "How often the link stops is open: it stopped once. Capture ten minutes, or ping "
            "through it meanwhile: ping -D -i 0.2 -c 3000 HOST > link.ping"
        )
    if facts["shares"].get("application", 0.0) > OPEN_SHARE:
        lines += [
            "The application had nothing to send for "
            f"{100 * facts['shares']['application']:.0f} % of the time. A transfer without end "
            "shows the link:",
            f"  iperf3 -c {host} -t 60",
        ]
    if not lines:
        return ["This capture leaves nothing open that a transfer would show."]
    probes_head = (
        "Capture each (as `airtcp diagnose --advise` without a file says) and diagnose it. The far "
        f"end needs `iperf3 -s`; {host} is the receiver of this capture."
    )
    return [*lines, probes_head]
