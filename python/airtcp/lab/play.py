"""Two sides on the same channel, streamed in stretches of virtual time."""

import time
from collections.abc import Callable

import msgspec

from airtcp import _core
from airtcp.lab.requests import Play
from airtcp.lab.sources import Sources

Send = Callable[[object], object]
"""Sends one message to the page; raises when the page is gone."""

MAX_WALL_S = 60.0
"""Maximum wall-clock time of a run; the rest is not computed."""


def play(sources: Sources, request: Play, send: Send) -> None:
    """Runs both sides together and sends their progress.

    Messages: `begin`; `rows` with the columns of a side's stretch; `result` of a side; `stopped` if
    it took too long.

    Raises:
        ScenarioError: the link, a setting or a remedy is wrong.
        RunError: a run could not be finished.
    """

    def chosen(remedy: str) -> _core.Scenario:
        return sources.scenario(request.source, request.settings, remedy).scenario

    sides = [(chosen(remedy), remedy) for remedy in request.sides]
    running = _core.LabPlay(sides, request.seed, request.flow)
    _send_all(send, [running.begin()])
    begun = time.monotonic()
    took_s = None
    while not running.finished:
        before = time.monotonic()
        _send_all(send, running.advance(took_s))
        now = time.monotonic()
        took_s = now - before
        if now - begun > MAX_WALL_S and not running.finished:
            at_s, length_s = running.progress
            send(
                {
                    "kind": "stopped",
                    "message": f"stopped at {at_s:.3g} s of {length_s:.3g} s: this link takes "
                    f"longer than {MAX_WALL_S:g} s to compute; choose a shorter duration",
                }
            )
            return
    _send_all(send, running.finish())


def _send_all(send: Send, messages: list[str]) -> None:
    for message in messages:
        send(msgspec.Raw(message.encode()))
