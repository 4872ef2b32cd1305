"""The phases of a path that changes: each has its rate, delay, losses and limit."""

from dataclasses import asdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.pages.diagnosis import pictures_of_capture
from airtcp.pages.plot.round_trips import RoundTrips


@pytest.fixture(scope="module")
def handover(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """10 Mbit/s: a queue without losses, then 2 % lost on a longer path, then a queue again."""
    folder = tmp_path_factory.mktemp("handover")
    path = folder / "path.csv"
    path.write_text("time_ms,delay_ms,loss\n0,10,0\n9000,40,0.02\n20000,15,0\n")
    keys = {
        "link.rate": "10 Mbit/s",
        "link.queue.packets": 40,
        "link.recorded.path": str(path),
        "tcp.profile": "linux-reno",
    }
    airtcp.run('name = "handover"\nduration = "34 s"\n', 5, settings=keys, pcap=folder / "a.pcapng")
    return folder / "a.pcapng"


@pytest.fixture(scope="module")
def found(handover: Path) -> Diagnosis:
    return diagnosed(read_capture(handover, None, None), None)


def test_each_phase_has_its_limit(found: Diagnosis) -> None:
    full, lossy, last = found.phases
    assert [one.limit for one in found.phases] == ["link full", "losses", "link full"]
    assert [one.from_s for one in found.phases] == pytest.approx([0.0, 9.0, 20.0], abs=0.3)
    bases = [1e3 * one.base_rtt_s for one in found.phases]
    assert bases == pytest.approx([21.3, 81.3, 31.3], abs=2.0)
    # A full link delivers its rate; the other phase shows a part of it.
    assert [full.rate_bps, last.rate_bps] == pytest.approx([10e6, 10e6], rel=0.03)
    assert lossy.rate_bps < 5e6
    assert lossy.goodput_bps < lossy.rate_bps
    assert full.median_rtt_s is not None
    assert full.median_rtt_s > 1.3 * full.base_rtt_s
    # Within three standard deviations of a binomial of 2 %.
    expected = 0.02 * lossy.sent
    assert abs(lossy.lost - expected) < 3 * expected**0.5
    assert lossy.loss_rate == lossy.lost / lossy.sent
    assert (full.loss_rate + last.loss_rate) / 2 < lossy.loss_rate
    flow = found.flow
    assert flow is not None
    assert sum(one.lost for one in found.phases) == flow.lost.sum()
    assert sum(one.sent for one in found.phases) >= len(flow.sent_s) - 1


def test_phases_are_in_every_output(found: Diagnosis, handover: Path, tmp_path: Path) -> None:
    assert of_capture(found)["phases"] == [asdict(one) for one in found.phases]
    picture = pictures_of_capture(found)[0]
    assert isinstance(picture, RoundTrips)
    assert [one[3] for one in picture.phases] == ["link full", "losses", "link full"]
    texts = [text.get_text() for text in picture.figure().axes[0].texts]
    assert texts == ["link full", "losses", "link full"]
    arguments = ["diagnose", str(handover), "--max-cpu", "1", "--out", str(tmp_path / "report")]
    shown = CliRunner().invoke(app, arguments).output
    assert "rate, at least" in shown
    assert "losses" in shown
    page = (tmp_path / "report" / "index.html").read_text()
    assert "The phases of the path" in page


def test_a_single_path_has_no_phases(tmp_path: Path) -> None:
    keys = {"link.rate": "10 Mbit/s", "link.queue.packets": 60, "tcp.profile": "linux"}
    airtcp.run('name = "x"\nduration = "8 s"\n', 5, settings=keys, pcap=tmp_path / "a.pcapng")
    single = diagnosed(read_capture(tmp_path / "a.pcapng", None, None), None)
    assert single.phases == ()
    picture = pictures_of_capture(single)[0]
    assert isinstance(picture, RoundTrips)
    assert len(picture.figure().axes[0].texts) == 0


def _opportunities(rates_mbps: list[int], seconds: float) -> str:
    """Opportunities of 1500 bytes: each rate for as long, in turn."""
    times: list[int] = []
    now_ms = 0.0
    while now_ms < 1e3 * seconds * len(rates_mbps):
        times.append(max(1, round(now_ms)))
        now_ms += 12.0 / rates_mbps[int(now_ms / 1e3 / seconds)]
    return "".join(f"{at}\n" for at in times)


def captured_with_phases(folder: Path, *, one_way_ms: list[int], profile: str) -> Diagnosis:
    """Rates of 12, 7, 15 and 9 Mbit/s for 8 s each over a queue of 60 packets."""
    rows = "".join(f"{8000 * at},{ms},0.002\n" for at, ms in enumerate(one_way_ms))
    (folder / "path.csv").write_text(f"time_ms,delay_ms,loss\n{rows}")
    (folder / "rates.opportunities").write_text(_opportunities([12, 7, 15, 9], 8))
    keys = {
        "link.recorded.path": str(folder / "path.csv"),
        "link.trace.up": str(folder / "rates.opportunities"),
        "link.trace.data": "up",
        "link.queue.packets": 60,
        "tcp.profile": profile,
    }
    text = 'name = "leo"\nduration = "32 s"\n'
    airtcp.run(text, 3, settings=keys, pcap=folder / "a.pcapng")
    return diagnosed(read_capture(folder / "a.pcapng", None, None), None)


@pytest.mark.parametrize("profile", ["linux-bbr", "linux"])
def test_phases_with_rates_of_their_own_are_all_seen(profile: str, tmp_path: Path) -> None:
    """BBR fills the link: its drained moments show the path, at the rate of their phase."""
    found = captured_with_phases(tmp_path, one_way_ms=[16, 31, 22, 40], profile=profile)
    bases = [1e3 * one.base_rtt_s for one in found.phases]
    assert bases == pytest.approx([33, 63, 45, 81], abs=3.5)
    assert [one.from_s for one in found.phases] == pytest.approx([0, 8, 16, 24], abs=0.6)


@pytest.mark.parametrize("profile", ["linux-bbr", "linux"])
def test_rates_that_change_over_one_path_are_no_phases(profile: str, tmp_path: Path) -> None:
    found = captured_with_phases(tmp_path, one_way_ms=[16, 16, 16, 16], profile=profile)
    assert found.phases == ()


@pytest.mark.parametrize("flows", [2, 3])
def test_drained_moments_beside_other_flows_are_no_phases(flows: int, tmp_path: Path) -> None:
    """The queue of others stays while one flow drains its own."""
    keys = {"link.rate": "10 Mbit/s", "link.delay": "20 ms", "link.queue.packets": 100}
    keys |= {"tcp.profile": "linux-bbr", "flows.count": flows}
    text = 'name = "shared"\nduration = "34 s"\n'
    airtcp.run(text, 3, settings=keys, pcap=tmp_path / "a.pcapng")
    for flow in range(1, flows + 1):
        found = diagnosed(read_capture(tmp_path / "a.pcapng", flow, None), None)
        assert found.phases == (), flow
