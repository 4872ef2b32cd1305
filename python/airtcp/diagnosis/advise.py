"""The capture to take next."""

SNAP_BYTES = 128
"""Ethernet 14, a VLAN tag 4, IPv6 40 and TCP with all options 60 fit in."""
SECONDS = 60


def advice(interface: str = "any", host: str | None = None, port: int | None = None) -> list[str]:
    """Commands that take a capture which can be diagnosed, and how to get it."""
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
