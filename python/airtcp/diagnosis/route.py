"""A report of a route, hop by hop, such as mtr's: where probes are lost.

Routers answer probes with what time is left, and many limit their answers: a hop loses traffic only
if the hops after it lose as much. So the least loss of a hop and of all after it is its path's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_count, format_percent
from airtcp.core.recordings.recording import Hop, read_recording
from airtcp.diagnosis.finding import span_words
from airtcp.diagnosis.radio import RADIO_ADVICE

BEGINS = 0.5
"""Share of the whole loss from which on a hop's path has it."""
LIMITED = 0.05
"""Minimum loss of a hop that is explained on a path without losses."""
VARIES_S = 0.05
"""Minimum difference of the worst and the least round trip of the first hop that is reported: a
cable's differ by milliseconds.
"""


@dataclass(frozen=True)
class Route:
    """The hops to a host that answered, the nearest first."""

    hops: tuple[Hop, ...]

    @property
    def last(self) -> Hop:
        """The host."""
        return self.hops[-1]

    @property
    def path_losses(self) -> list[float]:
        """The share that is lost on the way to each hop, at most."""
        answering = [one.loss if one.loss < 1.0 else self.last.loss for one in self.hops]
        return [*accumulate(reversed(answering), min)][::-1]

    @property
    def begins(self) -> int | None:
        """The place of the first hop with the path's loss; None if nothing is lost."""
        whole = self.last.loss
        if round(whole * self.last.sent) < 1:
            return None
        losses = self.path_losses
        return next(at for at, loss in enumerate(losses) if loss >= BEGINS * whole)

    @property
    def limited(self) -> list[int]:
        """Places of hops that answer more seldom than their path loses."""
        pairs = enumerate(zip(self.hops, self.path_losses, strict=True))
        return [at for at, (hop, path) in pairs if hop.loss - path >= LIMITED and hop.loss < 1.0]

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        count = format_count(self.last.sent)
        begins = self.begins
        if begins is None:
            answered = f"Nothing is lost on the way: {self.last.host} answers all {count} probes"
            return f"{answered}{self._of_limited}."
        lost = round(self.last.loss * self.last.sent)
        share = format_percent(100 * self.last.loss)
        whole = f"{share} of the probes to {self.last.host} are lost ({lost} of {count})"
        limited = self.limited
        seen = next(
            at
            for at in range(begins, len(self.hops))
            if self.hops[at].loss < 1.0 and at not in limited
        )
        if seen > begins:
            # Those in between answer too seldom to show it.
            after = f"between hop {begins} and" if begins else "before"
            where = f"{after} hop {seen + 1} ({self.hops[seen].host})"
        elif begins == 0:
            where = "already on the way to hop 1: your own network, Wi-Fi or cable"
        elif begins == len(self.hops) - 1:
            where = "at the last hop only: the link before it, or a host that answers seldom"
        else:
            host = self.hops[begins].host
            where = f"from hop {begins + 1} ({host}) on: that router, or the link before it"
        return f"{whole}, {where}."

    @property
    def _of_limited(self) -> str:
        """The routers that answer seldom, as the end of a sentence."""
        places = [str(at + 1) for at in self.limited]
        if not places:
            return ""
        most = format_percent(100 * max(self.hops[at].loss for at in self.limited), decimals=0)
        if len(places) == 1:
            return f", and hop {places[0]} ({most} loss) is a router that answers probes seldom"
        named = f"{', '.join(places[:-1])} and {places[-1]}"
        return f", and hops {named} (up to {most} loss) are routers that answer probes seldom"

    @property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline]
        near = self.hops[0]
        if self.begins == 0:
            lines.append(RADIO_ADVICE)
        elif self.begins is not None and self._of_limited:
            lines.append(f"{self._of_limited.removeprefix(', and ').capitalize()}.")
        least_s, worst_s = near.least_s or 0.0, near.worst_s or 0.0
        if worst_s - least_s >= VARIES_S:
            lines.append(
                f"The round trip to hop 1 ({near.host}) is {span_words(least_s)} at least and "
                f"{span_words(worst_s)} at most: a radio or a queue in your network."
            )
        lines.append(
            "Each hop is probed by itself, and a report has no single probe: no remedy is ranked. "
            "For stops and bursts: ping -D -i 0.2 -c 1500 HOST > link.ping."
        )
        return lines


def route_of(path: Path) -> Route | None:
    """The route in a report; None in another file: the reader of its kind names its faults."""
    try:
        hops: Sequence[Hop] = read_recording(path).hops
    except ScenarioError:
        return None
    return Route(tuple(hops)) if hops else None
