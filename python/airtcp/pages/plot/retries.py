"""Dynamic ARQ: packets queued at the access point, for their first and further attempts."""

import polars as pl
from matplotlib.figure import Figure

from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.style import BLUE, ORANGE, SKY_BLUE, VERMILLION, house_style

_RETRIES = {
    "retry_queue_1_packets": ("failed once (Q1)", SKY_BLUE),
    "retry_queue_2_packets": ("failed twice (Q2)", ORANGE),
    "retry_queue_3_packets": ("failed three times (Q3)", VERMILLION),
}


def retries_figure(run: Observed) -> Figure:
    """Above, all queued packets; below, the three queues of Mahmoodi et al. §III-A.

    Raises:
        ValueError: the run has no samples of the queues, or they were always empty.
    """
    columns = ["queue_packets", *_RETRIES]
    if missing := [name for name in columns if name not in run.samples.columns]:
        raise ValueError(
            f"the run has no samples of {', '.join(missing)}: "
            'give probes=PICTURES["retries"].probes to airtcp.run'
        )
    # All flows share the access point's queue: one of them shows it.
    samples = run.samples.filter(pl.col("flow") == run.samples["flow"].min())
    if samples.select(pl.sum_horizontal(pl.col(list(_RETRIES)).sum())).item() == 0:
        raise ValueError(
            "nothing waited for another turn: give the remedy dynamic-arq, and a link that damages "
            'frames on their way to the mobile (flows.direction = "down")'
        )
    with house_style():
        figure = Figure(figsize=(10.0, 5.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        time_s = samples["time_s"]
        above.fill_between(
            time_s, samples["queue_packets"], step="post", color=BLUE, alpha=0.75, linewidth=0
        )
        above.set_ylabel("packets that wait")
        above.set_ylim(bottom=0)
        below.stackplot(
            time_s,
            *(samples[name] for name in _RETRIES),
            step="post",
            labels=[label for label, _ in _RETRIES.values()],
            colors=[colour for _, colour in _RETRIES.values()],
            linewidth=0,
        )
        below.set_ylabel("of these, to be retransmitted")
        below.set_ylim(bottom=0)
        below.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
        below.set_xlabel("time (s)")
        below.set_xlim(0.0, run.summary["duration_s"])
        figure.align_ylabels([above, below])
    return figure
