"""Sentences of cellular-today.md that its tables do not hold: losses and timeouts that are left."""

import pytest

import airtcp


@pytest.mark.parametrize("link", ["lte", "lte-upload", "nr", "nr-router"])
def test_harq_and_rlc_leave_no_loss_and_no_timeout(link: str) -> None:
    flows = [
        flow
        for seed in (1, 2)
        for flow in airtcp.run(link, seed, {"duration": "20 s"}).summary["flows"]
    ]
    assert all(flow["segments_sent"] > 1000 for flow in flows)
    assert [flow["segments_lost_link"] for flow in flows] == [0] * len(flows)
    assert [flow["timeouts"] for flow in flows] == [0] * len(flows)


def test_unacknowledged_mode_leaves_few_losses() -> None:
    """At most one segment in 1000 of each flow, where HARQ gives up."""
    settings = {"duration": "20 s", "cell.rlc.mode": "um"}
    flows = [
        flow for seed in (1, 2, 3, 4) for flow in airtcp.run("lte", seed, settings).summary["flows"]
    ]
    lost = [flow["segments_lost_link"] for flow in flows]
    assert sum(lost) > 0
    for flow, count in zip(flows, lost, strict=True):
        assert 1000 * count <= flow["segments_sent"]


def test_a_handover_outlasts_the_timer_and_linux_takes_the_timeout_back() -> None:
    runs = [airtcp.run("lte-train", seed, {"duration": "30 s"}) for seed in range(1, 5)]
    happened = [event for run in runs for event in run.events["event"]]
    lost = [flow["segments_lost_link"] for run in runs for flow in run.summary["flows"]]
    assert lost == [0] * len(runs)
    assert happened.count("timeout") > 0
    assert happened.count("spurious-timeout") == happened.count("timeout")
    assert happened.count("recovery-taken-back") >= happened.count("timeout")


def test_starlink_loses_packets() -> None:
    (flow,) = airtcp.run("starlink", 1, {"duration": "60 s"}).summary["flows"]
    assert flow["segments_lost_link"] > 10
