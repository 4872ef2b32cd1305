"""Jitter that keeps the order: one rate, and a delay that varies from packet to packet."""

from pathlib import Path

import pytest

from airtcp.diagnosis.result import Diagnosis
from test_confusable_links import diagnosed_link

VARIES = "its delay varies from packet to packet"
JITTER = {
    "link__jitter__mean": "15 ms",
    "link__jitter__shape": "exponential",
    "link__jitter__order": "in-order",
}


def said(found: Diagnosis) -> str:
    return " ".join(found.sentences)


@pytest.mark.parametrize("profile", ["linux", "linux-bbr", "linux-reno"])
@pytest.mark.parametrize("rate", ["1 Mbit/s", "2 Mbit/s"])
def test_jitter_of_a_slow_link_is_named(rate: str, profile: str, tmp_path: Path) -> None:
    queue = {"link__queue__packets": 50}
    found = diagnosed_link(tmp_path, 25, link__rate=rate, tcp__profile=profile, **JITTER, **queue)
    assert VARIES in found.headline.replace("Its", "its")
    assert "behind others" not in found.headline
    assert found.link is not None
    assert found.link.bps == pytest.approx(float(rate[0]) * 1e6, rel=0.03)
    assert found.link.jitter is not None
    assert found.link.jitter.mean_s == pytest.approx(0.015, rel=0.25)


NEIGHBOURS: dict[str, dict[str, object]] = {
    "nothing": {},
    "a radio's losses": {"link__loss__rate": 0.01},
    "stops": {
        "link__stops__process": "random",
        "link__stops__working": "1 s",
        "link__stops__length": "80 ms",
        "link__stops__direction": "both",
    },
    "a narrow way back": {"link__reverse__rate": "64 kbit/s"},
    "others in the queue": {"flows__count": 3},
}


@pytest.mark.parametrize("rate", ["1 Mbit/s", "5 Mbit/s"])
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_other_delays_are_no_jitter(rate: str, neighbour: str, tmp_path: Path) -> None:
    keys = NEIGHBOURS[neighbour]
    found = diagnosed_link(tmp_path, 25, link__rate=rate, **keys)
    assert VARIES not in said(found), found.headline


def test_reports_that_found_no_room_are_no_reordering(tmp_path: Path) -> None:
    """Packets that arrive together are answered once, with three blocks for more gaps."""
    found = diagnosed_link(tmp_path, 25, link__rate="1 Mbit/s", **JITTER)
    needless = found.labels.filter(found.labels["verdict"] == "needless")
    assert len(needless) > 50
    reordered = needless.filter(needless["cause"] == "reordering")
    assert len(reordered) < 0.5 * len(needless)
    assert "behind others" not in found.headline
