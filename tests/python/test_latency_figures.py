"""Quantiles over seeds, against the values themselves; and the figures drawn from them."""

import numpy as np
import pytest

from airtcp.pages.latency import latency_rows, over_seeds
from airtcp.pages.plot.latency import LatencyBoxes, LatencyDistributions, Quantiles, RemedyLatency
from airtcp.pages.plot.svg import svg_of

PERCENT = [0.0, 1, 2.5, *range(5, 96, 5), 97.5, 99, 99.5, 99.9, 100]


def _run(values: np.ndarray) -> dict:
    quantiles = np.quantile(values, np.asarray(PERCENT) / 100, method="inverted_cdf")
    of_packets = list(map(float, quantiles))
    latency = {"percent": PERCENT, "rtt_ms": of_packets, "delay_ms": [], "delivery_ms": []}
    return {"latency": latency}


def test_runs_weigh_the_same_in_the_quantiles_over_seeds() -> None:
    """Against the quantiles of all values at once, of runs that are as long as one another."""
    random = np.random.default_rng(1)
    each = [random.lognormal(4 + place / 4, 0.3, 20_000) for place in range(5)]
    found = over_seeds([_run(values) for values in each], "rtt_ms")
    assert found is not None
    for percent in (5, 25, 50, 75, 95, 99):
        exact = float(np.quantile(np.concatenate(each), percent / 100))
        assert found.at(percent) == pytest.approx(exact, rel=0.02), percent


def test_a_constant_stays_constant_and_nothing_stays_nothing() -> None:
    found = over_seeds([_run(np.full(9, 50.0)), _run(np.full(3, 50.0))], "rtt_ms")
    assert found is not None
    assert set(found.ms) == {50.0}
    two = over_seeds([_run(np.full(9, 50.0)), _run(np.full(3, 400.0))], "rtt_ms")
    assert two is not None
    assert (two.at(25), two.at(75)) == (50.0, 400.0)
    assert over_seeds([_run(np.full(9, 50.0))], "delivery_ms") is None
    # A run of an engine that did not measure.
    assert over_seeds([{}], "rtt_ms") is None


@pytest.mark.parametrize("drawing", [LatencyDistributions, LatencyBoxes])
@pytest.mark.parametrize("longest", [100.0, 30_000.0])
def test_every_remedy_is_named_in_a_figure(drawing: type, longest: float) -> None:
    known = Quantiles((0.0, 50.0, 100.0), (20.0, 50.0, longest))
    remedies = (RemedyLatency("baseline", known, known), RemedyLatency("bbr", known, None))
    figure = drawing(remedies).figure()
    words = {text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text"))}
    assert {"baseline", "bbr"} <= words
    assert any("(ms)" in text for text in words)
    assert "<svg" in svg_of(figure, "latency")
    long = "+".join(["rto-factor:factor=7"] * 20)
    for figure in (every := drawing((RemedyLatency(long, known, known),))).figure(), every.narrow():
        assert "…" in svg_of(figure, "latency")
    rows = latency_rows(remedies).rows
    assert rows[3] == ("bbr", "delivery", *["none"] * 6)
