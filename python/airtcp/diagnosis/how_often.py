"""How often and for how long events of a log happen, in words."""

import numpy as np

from airtcp.core.quantities import format_count
from airtcp.core.recordings.events import Spans
from airtcp.core.recordings.log import PingLog
from airtcp.diagnosis.finding import span_words
from airtcp.diagnosis.period import Period


def how_often(spans: Spans, log: PingLog, regular: Period | None) -> str:
    """Frequency of events in words: "every 34 s", "twice in 3 minutes"."""
    if regular is not None:
        return f"every {span_words(regular.every_s)}"
    if len(spans) == 1:
        start_s = float(spans.start_s[0])
        if start_s < log.interval_s:
            return "once, at the beginning"
        return f"once, {span_words(start_s)} after the beginning"
    times = {2: "twice"}.get(len(spans), f"{format_count(len(spans))} times")
    return f"{times} in {span_words(log.duration_s)}"


def how_long(spans: Spans) -> str:
    """Length of events in words: "2 s" for one, "2 s at a time" for several."""
    length = span_words(float(np.median(spans.length_s)))
    return length if len(spans) == 1 else f"{length} at a time"
