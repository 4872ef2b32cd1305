"""A remedy with a size is sized to the link before it is tried; a window that bounds is raised."""

import json
import re

import pytest

from airtcp import _core, compare
from airtcp._core import Scenario
from airtcp.comparison.everything import applicable
from airtcp.comparison.ranking.deployable import needs
from airtcp.comparison.sizes import Sized, Unsized, sizes

PIPE = """topology = "pipe"
duration = "10 s"
link.rate = "50 Mbit/s"
link.delay = "20 ms"
link.queue.packets = 300
"""
PRODUCT = 50e6 * 0.04 / 8


def scenario(*lines: str) -> Scenario:
    return Scenario.parse(PIPE + 'tcp.profile = "linux"\n' + "\n".join(lines), "pipe")


def goodput(of: Scenario) -> float:
    return float(json.loads(_core.run(of, 1).summary())["goodput_bps"])


def value(sized: Sized | Unsized) -> int:
    assert isinstance(sized, Sized), sized
    return int(sized.text.rpartition("=")[2])


def test_sizes_follow_the_bandwidth_delay_product() -> None:
    found = sizes(scenario())
    assert PRODUCT < value(found["receive-window"]) < 1.4 * PRODUCT
    assert PRODUCT / 1448 < value(found["max-window"]) < 1.4 * PRODUCT / 1448
    assert value(found["queue"]) == pytest.approx(PRODUCT / 1500, rel=0.03)
    assert value(found["initial-window"]) == 64
    reason = found["receive-window"].reason
    assert "50.0 Mbit/s over 40" in reason
    assert "1.25 times 25" in reason


def test_a_narrow_path_begins_with_a_smaller_window() -> None:
    slow = Scenario.parse(
        'topology = "pipe"\nlink = { rate = "500 kbit/s", delay = "30 ms" }\ntcp.profile = "linux"'
    )
    assert value(sizes(slow)["initial-window"]) < 10
    # A path whose product is the sender's own default has nothing to be tried.
    usual = Scenario.parse(
        'topology = "pipe"\nlink = { rate = "2500 kbit/s", delay = "20 ms" }\ntcp.profile = "linux"'
    )
    assert "begins with 10 segments already" in sizes(usual)["initial-window"].reason


def test_a_window_for_latency_costs_no_goodput() -> None:
    link = scenario()
    before = goodput(link)
    sized = sizes(link)["receive-window"]
    assert isinstance(sized, Sized)
    assert goodput(link.with_remedies(sized.text)) > 0.97 * before
    # A fixed 64 kB is a quarter of the product.
    assert goodput(link.with_remedies("receive-window:bytes=65536")) < 0.35 * before


@pytest.mark.parametrize(
    ("bound", "remedy"),
    [
        ("tcp.max_window = 20", "send-buffer"),
        ("tcp.send_buffer = 30000", "send-buffer"),
        ("tcp.receive_buffer = 30000", "receive-buffer"),
    ],
)
def test_a_window_that_bounds_the_flow_is_raised(bound: str, remedy: str) -> None:
    link = scenario(bound)
    found = applicable(link)
    taken = next(text for text in found.taken if text.startswith(remedy))
    assert found.sized[taken].startswith("2 times "), found.sized[taken]
    assert goodput(link.with_remedies(taken)) > 4 * goodput(link)
    assert needs(taken)
    free = applicable(scenario())
    assert "no such buffer bounds the flow" in free.refused[remedy]


def test_recorded_round_trips_have_no_size() -> None:
    from airtcp.core.loading import load_scenario

    found = applicable(load_scenario("ping"))
    for name in ("max-window", "send-buffer", "receive-buffer"):
        assert "the window stands for it" in found.refused[name]


def test_what_a_sender_does_already_is_not_tried() -> None:
    found = applicable(scenario())
    assert "the sender does so without it" in found.refused["cubic"]
    assert "cubic" not in found.taken


def test_the_size_and_its_reason_are_printed() -> None:
    comparison = compare(scenario("tcp.max_window = 20"), ["all"], seeds=2)
    best = comparison.winner
    assert best is not None
    assert best.startswith("send-buffer:bytes="), best
    lines = "\n".join(comparison.deployment)
    # The bandwidth-delay product of 50 Mbit/s and 40.3 ms, perturbed by half a per cent.
    assert re.search(rf"Its size, {best.partition(':')[2]}: 2 times 25[0-3]\.\d kB", lines), lines
    assert "net.ipv4.tcp_wmem" in lines


def test_a_send_buffer_is_filled_as_linux_fills_it() -> None:
    """A kernel with 64 kB had at most 46 segments in flight over 20 Mbit/s and 101 ms."""
    link = Scenario.parse(
        'topology = "pipe"\nduration = "16 s"\nlink = { rate = "20 Mbit/s", delay = "50.5 ms" }\n'
        'tcp = { profile = "linux", send_buffer = 65536 }',
        "sndbuf",
    )
    run = _core.run(link, 1, probes=["in_flight"], probe_interval_s=0.005)
    # No more than these in a round trip.
    assert json.loads(run.summary())["goodput_bps"] < 8 * 46 * 1448 / 0.101
    import polars as pl

    most = pl.DataFrame(run.samples())["in_flight_bytes"].max()
    assert most == 46 * 1448
