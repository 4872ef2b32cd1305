"""The sender's stack: named by its socket or by the user, otherwise a candidate that fits."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from airtcp._core import ScenarioError
from airtcp.diagnosis.acking import USUAL
from airtcp.diagnosis.capture import Capture, Facts
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.drops import drops_of
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import Stack
from airtcp.diagnosis.sockets import Sockets, of_ends

PROFILES = ("linux", "linux-reno", "linux-bbr")
"""Candidate stacks of the sender; a capture does not name it."""
CONTROLS: Mapping[str | None, str] = dict(zip(("cubic", "reno", "bbr"), PROFILES, strict=True))
"""Their congestion controls, as sockets name them."""
WINDOW_SHARE = 0.1
"""Minimum share of the time limited by the receiver's window, for it to be part of the fit."""


def control_of(socket: Connection | None, sender: str | None) -> str | None:
    """The congestion control, if the user or the socket names it.

    Raises:
        ScenarioError: the user names one that airtcp cannot simulate.
    """
    if sender is None:
        return None if socket is None else socket.control
    if sender not in CONTROLS:
        known = ", ".join(str(one) for one in CONTROLS)
        raise ScenarioError(f"--sender {sender}: expected the congestion control in use: {known}")
    return sender


def in_use(stacks: Iterable[Stack]) -> list[str]:
    """The congestion controls of the senders, which need no deployment."""
    profiles = {one.profile for one in stacks}
    return [str(control) for control, profile in CONTROLS.items() if profile in profiles]


def sender_words(socket: Connection | None, stacks: Sequence[Stack]) -> list[str]:
    """The known facts on the congestion control, and their consequence."""
    if socket is not None and socket.control is not None:
        if socket.control not in CONTROLS:
            return [
                f"Its socket names the congestion control {socket.control}, which airtcp does not "
                "play: the nearest of those that it has was used in its place."
            ]
        return [f"Its socket names the congestion control {socket.control}: no other was tried."]
    names = in_use(stacks)
    if len(names) < 2:
        return []
    return [
        f"The sender may use {' or '.join(names)}: each explains the capture, none of them is "
        "recommended, and a remedy has to help with each. `ss -ti` of the sender, given beside the "
        "capture, or --sender names it."
    ]


def socket_of(facts: Facts | None, sockets: Sockets | None) -> Connection | None:
    """The sender's socket among those given.

    Raises:
        ScenarioError: no socket has the flow's ends.
    """
    if facts is None or sockets is None:
        return None
    found = of_ends(sockets, facts["sender"], facts["receiver"])
    if found is None:
        raise ScenarioError(
            f"{sockets.source}: has no connection from {facts['sender']} to {facts['receiver']}: "
            "expected `ss -ti` of the machine that sends, taken while the transfer is under way"
        )
    return found


def stacks_of(capture: Capture, flow: Observed, control: str | None) -> list[Stack]:
    """Candidates for the sender; its congestion control is not on the wire."""
    facts = capture.facts
    assert facts is not None
    windows = capture.tables.acks.windows
    window = int(windows.max()) if len(windows) else 0
    limited = facts["shares"]["receiver_window"] > WINDOW_SHARE
    # A window of zero throughout is not a buffer size: nothing would have been sent.
    buffer = window if limited and window > 0 else None
    mss = int(np.quantile(flow.payload, 0.9))
    marks = drops_of(facts["queues"]).marks
    segments = facts["acking"].segments
    habit = None if segments == USUAL else segments
    return [
        Stack(profile, mss, facts["sack"], facts["timestamps"], buffer, habit, marks)
        for profile in _profiles(control)
    ]


def _profiles(control: str | None) -> tuple[str, ...]:
    return PROFILES if control not in CONTROLS else (CONTROLS[control],)
