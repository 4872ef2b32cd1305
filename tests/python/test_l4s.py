"""Prague over DualPI2 (RFC 9330 to 9332), and LEDBAT: shares of competing flows, and delay."""

import runpy
from pathlib import Path

import pytest

import airtcp

PRAGUE: dict[str, object] = {
    "congestion_control": "prague",
    "ecn": "accurate",
    "slow_start": "standard",
    "pacing": True,
    "pacing_shift": 12,
}
LEDBAT: dict[str, object] = {"congestion_control": "ledbat", "slow_start": "standard"}
CUBIC: dict[str, object] = {}
RENO: dict[str, object] = {"congestion_control": "reno", "slow_start": "standard"}

DUALPI2: dict[str, object] = {"discipline": "dualpi2"}
START_S = 20


def toml(table: dict[str, object]) -> str:
    """An inline table."""

    def value(one: object) -> str:
        return str(one).lower() if isinstance(one, bool | int) else f'"{one}"'

    return "{ " + ", ".join(f"{key} = {value(one)}" for key, one in table.items()) + " }"


def run(
    stacks: list[dict[str, object]],
    rate_mbps: float = 20,
    rtt_ms: float = 20,
    aqm: dict[str, object] | None = None,
    duration_s: int = 60,
    packets: int = 2000,
) -> list[dict[str, float]]:
    """Flows with these stacks over one bottleneck, and the results of each."""
    settings = {
        "link.rate": f"{rate_mbps} Mbit/s",
        "link.delay": f"{rtt_ms / 2} ms",
        "link.queue.packets": packets,
        "flows.count": len(stacks),
        "flows.access_delay": ["0 ms"],
        "flows.tcp": "[" + ", ".join(toml(stack) for stack in stacks) + "]",
        "duration": f"{duration_s} s",
    }
    if aqm is not None:
        settings["link.aqm"] = toml(aqm)
    flows = airtcp.run("dumbbell", settings=settings).summary["flows"]
    assert len(flows) == len(stacks)
    return flows  # type: ignore[no-any-return]


def rates(
    stacks: list[dict[str, object]],
    rate_mbps: float,
    rtt_ms: float,
    aqm: dict[str, object] | None = None,
    packets: int = 2000,
) -> list[float]:
    """Their rates in bit/s from the twentieth second to the sixtieth: the same run, twice."""

    def delivered(duration_s: int) -> list[float]:
        flows = run(stacks, rate_mbps, rtt_ms, aqm, duration_s, packets)
        return [flow["delivered_bytes"] for flow in flows]

    early, late = delivered(START_S), delivered(60)
    return [8 * (b - a) / (60 - START_S) for a, b in zip(early, late, strict=True)]


WRITER = runpy.run_path(str(Path(__file__).parents[2] / "pages" / "write_disciplines.py"))


@pytest.mark.parametrize("classic", ["CUBIC", "Reno"])
@pytest.mark.parametrize(("rate_mbps", "rtt_ms"), [(12, 10), (12, 20), (20, 10), (40, 5)])
def test_coupled_queues_give_both_kinds_the_same(
    rate_mbps: float, rtt_ms: float, classic: str
) -> None:
    """RFC 9332 §2.1: marks are coupled to drops so that the rates are about equal."""
    assert 0.75 < WRITER["share"](classic, rate_mbps, rtt_ms) < 1.33


@pytest.mark.parametrize("rtt_ms", [5, 10, 20, 40, 100])
def test_shares_of_several_flows_follow_from_their_steady_states(rtt_ms: float) -> None:
    """Five of each, so that their sum averages over the controller's reaction to single flows."""
    found = WRITER["share"]("CUBIC", 100, rtt_ms, pairs=5)
    assert found == pytest.approx(WRITER["closed_form"](rtt_ms), rel=0.15)


def test_the_closed_form_is_that_of_the_rfc_but_for_reductions_that_wait() -> None:
    """RFC 9332 appendix C has two marks a round trip and no wait: 1.22 times as much for Reno.

    With its k = 2 a scalable flow has W = 2/(2√p), Reno 1.22/√p, and the round trips of the form.
    """
    for rtt_ms in (5, 10, 20, 40, 100):
        of_the_rfc = 1 / 1.5**0.5 * (rtt_ms + 15.5) / max(rtt_ms + 0.5, 25)
        marks = 1 + 3**0.5
        assert WRITER["closed_form"](rtt_ms) == pytest.approx(of_the_rfc * marks / 2)


@pytest.mark.parametrize("rtt_ms", [5, 20, 40])
@pytest.mark.parametrize("rate_mbps", [4, 40, 200])
def test_neither_kind_starves(rate_mbps: float, rtt_ms: float) -> None:
    """Without the coupling whoever does not fill the queue gets next to nothing."""
    assert 0.7 < WRITER["share"]("CUBIC", rate_mbps, rtt_ms) < 2.2


def test_a_low_latency_queue_stays_short_beside_others() -> None:
    """The classic queue has its 15 ms, the other one about its threshold of 1 ms."""
    rtt_ms = 20.0
    classic, low = run([CUBIC, PRAGUE], 20, rtt_ms, DUALPI2)
    assert 10 < classic["delay_p50_ms"] - rtt_ms / 2 < 22
    assert low["delay_p50_ms"] - rtt_ms / 2 < 1.5
    assert low["delay_p99_ms"] - rtt_ms / 2 < 3


def test_prague_alone_fills_the_link_with_a_short_queue() -> None:
    """The low-latency queue marks packets after a millisecond of queueing."""
    rtt_ms = 20.0
    assert sum(rates([PRAGUE], 50, rtt_ms, aqm=DUALPI2)) > 0.9 * 50e6
    flow = run([PRAGUE], 50, rtt_ms, DUALPI2)[0]
    assert flow["delay_p50_ms"] - rtt_ms / 2 < 1.5
    assert flow["delay_p99_ms"] - rtt_ms / 2 < 4
    assert flow["segments_marked"] > 0
    assert flow["segments_retransmitted"] == 0


def test_without_counted_marks_prague_is_reno() -> None:
    """With RFC 3168's feedback from a classic queue, to the last packet."""
    paced = {"pacing": True, "pacing_shift": 12, "ecn": "request"}
    codel: dict[str, object] = {"discipline": "codel", "ecn": True}
    prague = run([PRAGUE | paced], aqm=codel)[0]
    reno = run([RENO | paced], aqm=codel)[0]
    assert prague == reno
    assert prague["segments_marked"] > 0


def test_a_full_queue_is_answered_as_reno_does() -> None:
    """No marks, only drops: Prague is as good as Reno, and retransmits no more."""
    prague, reno = (run([stack], packets=50)[0] for stack in (PRAGUE, RENO))
    assert prague["segments_retransmitted"] > 0
    assert prague["goodput_bps"] > 0.9 * reno["goodput_bps"]
    assert prague["segments_retransmitted"] < 2 * reno["segments_retransmitted"]


def test_ledbat_fills_an_empty_link_and_keeps_to_its_target() -> None:
    """RFC 6817 §2.1: full utilization with no more than 100 ms of queue, of 480 that fit."""
    rtt_ms = 40.0
    assert sum(rates([LEDBAT], 10, rtt_ms, packets=400)) > 0.93 * 10e6
    flow = run([LEDBAT], 10, rtt_ms, packets=400)[0]
    # The queue built by slow start drains slowly; at the end it is at the target.
    assert 80 < flow["srtt_ms"] - rtt_ms < 115
    assert flow["segments_retransmitted"] == 0


def test_ledbat_yields_to_a_queue_of_others() -> None:
    """RFC 6817 §2.1: it leaves the link to a flow that fills the queue beyond the target."""
    cubic, ledbat = rates([CUBIC, LEDBAT], 10, 40, packets=400)
    assert ledbat < 0.1 * cubic
    # Where there is no room for its target it is no more aggressive than Reno (§2.2).
    reno, ledbat = rates([RENO, LEDBAT], 10, 40, packets=40)
    assert ledbat < 1.3 * reno
