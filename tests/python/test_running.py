"""Runs in stretches of virtual time, as Python has them."""

import polars as pl
import pytest

import airtcp
from airtcp import _core

WANTED = {"probes": ["cwnd", "retransmitted"], "probe_interval_s": 0.05, "events": True}


def test_stretches_put_together_are_the_run(lossy: str) -> None:
    scenario = airtcp.load_scenario(lossy)
    whole = airtcp.run(scenario, 4, packets=True, **WANTED)  # type: ignore[arg-type]
    running = _core.Running(scenario, 4, packets=True, **WANTED)  # type: ignore[arg-type]
    stretches = []
    while not stretches or not stretches[-1].finished:
        stretches.append(running.advance(1.3 * (len(stretches) + 1)))
    assert stretches[-1].time_s == 10.0
    for name in ("samples", "events", "packets"):
        parts = [pl.DataFrame(getattr(stretch, name)()) for stretch in stretches]
        assert pl.concat(parts).equals(getattr(whole, name)), name
    result = running.finish()
    assert result.summary() == whole.result.summary()
    assert pl.DataFrame(result.samples()).is_empty()


def test_segments_are_those_of_the_sender(lossy: str) -> None:
    run = airtcp.run(lossy, 2, packets=True)
    flow = run.summary["flows"][0]
    data = run.packets.filter(pl.col("is_data"), pl.col("bytes") > 0)
    assert len(data) == flow["segments_sent"]
    assert data["is_retransmission"].sum() == flow["segments_retransmitted"]
    # Every byte that was delivered was sent for the first time once.
    first = data.filter(~pl.col("is_retransmission"))
    assert (first["offset"].diff().drop_nulls() == first["bytes"][:-1]).all()
    assert airtcp.run(lossy, 2).packets.is_empty()


def test_a_run_ends_once(lossy: str) -> None:
    running = _core.Running(airtcp.load_scenario(lossy), 1)
    assert running.advance(1.0).time_s == 1.0
    assert not running.advance(0.5).finished  # time does not go back
    running.finish()
    with pytest.raises(airtcp.RunError, match="finished"):
        running.advance(2.0)
    with pytest.raises(airtcp.RunError, match="finished"):
        running.finish()


def test_what_is_wrong_is_said(lossy: str) -> None:
    scenario = airtcp.load_scenario(lossy)
    with pytest.raises(airtcp.ScenarioError, match="cwnd"):
        _core.Running(scenario, 1, probes=["cwmd"])
    with pytest.raises(airtcp.ScenarioError, match="probe_interval_s"):
        _core.Running(scenario, 1, probes=["cwnd"], probe_interval_s=0.0)
    running = _core.Running(scenario, 1)
    for until_s in (-1.0, float("nan"), float("inf")):
        with pytest.raises(airtcp.ScenarioError, match="until_s"):
            running.advance(until_s)
