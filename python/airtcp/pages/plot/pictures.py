"""The pictures of one run, by name: their requirements on the run, and their functions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airtcp.pages.plot import TIMELINE_PROBES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.pages.plot.observed import Observed


@dataclass(frozen=True)
class Picture:
    """A kind of picture."""

    meaning: str
    """Its content, in one line."""
    probes: tuple[str, ...]
    """Probes that the run has to sample."""
    air: bool
    """Whether the run has to keep the tables of frames and agents."""
    draw: Callable[["Observed"], "Figure"]
    """Draws it.

    Raises:
        ValueError: the run lacks the content of the picture.
    """


def _timeline(run: "Observed") -> "Figure":
    from airtcp.pages.plot.timeline import Timelines, timeline

    return Timelines((timeline(run.title, run),)).figure()


def _channel(run: "Observed") -> "Figure":
    from airtcp.pages.plot.channel import channel_figure

    return channel_figure(run)


def _fading(run: "Observed") -> "Figure":
    from airtcp.pages.plot.fading import fading_figure

    return fading_figure(run)


def _injection(run: "Observed") -> "Figure":
    from airtcp.pages.plot.injection import injection_figure

    return injection_figure(run)


def _retries(run: "Observed") -> "Figure":
    from airtcp.pages.plot.retries import retries_figure

    return retries_figure(run)


PICTURES = {
    "timeline": Picture(
        "window, timers and goodput of the first flow", TIMELINE_PROBES, air=False, draw=_timeline
    ),
    "channel": Picture(
        "who sends on the channel and when, collisions and repeats", (), air=True, draw=_channel
    ),
    "fading": Picture("signal-to-noise ratio against time", ("snr",), air=False, draw=_fading),
    "injection": Picture(
        "path delay, threshold and injected delay (delay-injection)", (), air=True, draw=_injection
    ),
    "retries": Picture(
        "the access point's retry queues (dynamic-arq)",
        ("queue", "retry_queue_1", "retry_queue_2", "retry_queue_3"),
        air=False,
        draw=_retries,
    ),
}
"""The kinds of pictures that `airtcp run --picture` draws."""
