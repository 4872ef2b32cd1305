"""Every finding of a capture, in order of precedence."""

from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.findings.buffer import send_buffer
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.gone import peer_gone
from airtcp.diagnosis.findings.mtu import mtu_hole
from airtcp.diagnosis.findings.other_way import other_way
from airtcp.diagnosis.findings.receiver_side import receiver_side
from airtcp.diagnosis.findings.shaper import shaper
from airtcp.diagnosis.findings.sleep import power_save
from airtcp.diagnosis.findings.slow_return import slow_return
from airtcp.diagnosis.findings.window import receiver_window
from airtcp.diagnosis.findings.writes import small_writes
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed


def before_the_fit(capture: Capture) -> tuple[CaptureFinding, ...]:
    """Causes that need no fitted link: undelivered packets, and limits at the ends."""
    hole = mtu_hole(capture)
    found = (
        hole,
        # On a path that swallows packets the peer seems gone.
        None if hole else peer_gone(capture),
        small_writes(capture),
        power_save(capture),
        receiver_side(capture),
    )
    return tuple(one for one in found if one is not None)


def beside_the_fit(
    capture: Capture,
    flow: Observed,
    link: FittedLink,
    waits: Latency,
    socket: Connection | None,
) -> tuple[CaptureFinding, ...]:
    """Causes that need the fitted link."""
    found = (
        receiver_window(capture, flow),
        shaper(capture, flow, link) or send_buffer(capture, flow, link, socket),
        other_way(capture, flow, waits) or slow_return(capture, flow, waits),
    )
    return tuple(one for one in found if one is not None)
