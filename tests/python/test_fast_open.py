"""TCP Fast Open (RFC 7413) as a remedy: where it helps, where it does not, and its deployment."""

import re
import runpy
from pathlib import Path

import pytest

import airtcp
from airtcp.comparison.deployment import deployment
from airtcp.comparison.everything import applicable

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_fast_open.py"))
RTT_MS = {WRITER["SATELLITE"]: 620, WRITER["MOBILE"]: 100, WRITER["HOME"]: 20}
SHORT: dict[str, object] = {
    "duration": "90 s",
    "flows.count": 20,
    "flows.start_spread": "60 s",
    "flows.request": "350 B",
    "flows.bytes": "5 kB",
}


def test_short_downloads_over_a_satellite_are_told_its_gain_and_its_harm() -> None:
    comparison = airtcp.compare(
        "geo-satellite", ["fast-open"], 3, SHORT, metric="completion", harm=True
    )
    sentence = comparison.verdict[0]
    found = re.match(r"fast-open lowers the completion time by ([0-9.]+) %", sentence)
    assert found, sentence
    # 19 of 20 connections take one round trip instead of two.
    assert float(found[1]) == pytest.approx(100 * 19 / 20 / 2, abs=0.5)
    said = " ".join(deployment(comparison))
    for words in (
        "sysctl -w net.ipv4.tcp_fastopen=3",
        "TCP_FASTOPEN_CONNECT",
        "MSG_FASTOPEN",
        "The sysctl alone changes nothing",
        "twice",
        "middlebox",
        "recognizable",
        "`airtcp deploy fast-open --all --dry-run`",
    ):
        assert words in said, words
    # Its programs send no data in a SYN.
    assert "airtcp verify" not in said


def test_a_long_download_gains_nothing() -> None:
    settings = SHORT | {"flows.count": 2, "flows.bytes": "30 MB"}
    comparison = airtcp.compare("geo-satellite", ["fast-open"], 3, settings, metric="completion")
    assert abs(comparison.decisive["fast-open"].mean_percent or 0.0) < 5
    endless = {"duration": "60 s", "flows.count": 2, "flows.start_spread": "20 s"}
    comparison = airtcp.compare("geo-satellite", ["fast-open"], 3, endless)
    assert not comparison.is_better("fast-open")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("geo-satellite", {}),
        # All open at once, between hosts of their own, or with nothing to send.
        ("geo-satellite", {"flows.count": 5}),
        ("dumbbell", {"flows.start_spread": "5 s"}),
        (
            "geo-satellite",
            {"flows.count": 5, "flows.start_spread": "5 s", "traffic.application": "http"},
        ),
    ],
)
def test_no_remedy_where_no_host_opens_a_second_connection(
    name: str, settings: dict[str, object]
) -> None:
    with pytest.raises(airtcp.ScenarioError, match="from its second connection"):
        airtcp.load_scenario(name, settings=settings, remedies=["fast-open"])
    refused = applicable(airtcp.load_scenario(name, settings=settings)).refused
    assert "flows.start_spread" in refused["fast-open"]


def test_it_is_among_all_remedies_of_short_flows() -> None:
    assert "fast-open" in applicable(airtcp.load_scenario("geo-satellite", settings=SHORT)).taken


def test_a_splitting_proxy_is_refused_with_the_key() -> None:
    # One mobile: the connections are between the same two hosts.
    requests = SHORT | {"wlan.stations": 1}
    settings = {key: value for key, value in requests.items() if key != "flows.request"}
    with pytest.raises(airtcp.ScenarioError, match="takes no data from"):
        airtcp.load_scenario("wlan-upload", settings=settings, remedies=["fast-open", "split-tcp"])
    with pytest.raises(airtcp.ScenarioError, match=r"flows\.request"):
        airtcp.load_scenario("wlan-upload", settings=requests, remedies=["split-tcp"])


def test_an_application_and_a_request_exclude_each_other() -> None:
    settings = {"flows.request": "350 B", "traffic.application": "ftp"}
    with pytest.raises(airtcp.ScenarioError, match=r"flows\.request.*open their connections"):
        airtcp.load_scenario("geo-satellite", settings=settings)


def rows() -> dict[tuple[str, str], float]:
    """Milliseconds saved, by link and flows, of the table on the page."""
    text = (ROOT / "docs" / "reference" / "scenarios.md").read_text("utf-8")
    table = text.partition("<!-- fast-open: begin -->")[2].partition("<!-- fast-open: end -->")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")]
    cells = [line for line in lines if len(line) == 6 and line[4].endswith(" ms")]
    return {
        (line[0], line[1]): float(line[4].removesuffix(" ms").replace(WRITER["MINUS"], "-"))
        for line in cells
    }


def test_a_long_syn_costs_more_than_a_short_round_trip_gains_where_bits_are_wrong() -> None:
    (milliseconds,) = (saved for (link, _), saved in rows().items() if link == WRITER["NOISY"])
    # A SYN of 1.1 kB is lost 8 % more often than one without data, and waits a second then.
    assert milliseconds < -RTT_MS[WRITER["HOME"]]


def test_the_table_has_each_row_and_one_round_trip_of_short_downloads() -> None:
    """Without losses: one round trip less of 19 in 20 flows; an upload only if it fits the SYN."""
    saved = rows()
    assert set(saved) == {(row.link, row.flows) for row in WRITER["ROWS"]}
    one = 19 / 20
    for (link, flows), milliseconds in saved.items():
        if link not in RTT_MS or link == WRITER["MOBILE"] or flows.startswith("two "):
            continue
        fits = "requests of 2 kB" not in flows and flows != "uploads of 30 kB"
        expected = one * RTT_MS[link] if fits else 0.0
        assert milliseconds == pytest.approx(expected, abs=0.05 * RTT_MS[link]), flows
