"""Diagnoses of simulated captures and of ping logs, compared with the simulator's truth."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp._core import AirtcpError, ScenarioError
from airtcp.cli.commands import app
from airtcp.comparison.ranking import Aim
from airtcp.comparison.sequential import Rounds
from airtcp.diagnosis.check_words import not_played_back
from airtcp.diagnosis.ping_options import ping_rounds
from airtcp.diagnosis.ping_result import PingDiagnosis
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.trying import Effort

LINK = """
name = "captured"
duration = "25 s"
[link]
rate = "4 Mbit/s"
delay = "20 ms"
queue = { packets = 60 }
loss = { rate = 0.02 }
[tcp]
profile = "linux"
"""


@pytest.fixture(scope="module")
def lossy_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, airtcp.Run]:
    """A capture at a simulated sender that loses one packet in a hundred, and its run."""
    capture = tmp_path_factory.mktemp("capture") / "lossy.pcapng"
    return capture, airtcp.run(LINK, seed=3, pcap=capture)


@pytest.fixture(scope="module")
def lossy_diagnosis(lossy_run: tuple[Path, airtcp.Run]) -> Diagnosis:
    """The diagnosis of that run."""
    found = airtcp.diagnose(lossy_run[0], can="sender")
    assert isinstance(found, Diagnosis)
    return found


def test_every_retransmission_is_labelled(
    lossy_run: tuple[Path, airtcp.Run], lossy_diagnosis: Diagnosis
) -> None:
    (flow,) = lossy_run[1].summary["flows"]
    labels = lossy_diagnosis.labels
    assert len(labels) == flow["segments_retransmitted"]
    needless = labels.filter(pl.col("verdict") == "needless")
    assert len(needless) == flow["duplicate_segments_received"]
    facts = lossy_diagnosis.capture.facts
    assert facts is not None
    assert facts["timeouts"] == flow["timeouts"]
    assert sum(facts["shares"].values()) == pytest.approx(1.0)


def test_the_link_of_a_capture_is_that_of_the_run(
    lossy_run: tuple[Path, airtcp.Run], lossy_diagnosis: Diagnosis
) -> None:
    (flow,) = lossy_run[1].summary["flows"]
    link = lossy_diagnosis.link
    assert link is not None
    assert link.bps == pytest.approx(4e6, rel=0.03)
    assert link.base_rtt_s == pytest.approx(0.0431, rel=0.03)
    assert abs(link.loss.lost - flow["segments_lost_link"]) <= 2
    assert link.loss.bursts is None
    assert not link.stops.stops
    replay = lossy_diagnosis.replay
    assert replay is not None
    assert replay.explains
    assert replay.profile == "linux"


def test_a_window_that_radio_losses_keep_small_is_bbrs_to_open(lossy_diagnosis: Diagnosis) -> None:
    trials = lossy_diagnosis.trials
    assert trials is not None
    assert trials.winner is not None
    assert trials.winner.remedy == "bbr"
    assert "net.ipv4.tcp_congestion_control=bbr" in "\n".join(lossy_diagnosis.deployment)
    assert "A competing flow without bbr gets" in "\n".join(lossy_diagnosis.deployment)


def test_the_report_holds_the_link_as_a_scenario(
    lossy_diagnosis: Diagnosis, tmp_path: Path
) -> None:
    page = lossy_diagnosis.report(tmp_path, "airtcp diagnose lossy.pcapng")
    text = page.read_text()
    assert "What was sent, and when it was acknowledged" in text
    assert lossy_diagnosis.sentences[1] in text
    assert len(pl.read_parquet(tmp_path / "labels.parquet")) == len(lossy_diagnosis.labels)
    assert (tmp_path / "annotated.pcapng").stat().st_size > 1_000_000
    again = airtcp.run(tmp_path / "link.toml", seed=1)
    assert again.summary["goodput_bps"] > 1e6


def test_a_full_link_needs_no_remedy(tmp_path: Path) -> None:
    capture = tmp_path / "full.pcapng"
    airtcp.run(LINK, seed=1, settings={"link.loss.rate": 0}, pcap=capture)
    found = airtcp.diagnose(capture)
    assert isinstance(found, Diagnosis)
    # 60 packets wait for 180 ms, on a base of 43: that is a finding though nothing is faster.
    assert "The link is full" in found.headline
    assert "Mbit/s), but data waits" in found.headline
    assert found.latency is not None
    assert found.latency.is_large
    assert found.latency.median_s == pytest.approx(0.043 + 60 * 0.003, rel=0.3)
    assert found.link is not None
    assert found.link.queue.is_known
    assert abs(found.link.queue.packets - 60) <= 2


def test_stops_of_a_run_are_found(tmp_path: Path) -> None:
    capture = tmp_path / "stops.pcapng"
    stops = {
        "link.loss.rate": 0,
        "link.stops.every": "4 s",
        "link.stops.length": "500 ms",
    }
    airtcp.run(LINK, seed=1, settings=stops, pcap=capture)
    found = airtcp.diagnose(capture, can="receiver")
    assert isinstance(found, Diagnosis)
    assert found.link is not None
    lengths = [stop.length_s for stop in found.link.stops.stops]
    assert len(lengths) in (5, 6)
    assert lengths == pytest.approx([0.5] * len(lengths), abs=0.02)
    assert found.link.stops.is_periodic


def ping_log(rtts_ms: list[float], missing: frozenset[int] = frozenset()) -> str:
    """The output of a ping."""
    lines = ["PING 10.0.0.2 (10.0.0.2) 1472(1500) bytes of data."]
    lines += [
        f"1480 bytes from 10.0.0.2: icmp_seq={number} ttl=64 time={rtt:.3f} ms"
        for number, rtt in enumerate(rtts_ms, 1)
        if number not in missing
    ]
    return "\n".join(lines) + "\n"


def test_a_ping_log_is_diagnosed(tmp_path: Path) -> None:
    """Lone losses: half of them each way, at three rates, and the link as a scenario."""
    random = np.random.default_rng(8)
    rtts = [float(rtt) for rtt in 40 + random.uniform(0, 10, 400)]
    path = tmp_path / "link.ping"
    path.write_text(ping_log(rtts, frozenset({50, 151, 300, 350})))
    found = airtcp.diagnose(path, can="my-machine", rounds=Rounds(most_seeds=2, first=2))
    assert isinstance(found, PingDiagnosis)
    assert (found.log.sent, found.log.lost) == (400, 4)
    assert found.log.loss_rate == pytest.approx(0.01)
    assert found.headline.startswith("1.0 % of the probes are lost one by one")
    assert found.answer is not None
    assert [one.rate for one in found.answer.rates] == ["3 Mbit/s", "50 Mbit/s"]
    assert any(
        line.startswith("A ping shows neither rate nor queue; over 3, 12 and")
        for line in found.sentences
    )
    assert any("assumed to be 1 s apart" in line for line in found.sentences)
    losses = {line.rpartition(",")[2] for line in found.link.files["delays.csv"].split()[1:]}
    assert losses == {f"{1 - 0.99**0.5:.6f}"}
    page = found.report(tmp_path / "out")
    assert "What the probes met" in page.read_text()
    summary = airtcp.run(tmp_path / "out" / "link.toml").summary
    assert 0 < summary["goodput_bps"] < 12e6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sender", "cubic"], "--sender is for captures; a ping log"),
        (["--worth", "5"], "--worth is for captures; a ping log"),
        (["--flow", "2"], "--flow is for captures; a ping log holds no flows"),
        (["--view", "client"], "--view is for captures; a ping log holds no flows"),
        (["--for", "latency"], "--for latency is for captures; a ping log"),
        (["--seeds", "1"], "--seeds 1: expected 2 or more for a ping log"),
    ],
)
def test_options_of_captures_are_refused_for_a_ping_log(
    tmp_path: Path, options: list[str], words: str
) -> None:
    path = tmp_path / "link.ping"
    path.write_text(ping_log([20.0] * 100))
    wrong = CliRunner().invoke(app, ["diagnose", str(path), *options])
    assert wrong.exit_code == 2
    assert words in " ".join(wrong.output.split())


def test_options_of_captures_are_refused_for_a_ping_log_in_python(tmp_path: Path) -> None:
    path = tmp_path / "link.ping"
    path.write_text(ping_log([20.0] * 100))
    with pytest.raises(ScenarioError, match="--sender is for captures"):
        airtcp.diagnose(path, sender="cubic")
    with pytest.raises(ScenarioError, match="--worth is for captures"):
        airtcp.diagnose(path, effort=Effort(worth_percent=5.0))
    with pytest.raises(ScenarioError, match="--for calls is for captures"):
        airtcp.diagnose(path, effort=Effort(aim=Aim.CALLS))


def test_seeds_and_processor_time_are_the_rounds_of_a_ping_log() -> None:
    assert ping_rounds(None, None) is None
    given = ping_rounds(4, 30.0)
    assert given is not None
    assert (given.most_seeds, given.most_cpu_s, given.looks) == (4, 30.0, (4,))
    longer = ping_rounds(None, 30.0)
    assert longer is not None
    assert longer.looks == (5, 10)


def test_a_log_of_few_answers_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "short.ping"
    path.write_text(ping_log([20.0] * 5))
    found = airtcp.diagnose(path)
    assert isinstance(found, PingDiagnosis)
    assert found.comparison is None
    assert "The log holds 5 round trips, and 30 are needed" in found.headline


def test_a_ping_within_a_machine_says_that_nothing_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "lan.ping"
    path.write_text(ping_log([0.02] * 100))
    found = airtcp.diagnose(path, rate_bps=2e6, rounds=Rounds(most_seeds=2, first=2))
    assert "Nothing is wrong in this log" in found.headline


def test_what_is_neither_is_refused_clearly(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with pytest.raises(ScenarioError, match="cannot be read"):
        airtcp.diagnose(path)
    path.write_bytes(b"")
    with pytest.raises(ScenarioError, match="empty"):
        airtcp.diagnose(path)
    path.write_bytes(b"\xd4\xc3\xb2\xa1\x02\x00")
    with pytest.raises(AirtcpError):
        airtcp.diagnose(path)


def test_the_command_line_prints_the_answer(
    lossy_run: tuple[Path, airtcp.Run], tmp_path: Path
) -> None:
    runner = CliRunner()
    advice = runner.invoke(app, ["diagnose", "--advise"])
    assert advice.exit_code == 0
    assert "tcpdump -i any -s 128 -w slow.pcap" in advice.stdout
    missing = runner.invoke(app, ["diagnose"])
    assert missing.exit_code == 2
    wrong = runner.invoke(app, ["diagnose", str(lossy_run[0]), "--can", "moon"])
    assert wrong.exit_code == 2
    done = runner.invoke(
        app,
        ["diagnose", str(lossy_run[0]), "--can", "receiver", "--json", "--out", str(tmp_path)],
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["link"]["rate_bps"] == pytest.approx(4e6, rel=0.03)
    assert found["replay"]["explains"] is True
    assert found["report"] == str(tmp_path / "index.html")


def test_a_replay_that_lacks_what_the_ends_did_says_so() -> None:
    said = not_played_back({"application": 0.41, "receiver_window": 0.02})
    assert "the application held it back for 41 % of the time" in said
    assert "receiver" not in said
    assert not not_played_back({"application": 0.05, "receiver_window": 0.0})
