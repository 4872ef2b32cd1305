"""Wi-Fi that aggregates, fitted from captures that know nothing of the radio."""

from pathlib import Path

import pytest

import airtcp
from airtcp._core import Scenario
from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.wifi import LADDER, Mode, mode_near

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("mode", "mbps"),
    [
        # IEEE 802.11 tables 19-30, 21-30, 21-38 and 27-79, guard interval of 800 ns.
        (Mode("802.11n", 20, 1, 0), 6.5),
        (Mode("802.11n", 20, 2, 7), 130.0),
        (Mode("802.11n", 40, 2, 7), 270.0),
        (Mode("802.11ac", 80, 2, 9), 780.0),
        (Mode("802.11ax", 80, 2, 11), 1201.0),
    ],
)
def test_modes_have_the_rates_of_the_standard(mode: Mode, mbps: float) -> None:
    assert mode.bps / 1e6 == pytest.approx(mbps, rel=1e-4)


def test_each_mode_is_one_that_a_scenario_can_have() -> None:
    assert [mode.bps for mode in LADDER] == sorted({mode.bps for mode in LADDER})
    for place, mode in enumerate(LADDER):
        assert mode_near(mode.bps) == place
        lines = "\n".join(mode.lines())
        Scenario.parse(f'topology = "wlan"\n[wlan]\n{lines}\n')


@pytest.mark.long
def test_an_upload_over_wifi_is_given_back_by_a_scenario_of_it(tmp_path: Path) -> None:
    path = tmp_path / "upload.pcapng"
    run = airtcp.run(SCENARIOS / "laptop-upload.toml", 3, {"duration": "8 s"}, pcap=path)
    found = diagnosed(read_capture(path, 1, None), None)
    assert found.link is not None
    assert found.link.wifi is not None
    assert found.replay is not None
    assert found.replay.explains, found.replay.deviations
    assert found.ceiling is not None
    assert found.ceiling.most_bps < 2 * run.summary["goodput_bps"]
    said = " ".join(found.sentences)
    assert "a Wi-Fi link that aggregates, as 802.11" in said
    assert "with random draws" in said

    # Which of several links it was does not show; the one that was is among them.
    alike = {(one.mode, one.others) for one in found.link.wifi_alike}
    assert any(others == 0 and 100e6 < mode.bps < 160e6 for mode, others in alike), alike

    link = of_capture(found)["link"]
    assert isinstance(link, dict)
    assert link["wifi"]["mode"]["standard"].startswith("802.11")

    # The written scenario runs by itself, and reproduces the capture.
    assert found.scenario is not None
    again = airtcp.run(Scenario.load(found.scenario.write(tmp_path, "link.toml")).to_toml(), 9)
    flow = again.summary["flows"][0]
    assert flow["goodput_bps"] == pytest.approx(run.summary["goodput_bps"], rel=0.15)
