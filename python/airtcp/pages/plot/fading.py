"""Fading: the signal-to-noise ratio of the first flows' mobiles against time."""

import polars as pl
from matplotlib.figure import Figure

from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.style import LIGHT, REMEDY_COLOURS, house_style

_MAX_FLOWS = 3


def fading_figure(run: Observed) -> Figure:
    """One panel per flow, for the first three: SNR in dB, and its mean as a thin line.

    Raises:
        ValueError: the run has no samples of `snr`, or its scenario has no radio.
    """
    if "snr_db" not in run.samples.columns:
        raise ValueError('the run has no samples of snr: give probes=["snr"] to airtcp.run')
    samples = run.samples.drop_nulls("snr_db")
    if samples.is_empty():
        raise ValueError(
            'the scenario has no radio: give it a table [wlan.radio], or topology = "cell"'
        )
    flows = samples["flow"].unique().sort().to_list()[:_MAX_FLOWS]
    with house_style():
        figure = Figure(figsize=(10.0, 1.2 + 1.9 * len(flows)), layout="constrained")
        panels = figure.subplots(len(flows), 1, sharex=True, squeeze=False)[:, 0]
        for axes, flow, colour in zip(panels, flows, REMEDY_COLOURS, strict=False):
            one = samples.filter(pl.col("flow") == flow)
            axes.plot(one["time_s"], one["snr_db"], color=colour, linewidth=0.9)
            mean = one["snr_db"].mean()
            assert isinstance(mean, float)
            axes.axhline(mean, color=LIGHT.foreground, linewidth=0.8, linestyle=(0, (4, 3)))
            axes.set_title(f"flow {flow}: mean {mean:.1f} dB")
            axes.set_ylabel("SNR (dB)")
        panels[-1].set_xlabel("time (s)")
        panels[-1].set_xlim(0.0, run.summary["duration_s"])
    return figure
