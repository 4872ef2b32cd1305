"""The pings of a phase as a log: the idle link over time."""

from airtcp.measure.phase import Phase


def csv_of(phase: Phase) -> str:
    """The pings as CSV, for `airtcp diagnose` and `airtcp demo --link`.

    Columns are `time_s` since the first ping and `rtt_ms`, which is empty without an answer.
    """
    rows = (
        f"{left_s:.6f},{'' if rtt_ms is None else f'{rtt_ms:.3f}'}"
        for left_s, rtt_ms in phase.probes
    )
    return "\n".join(("time_s,rtt_ms", *rows, ""))
