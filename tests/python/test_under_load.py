"""Service of others under load: in runs, in comparisons by aim, and on the front of both."""

import json
from pathlib import Path
from typing import cast

import pytest

import airtcp
from airtcp.comparison.compared import Comparison
from airtcp.comparison.front import Mark, front
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import Aim
from airtcp.comparison.recommend import recommendations
from airtcp.pages.front import front_table
from test_cli import airtcp_command

LINK = """
name = "bloated"
duration = "12 s"
link.rate = "6 Mbit/s"
link.delay = "15 ms"
link.queue.packets = 150
link.loss.rate = 0.0005
tcp.profile = "linux"
flows.start_spread = "100 ms"
"""
PROBES = {"flows.under_load": ["ping", "exchange", "call"]}
REMEDIES = ["fq-codel", "vegas", "receive-window"]


@pytest.fixture(scope="module")
def compared() -> airtcp.Comparison:
    return airtcp.compare(LINK, REMEDIES, 5, PROBES, metric="rpm")


def test_the_options_former_name_works_with_a_warning() -> None:
    present, former = (
        airtcp_command("run", "lossy-pipe", "--set", "duration=3 s", option, "ping", "--json")
        for option in ("--under-load", "--beside")
    )
    assert former.stdout == present.stdout
    assert "--beside is --under-load now" in former.stderr


def test_a_run_prints_what_ran_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    done = airtcp_command("run", file, "--under-load", "all")
    assert done.exit_code == 0, done.stderr
    for words in (
        "under load, of which the probes are",
        "responsiveness: ",
        "call: ",
        "page: mean",
    ):
        assert words in done.stdout
    found = json.loads(airtcp_command("run", file, "--under-load", "ping", "--json").stdout)[
        "under_load"
    ]
    assert found["ping_p50_ms"] > 30
    assert found["exchanges"] == 0
    assert found["rpm"] is None
    assert "under load" not in airtcp_command("run", file).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--under-load", "pong"], "--under-load pong: expected ping, exchange"),
        (["--under-load", "ping", "--set", "flows.under_load=['call']"], "give one of them"),
        (["--set", "flows.under_load=['ping', 'ping']"], "flows.under_load[1]"),
        (["--set", "flows.under_load=['pong']"], "pong"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, arguments: list[str], words: str) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    done = airtcp_command("run", file, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_an_aim_decides_by_its_metric(compared: airtcp.Comparison) -> None:
    """On a bloated queue FQ-CoDel gives others short round trips at the same goodput."""
    assert compared.winner == "fq-codel"
    assert compared.candidates["fq-codel"].gain > 50
    assert {aim.metric for aim in Aim} <= set(METRICS)
    found = {one.aim: one for one in recommendations(compared)}
    assert set(found) == set(Aim)
    assert "fq-codel" in found[Aim.LATENCY].sentence
    # The rankings are those of the requested metric only.
    assert found[Aim.LATENCY].ranking.candidates == compared.ranking.candidates


def test_responsiveness_is_the_mean_of_both(compared: airtcp.Comparison) -> None:
    for runs in compared.summaries.values():
        for run in runs:
            found = run["under_load"]
            foreign, own, rpm = found["rpm_foreign"], found["rpm_own"], found["rpm"]
            assert foreign is not None
            assert own is not None
            assert rpm is not None
            assert rpm == pytest.approx((foreign + own) / 2)
            power = METRICS["power"].of(run)
            assert power == pytest.approx(run["goodput_bps"] / 1e6 / (60_000 / rpm))


def test_the_front_is_that_of_the_means(compared: airtcp.Comparison) -> None:
    places = front(compared)
    assert places is not None
    assert places.metric.name == "exchange-p95"
    for one in places.points:
        better = [
            other
            for other in places.points
            if other.goodput_bps > one.goodput_bps and other.latency < one.latency
        ]
        assert (one.mark is Mark.FRONT) == (not better)
        assert (one.by is None) == (not better)
        assert one.by is None or one.by in {other.remedy for other in better}
    assert places.of("fq-codel") is not None
    assert len(front_table(places).rows) == len(places.points)


class Made:
    """A comparison of made-up runs: goodput in Mbit/s and an exchange's p95, seed by seed."""

    def __init__(self, **runs: list[tuple[float, float]]) -> None:
        self.remedies = tuple(runs)
        self.summaries = {
            name: [
                {
                    "goodput_bps": 1e6 * goodput,
                    "digest": f"{name} {seed}",
                    "under_load": {"exchange_p95_ms": latency},
                }
                for seed, (goodput, latency) in enumerate(measured)
            ]
            for name, measured in runs.items()
        }


def test_who_is_shown_better_in_both_beats() -> None:
    """B is better on every seed, C only in its means, and D buys latency with goodput."""
    noise = [0.01 * (seed % 3) for seed in range(8)]
    made = Made(
        baseline=[(5 + x, 100 + x) for x in noise],
        b=[(6 + 2 * x, 80 - x) for x in noise],
        c=[(5.5 + (-1) ** seed, 90 + 30 * (-1) ** seed) for seed in range(8)],
        d=[(1 + x, 10 + x) for x in noise],
    )
    places = front(cast(Comparison, made))
    assert places is not None
    marks = {one.remedy: (one.mark, one.by) for one in places.points}
    assert marks == {
        "baseline": (Mark.BEATEN, "b"),
        "b": (Mark.FRONT, None),
        "c": (Mark.UNDECIDED, "b"),
        "d": (Mark.FRONT, None),
    }


def test_without_anything_beside_it_a_comparison_is_as_before() -> None:
    compared = airtcp.compare(LINK, ["vegas"], 2)
    assert recommendations(compared) == []
    assert all(run["under_load"]["rpm"] is None for run in compared.summaries["baseline"])
    places = front(compared)
    assert places is not None
    assert places.metric.name == "rtt-p95"


def test_a_metric_that_nothing_measures_says_how_to_have_it() -> None:
    with pytest.raises(airtcp.AirtcpError, match="--under-load exchange"):
        airtcp.compare(LINK, ["vegas"], 1, metric="rpm")


def test_a_comparison_for_calls_says_so_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    done = airtcp_command(
        *("compare", file, "--remedy", "fq-codel", "--remedy", "vegas", "--seeds", "3"),
        *("--for", "calls", "--out", tmp_path / "out"),
    )
    assert done.exit_code == 0, done.stderr
    for words in ("late or lost", "best in both", "exchange p95", "For calls: fq-codel"):
        assert words in done.stdout
    page = (tmp_path / "out" / "index.html").read_text()
    assert "Goodput and latency at once" in page
    assert "For both at once" in page
    header = (tmp_path / "out" / "comparison.csv").read_text().splitlines()[0].split(",")
    assert {"rpm", "call", "exchange_p95", "rtt_p95"} <= set(header)
    done = airtcp_command(
        *("compare", file, "--remedy", "fq-codel", "--seeds", "2", "--for", "balance", "--json")
    )
    found = json.loads(done.stdout)
    assert found["metric"] == "power"
    assert set(found["aims"]) == {"bulk", "latency", "calls", "balance"}
    assert found["front"]["metric"] == "exchange-p95"
    both = airtcp_command("compare", file, "--for", "bulk", "--metric", "rpm")
    assert both.exit_code == 2
    assert "give one" in both.stderr
