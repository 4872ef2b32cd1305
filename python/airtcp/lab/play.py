"""Two sides on the same channel, streamed in stretches of virtual time."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.core.summary import FlowSummary, RunSummary, parse_summary
from airtcp.lab.describe import deployment
from airtcp.lab.requests import Play
from airtcp.lab.sources import CheckedScenario, Sources
from airtcp.lab.tables import columns_of, events_of

Send = Callable[[dict[str, Any]], object]
"""Sends one message to the page; raises when the page is gone."""

PROBES = ("cwnd", "srtt", "rto", "rtt", "goodput", "queue", "retransmitted", "mac_retries")

SAMPLES = 300
"""Samples per run: a point on every second or third pixel."""

MAX_WALL_S = 60.0
"""Maximum wall-clock time of a run; the rest is not computed."""

_STRETCH_WALL_S = 0.04
"""Target wall-clock time of a stretch: 25 pictures a second."""
_FIRST_STRETCH_S = 0.01
"""Virtual time of the first stretch, from which the others grow."""
_GROWTH = 6.0
_MAX_EVENTS = 4000
"""Maximum number of events sent per side; a page shows no more."""
_EVENTS = ("timeout", "spurious-timeout", "fast-retransmit", "queue-drop", "link-loss")
_COUNTS: tuple[str, ...] = (
    *("goodput_bps", "segments_sent", "segments_retransmitted", "timeouts"),
    *("timeouts_spurious", "fast_retransmits", "segments_dropped_queue", "segments_lost_link"),
    *("packets_on_air", "attempts_on_air", "min_rtt_ms", "rtt_p50_ms", "rtt_p95_ms"),
)


@dataclass
class Side:
    """One of the runs."""

    running: _core.Running
    flows: int
    events: int = 0
    time_s: float = 0.0
    finished: bool = False


def play(sources: Sources, request: Play, send: Send) -> None:
    """Runs both sides together and sends their progress.

    Messages: `begin`; `rows` with the columns of a side's stretch; `result` of a side; `stopped` if
    it took too long.

    Raises:
        ScenarioError: the link, a setting or a remedy is wrong.
        RunError: a run could not be finished.
    """
    chosen = [
        sources.scenario(request.source, request.settings, remedy) for remedy in request.sides
    ]
    _check_flow(chosen, request.flow)
    length_s = chosen[0].duration_s
    # Rounded down to whole microseconds, so that the last sample is not after the end.
    interval_s = max(1.0, math.floor(length_s / SAMPLES * 1e6)) / 1e6
    sides = [
        Side(
            _core.Running(
                one.scenario,
                request.seed,
                probes=PROBES,
                probe_interval_s=interval_s,
                events=True,
            ),
            one.flows,
        )
        for one in chosen
    ]
    send({"kind": "begin", "duration_s": length_s, "interval_s": interval_s})
    begun = time.monotonic()
    stretch_s = _FIRST_STRETCH_S
    while not all(side.finished for side in sides):
        before = time.monotonic()
        for number, side in enumerate(sides):
            _advance(side, number, side.time_s + stretch_s, request.flow, send)
        now = time.monotonic()
        stretch_s *= min(_GROWTH, max(1.0 / _GROWTH, _STRETCH_WALL_S / max(now - before, 1e-6)))
        if now - begun > MAX_WALL_S and not all(side.finished for side in sides):
            at_s = min(side.time_s for side in sides)
            send(
                {
                    "kind": "stopped",
                    "message": f"stopped at {at_s:.3g} s of {length_s:.3g} s: this link takes "
                    f"longer than {MAX_WALL_S:g} s to compute; choose a shorter duration",
                }
            )
            return
    for number, side in enumerate(sides):
        summary = parse_summary(side.running.finish().summary())
        send({"kind": "result", "side": number, **_result(summary, request, number, side)})


def _check_flow(chosen: list[CheckedScenario], flow: int) -> None:
    """Checks that the flow to draw exists.

    Raises:
        ScenarioError: it is not.
    """
    count = min(one.flows for one in chosen)
    if flow >= count:
        raise ScenarioError(f"flow = {flow}: expected one of the link's flows, 0 to {count - 1}")


def _advance(side: Side, number: int, until_s: float, flow: int, send: Send) -> None:
    """Advances one side and sends its new recordings."""
    if side.finished:
        return
    stretch = side.running.advance(until_s)
    side.time_s, side.finished = stretch.time_s, stretch.finished
    columns = columns_of(pl.DataFrame(stretch.samples()), flow, side.flows)
    events = events_of(pl.DataFrame(stretch.events()), flow, _EVENTS)
    room = max(0, _MAX_EVENTS - side.events)
    side.events += len(events)
    send(
        {
            "kind": "rows",
            "side": number,
            "time_s": side.time_s,
            "columns": columns,
            "events": events[:room],
        }
    )


def _result(summary: RunSummary, request: Play, number: int, side: Side) -> dict[str, object]:
    """The page's summary of a finished side."""
    flows = summary["flows"]
    chosen: FlowSummary = flows[request.flow]
    remedy = request.sides[number].strip()
    return {
        "flows": len(flows),
        "flow": chosen["flow"],
        "goodput_all_bps": summary["goodput_bps"],
        "fairness": summary["fairness"],
        "digest": summary["digest"],
        "engine_version": summary["engine_version"],
        "events_hidden": max(0, side.events - _MAX_EVENTS),
        "deployment": deployment(remedy),
        # Null if no probes ran under load.
        "under_load": summary["under_load"] if summary["under_load"]["added_bps"] else None,
        **{name: chosen[name] for name in _COUNTS},  # type: ignore[literal-required]
    }
