"""Files that people have about a link, imported, played back and exported."""

import gzip
import importlib.util
import json
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp._core import Scenario, ScenarioError
from airtcp.cli.commands import app
from airtcp.comparison.sequential import Rounds
from airtcp.core.loading import load_scenario
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.export.targets import TARGETS, export_link
from airtcp.core.recordings.formats import formats_known
from airtcp.core.recordings.imported import ImportedLink, import_link
from airtcp.core.recordings.log import PingLog, read_ping
from airtcp.core.recordings.opportunities import mean_bps, opportunities
from airtcp.core.recordings.recording import read_recording
from airtcp.diagnosis.link_file import with_bound
from airtcp.diagnosis.starlink import changes_each_15_s, starlink_sentence

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("write_formats", ROOT / "pages/write_formats.py")
assert _SPEC is not None
assert _SPEC.loader is not None
write_formats = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(write_formats)


def write(path: Path, content: str | bytes) -> Path:
    """The file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def iperf3(path: Path, mbps: float, rtts_us: tuple[int, ...], reverse: int = 0) -> Path:
    """iperf3's JSON of a transfer with an interval for each round trip."""
    streams = [
        {
            "start": n,
            "end": n + 1,
            "bits_per_second": 1e6 * mbps,
            "omitted": False,
            "sender": reverse == 0,
        }
        | ({"rtt": rtt, "snd_cwnd": 90_000, "snd_wnd": 3_000_000} if rtt else {})
        for n, rtt in enumerate(rtts_us)
    ]
    document = {
        "start": {
            "version": "iperf 3.12",
            "connecting_to": {"host": "secret.example.net", "port": 5201},
            "timestamp": {"timesecs": 1795832936},
            "test_start": {"protocol": "TCP", "reverse": reverse},
        },
        "intervals": [{"streams": [stream], "sum": {}} for stream in streams],
        "end": {
            "streams": [{}],
            "sum_sent": {"bits_per_second": 1e6 * mbps, "retransmits": 2},
            "sum_received": {"bits_per_second": 1e6 * mbps},
        },
    }
    return write(path, json.dumps(document))


def ping(path: Path, probes: int = 300) -> Path:
    """The log of a ping without losses, 20 to 26 ms."""
    lines = [
        f"[{1.7e9 + n / 5 + (20 + n % 7) / 1e3:.6f}] 64 bytes from 192.0.2.9: icmp_seq={n} ttl=57 "
        f"time={20 + n % 7}.0 ms\n"
        for n in range(probes)
    ]
    return write(path, "PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n" + "".join(lines))


def trace(path: Path, every_ms: int = 10, count: int = 200) -> Path:
    """A trace of mahimahi."""
    return write(path, "".join(f"{every_ms * n}\n" for n in range(1, count + 1)))


def link_of(found: ImportedLink) -> dict[str, object]:
    """The table [link] of the scenario."""
    link: dict[str, object] = tomllib.loads(found.link.toml)["link"]
    return link


def times_of(found: ImportedLink) -> list[int]:
    """The opportunities of the direction down."""
    content = found.link.files["link.down"]
    assert isinstance(content, bytes)
    return [int(word) for word in content.split()]


def said(found: ImportedLink) -> str:
    """All that was said, as one text."""
    return "\n".join(found.said)


def played(found: ImportedLink, tmp_path: Path) -> Scenario:
    """The scenario, written and read again."""
    return Scenario.load(found.link.write(tmp_path / "out"))


def test_a_full_queue_is_told_from_a_lower_bound(tmp_path: Path) -> None:
    full = import_link([iperf3(tmp_path / "x.json", 9.4, (20_000, 48_000, 50_000))])
    assert "is the link's own" in said(full)
    assert "under load only" in said(full)
    # 28 ms of waiting at 9.4 Mbit/s of data in segments of 1448 of 1500 bytes.
    link = link_of(full)
    assert link["queue"] == {"packets": round(0.028 * 9.4e6 * 1500 / 1448 / 12_000)}
    assert link["delay"] == "10 ms"
    flat = import_link([iperf3(tmp_path / "y.json", 9.4, (20_000, 20_100, 20_200))])
    assert "a lower bound: nothing shows that the link was full" in said(flat)
    for found in (full, flat):
        assert played(found, tmp_path).name in {"x", "y"}


def test_a_rate_that_is_not_the_links_is_said_in_the_first_sentence(tmp_path: Path) -> None:
    full = read_recording(iperf3(tmp_path / "x.json", 9.4, (20_000, 48_000, 50_000)))
    assert with_bound("a test.", [full]) == ["a test."]
    path = iperf3(tmp_path / "y.json", 9.4, (20_000,) * 3)
    text = path.read_text().replace('"start": {', '"start": {"target_bitrate": 9.5e6, ', 1)
    path.write_text(text)
    first, tried = with_bound("a test.", [read_recording(path)])
    assert first.endswith("the sender's target rate bounds it, and the link may carry more.")
    assert "over a link of just that rate" in tried


def test_names_stay_out_of_the_scenario_unless_asked_for(tmp_path: Path) -> None:
    path = iperf3(tmp_path / "x.json", 9.4, (20_000,))
    assert "secret" not in import_link([path]).link.toml
    assert str(tmp_path) not in import_link([path]).link.toml
    toml = import_link([path], Choices(keep_names=True)).link.toml
    assert "secret.example.net" in toml
    assert "iperf 3.12" in toml
    assert "2026-11-28" in toml


def test_options_override_assumptions(tmp_path: Path) -> None:
    path = iperf3(tmp_path / "x.json", 9.4, (20_000, 48_000, 50_000))
    chosen = Choices(rate="30 Mbit/s", rtt_s=0.06, queue_packets=77, loss=0.01)
    link = link_of(import_link([path], chosen))
    assert link["rate"] == "30 Mbit/s"
    assert link["delay"] == "30 ms"
    assert link["queue"] == {"packets": 77}
    assert link["loss"] == {"rate": 0.01}
    with pytest.raises(ScenarioError, match="--direction down"):
        import_link([path], Choices(direction="down"))


def test_a_ping_needs_a_rate_which_another_file_may_have(tmp_path: Path) -> None:
    log = ping(tmp_path / "my.ping")
    with pytest.raises(ScenarioError, match="a ping shows no rate"):
        import_link([log])
    alone = import_link([log], Choices(rate="20 Mbit/s"))
    assert "delays.csv" in alone.link.files
    assert "0 of 300 probes got no answer" in said(alone)
    both = import_link([iperf3(tmp_path / "x.json", 9.4, (0, 0), 1), log])
    # The ping's small round trips are the base, iperf3's rate the link's least.
    assert str(link_of(both)["rate"]).startswith("9.7")
    assert link_of(both)["delay"] == "10 ms"


def test_mahimahi_comes_out_as_it_went_in(tmp_path: Path) -> None:
    up, down = trace(tmp_path / "cell.up", 12), trace(tmp_path / "cell.down", 5)
    down.write_bytes(down.read_bytes().replace(b"\n", b"\r\n"))
    found = import_link([up, down], Choices(rtt_s=0.05))
    scenario = played(found, tmp_path)
    written, notes = export_link(scenario, "mahimahi", tmp_path / "export")
    assert (tmp_path / "export/link.up").read_bytes() == up.read_bytes()
    assert (tmp_path / "export/link.down").read_bytes() == down.read_bytes()
    shell = (tmp_path / "export/link.sh").read_text()
    # Uplink before downlink.
    assert "mm-delay 25 mm-link link.up link.down" in shell
    assert len(written) == 3
    assert not any("direction" in note for note in notes)


def test_two_traces_without_names_are_up_and_down(tmp_path: Path) -> None:
    found = import_link([trace(tmp_path / "a", 12), trace(tmp_path / "b", 5)])
    assert found.link.files["link.up"] == (tmp_path / "a").read_bytes()
    assert "a is of the direction up, as mm-link takes them" in said(found)
    with pytest.raises(ScenarioError, match="a second trace of the direction down"):
        import_link([trace(tmp_path / "a.down"), trace(tmp_path / "b.down")])


def test_leoreplayers_delays_stand_beside_a_trace(tmp_path: Path) -> None:
    rates = trace(tmp_path / "bw_1.txt", 2, 5000)
    delays = write(tmp_path / "delay_1.txt", "".join(f"{9 + n % 5}\n" for n in range(1000)))
    found = import_link([rates, delays], Choices(direction="up"))
    rows = str(found.link.files["delays.csv"]).splitlines()
    assert rows[:3] == ["time_ms,delay_ms,loss", "0.000,9.0,0", "10.000,10.0,0"]
    assert len(rows) == 1001
    assert "delays are 10 ms apart (--step says otherwise)" in said(found)
    assert link_of(found)["repeat"] == {"every": "10.000 s", "start": "beginning"}
    played(found, tmp_path)


def test_cellreplays_opportunities_have_1400_bytes(tmp_path: Path) -> None:
    light = write(tmp_path / "light", "0 20 0 0 3 6\n500 21 0 1 2 8\n1000 20 0 0 0 5\n")
    found = import_link([trace(tmp_path / "heavy", 10, 300), light])
    assert found.link.files["link.down"] == (tmp_path / "heavy").read_bytes()
    assert link_of(found)["trace"]["opportunity"] == "1400 B"
    assert link_of(found)["trace"]["light"] == {"down": "light.down"}
    assert "repeat after 1.000 s, the heavy ones down after 3.000 s" in said(found)
    assert found.link.files["light.down"] == light.read_bytes()
    rows = str(found.link.files["delays.csv"]).splitlines()
    assert rows[1:3] == ["0.000,20.0000,0", "10.000,20.0200,0"]
    assert "500.000,21.0000,0" in rows
    assert link_of(found)["repeat"] == {"every": "1.000 s", "start": "beginning"}
    played(found, tmp_path)
    with pytest.raises(ScenarioError, match="has no rate"):
        import_link([light])


def test_a_ping_and_a_download_meet_one_cellreplay_link(tmp_path: Path) -> None:
    """A lone packet waits for no opportunity; a download gets the heavy ones' rate."""
    light = write(tmp_path / "light", "".join(f"{500 * n} 20 0 4 8 12\n" for n in range(10)))
    heavy = write(tmp_path / "heavy", "".join(f"{5 * n}\n" for n in range(1, 1000)))
    link = import_link([heavy, light]).link.write(tmp_path / "both")
    idle = airtcp.run(link, settings={"flows.kind": "ping", "duration": "20 s"})
    assert idle.summary["flows"][0]["rtt_p99_ms"] == pytest.approx(40, rel=0.02)
    load = airtcp.run(link, settings={"duration": "20 s"})
    of_packets = 1400 * 8 * 200 * 1448 / 1500
    assert load.summary["goodput_bps"] == pytest.approx(of_packets, rel=0.03)


def test_each_direction_has_its_own_delays(tmp_path: Path) -> None:
    down = write(tmp_path / "light.down", "".join(f"{500 * n} 20 0 1\n" for n in range(11)))
    up = write(tmp_path / "light.up", "".join(f"{500 * n} 35 0 1\n" for n in range(9)))
    heavy = [trace(tmp_path / f"heavy.{way}", 5, 1000) for way in ("down", "up")]
    found = import_link([*heavy, down, up])
    for file, delay in (("delays.csv", "20.0000"), ("delays.up.csv", "35.0000")):
        assert str(found.link.files[file]).splitlines()[1] == f"0.000,{delay},0"
    assert "delays of both ways repeat after 5.000 s, as light.down is long" in said(found)
    assert "those of light.up, of 4.000 s, keep their last value until then" in said(found)
    assert "light.down repeat after" not in said(found)
    assert "light.up repeat after 4.000 s, the heavy ones up after 5.000 s" in said(found)
    played(found, tmp_path)
    link = tmp_path / "out" / "link.toml"
    run = airtcp.run(link, settings={"flows.kind": "ping", "duration": "5 s"})
    assert run.summary["flows"][0]["min_rtt_ms"] == pytest.approx(55, rel=0.01)


def test_files_of_another_link_stay(tmp_path: Path) -> None:
    first, second = (
        iperf3(tmp_path / f"{name}.json", rate, (30_000,))
        for name, rate in (("a", 20.0), ("b", 5.0))
    )
    fast, slow = trace(tmp_path / "fast", 1, 300), trace(tmp_path / "slow", 9, 300)

    def imported(*words: Path | str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["import", *map(str, words)])
        return done.exit_code, done.output

    assert imported(fast, "-o", tmp_path / "fast.toml")[0] == 0
    code, said = imported(slow, "-o", tmp_path / "slow.toml")
    assert code == 2
    assert "link.down is there, of another link" in said.replace("\n", " ")
    assert imported(slow, "-o", tmp_path / "fast.toml")[0] == 0
    assert imported(first, "-o", tmp_path / "a.toml")[0] == 0
    assert imported(second, "-o", tmp_path / "b.toml")[0] == 0


def test_cellreplays_files_come_back(tmp_path: Path) -> None:
    texts = {
        "light.down": "0 20 0 0 3 6\n500 21 0 1 2 8\n1000 20 0 0 0 5\n",
        "light.up": "0 30.25 0 2\n500 31 0 1 2 8\n1000 30 0 9\n",
        # Several in a millisecond, the first one at 0, and a gap at the end.
        "heavy.down": "".join(f"{n * n // 40}\n" for n in range(260)) + "2000\n",
        "heavy.up": "".join(f"{3 + 7 * n // 2}\n" for n in range(120)) + "999\n",
    }
    files = [write(tmp_path / name, text) for name, text in texts.items()]
    scenario = airtcp.load_scenario(import_link(files).link.write(tmp_path / "link"))
    _, notes = export_link(scenario, "cellreplay", tmp_path / "out")
    for name, text in texts.items():
        assert (tmp_path / "out" / name).read_text() == text, name
    assert not any("one is written when" in note for note in notes)
    _, notes = export_link(scenario, "mahimahi", tmp_path / "other")
    assert any("link.trace.light" in note for note in notes)
    assert any("have 1400 bytes, mahimahi's 1500" in note for note in notes)
    times = (tmp_path / "other" / "link.down").read_text().split()
    # 261 times 1400 bytes are 243 packets, and the last time is the period.
    assert (len(times), times[-1]) == (261 * 1400 // 1500, "2000")


def test_tc_is_played_as_it_was_set(tmp_path: Path) -> None:
    text = "tc qdisc add dev eth0 root netem delay 50ms loss 1% rate 12mbit limit 150\n"
    found = import_link([write(tmp_path / "set.sh", text)])
    link = link_of(found)
    assert (link["rate"], link["delay"], link["loss"]) == (
        "12000000 bit/s",
        "50 ms",
        {"rate": 0.01},
    )
    # 50 packets of 1500 bytes are in 50 ms of 12 Mbit/s, 100 wait.
    assert link["queue"] == {"packets": 100}
    played(found, tmp_path)
    jitter = "tc qdisc add dev eth0 root netem delay 50ms 10ms\n"
    link = link_of(import_link([write(tmp_path / "jitter.sh", jitter)]))
    assert link["delay"] == "40 ms"
    assert link["jitter"] == {"mean": "10 ms", "shape": "uniform", "order": "reorder"}
    burst = "tc qdisc add dev eth0 root netem loss gemodel 1% 10% 70% 0.1%\n"
    with pytest.raises(ScenarioError, match="neither a rate nor a delay"):
        import_link([write(tmp_path / "burst.sh", burst)])
    found = import_link([tmp_path / "burst.sh"], Choices(rate="5 Mbit/s"))
    assert link_of(found)["loss"] == {
        "model": "gilbert-elliott",
        "good_to_bad": 0.01,
        "bad_to_good": 0.1,
        "loss_in_bad": 0.7,
        "loss_in_good": 0.001,
    }
    played(found, tmp_path)
    two = "qdisc tbf 1: dev a root refcnt 2 rate 1Mbit burst 5Kb lat 100ms\n" * 2
    two = two.replace("dev a", "dev b", 1)
    with pytest.raises(ScenarioError, match="--device b"):
        import_link([write(tmp_path / "two.txt", two)])


def test_a_table_of_netem_is_drawn_from(tmp_path: Path) -> None:
    values = [8 * (n - 512) for n in range(1024)]
    rows = "".join(" " + " ".join(map(str, values[n : n + 8])) + "\n" for n in range(0, 1024, 8))
    table = write(tmp_path / "own.dist", "# uniform within a half\n" + rows)
    text = "tc qdisc add dev eth0 root netem delay 50ms 10ms distribution own\n"
    command = write(tmp_path / "set.sh", text)
    with pytest.raises(ScenarioError, match=r"own\.dist of iproute2"):
        import_link([command])
    found = import_link([command, table])
    delays = [
        float(row.split(",")[1]) for row in str(found.link.files["delays.csv"]).splitlines()[1:]
    ]
    assert sum(delays) / len(delays) == pytest.approx(50, abs=0.1)
    assert (min(delays), max(delays)) == pytest.approx((45, 55), abs=0.1)


def test_a_series_carries_remainders(tmp_path: Path) -> None:
    # 1.5 packets a step: what a step leaves over belongs to the next.
    times, is_cut = opportunities([(0.01, 1.8e6)] * 1000)
    assert len(times) == 1500
    assert not is_cut
    assert mean_bps(times) == pytest.approx(1.8e6, rel=1e-3)
    cooked = write(tmp_path / "cooked", "".join(f"{n} {1 + n % 3}\n" for n in range(60)))
    found = import_link([cooked])
    lines = times_of(found)
    assert mean_bps(lines) == pytest.approx(2e6, rel=0.01)
    assert "a lower bound" in said(found)
    assert played(found, tmp_path).name == "cooked"


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_says_what_it_cannot_have(target: str, tmp_path: Path) -> None:
    written, notes = export_link(load_scenario("cellular"), target, tmp_path)
    assert written
    assert all(path.read_bytes() for path in written)
    limited = load_scenario("wifi-suspension")
    notes = export_link(limited, target, tmp_path)[1]
    assert any("stops of the link" in note for note in notes)
    with pytest.raises(ScenarioError, match="has a medium"):
        export_link(load_scenario("wlan-upload"), target, tmp_path)


def test_netems_commands_come_back_as_the_same_link(tmp_path: Path) -> None:
    scenario = Scenario.parse(
        '[link]\nrate = "12 Mbit/s"\ndelay = "50 ms"\n[link.queue]\npackets = 100\n'
        "[link.loss]\nrate = 0.01\n"
    )
    export_link(scenario, "netem", tmp_path)
    line = (tmp_path / "link.netem.sh").read_text().splitlines()[4].replace('"$down"', "eth0")
    link = link_of(import_link([write(tmp_path / "back.sh", line)]))
    assert (link["rate"], link["delay"], link["loss"]) == (
        "12000000 bit/s",
        "50 ms",
        {"rate": 0.01},
    )
    assert link["queue"] == {"packets": 100}


def test_commands_that_take_a_link_take_the_file(tmp_path: Path) -> None:
    path = iperf3(tmp_path / "x.json", 9.4, (20_000, 48_000, 50_000))
    packed = write(tmp_path / "x.gz", gzip.compress(path.read_bytes()))
    for file in (path, packed):
        run = airtcp.run(file, settings={"duration": "5 s"})
        assert run.summary["goodput_bps"] > 5e6


def test_the_command_writes_a_link_and_says_what_it_assumed(tmp_path: Path) -> None:
    path = iperf3(tmp_path / "x.json", 9.4, (20_000, 48_000, 50_000))
    target = tmp_path / "link.toml"
    result = CliRunner().invoke(app, ["import", str(path), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "Its direction is up" in result.output
    assert tomllib.loads(target.read_text())["flows"]["direction"] == "up"
    result = CliRunner().invoke(app, ["import", "--formats"])
    assert all(one.name in result.output for one in formats_known())
    result = CliRunner().invoke(app, ["import", str(path), "--rtt", "soon"])
    assert "expected a time" in result.output
    result = CliRunner().invoke(app, ["export", str(target), "--as", "x", "--out", str(tmp_path)])
    assert "expected one of netem, mahimahi" in result.output


def starlink_log(path: Path, period_s: float, seed: int = 1) -> Path:
    """A ping each 0.2 s for six minutes; the base delay is another one each period."""
    rng = np.random.default_rng(seed)
    lines = ["PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n"]
    bases = rng.uniform(24, 44, 400)
    for n in range(1800):
        at = n / 5
        ms = bases[int((at + 3) / period_s)] + rng.exponential(1.5)
        lines.append(
            f"[{1.7e9 + at + ms / 1e3:.6f}] 64 bytes from 192.0.2.9: icmp_seq={n} ttl=57 "
            f"time={ms:.1f} ms\n"
        )
    return write(path, "".join(lines))


def test_a_ping_of_starlink_shows_no_queue(tmp_path: Path) -> None:
    for seed in range(5):
        log = read_ping(starlink_log(tmp_path / "leo.ping", 15.0, seed))
        sentence = starlink_sentence(log, log.hosts)
        assert sentence is not None
        assert "delays that change each 15 s" in sentence
        assert "does not show the queue" in sentence
        assert "airtcp measure HOST" in sentence
    for seed in range(5):
        for period in (9.0, 13.0, 20.0, 600.0):
            log = read_ping(starlink_log(tmp_path / "other.ping", period, seed))
            assert starlink_sentence(log, log.hosts) is None, (seed, period)
    assert starlink_sentence(read_ping(ping(tmp_path / "x.ping")), ()) is None


def test_a_ping_of_a_day_is_judged_as_a_shorter_one() -> None:
    """Each change of a day at each phase and period took 40 s of processor time."""

    def day(period_s: float) -> PingLog:
        rng = np.random.default_rng(1)
        time_s = np.arange(0.0, 86_400.0, 0.5)
        bases = rng.uniform(0.024, 0.044, 10_000)[(time_s / period_s).astype(int)]
        rtt_s = bases + rng.exponential(0.0015, len(time_s))
        return PingLog(Path("day.ping"), time_s, rtt_s, 0.5, "stamps")

    began = time.process_time()
    assert changes_each_15_s(day(15.0))
    assert not changes_each_15_s(day(13.0))
    assert time.process_time() - began < 20.0


def test_the_guide_lists_every_format() -> None:
    page = (ROOT / "docs/guides/links.md").read_text(encoding="utf-8")
    assert write_formats.written(page) == page, "run python pages/write_formats.py"


def test_python_diagnoses_a_series_as_the_command_line_does(tmp_path: Path) -> None:
    rows = "".join(f"{n} {4 + n % 3}\n" for n in range(40))
    path = write(tmp_path / "series.txt", rows)
    found = airtcp.diagnose(path, rounds=Rounds(most_seeds=2, most_cpu_s=20.0))
    assert isinstance(found, airtcp.DiagnosedLink)
    assert "throughputs" in found.headline
    shown = CliRunner().invoke(app, ["diagnose", str(path), "--json", "--seeds=2", "--max-cpu=20"])
    assert shown.exit_code == 0, shown.output
    said_there = json.loads(shown.stdout)["sentences"]
    assert said_there[0] == found.headline
    assert set(found.imported.said[1:]) <= set(said_there)
    with pytest.raises(ScenarioError, match="--sender is for captures"):
        airtcp.diagnose(path, sender="cubic")


@pytest.mark.parametrize(
    ("source", "words"),
    [("", "is a folder; give one"), ("https://host/x.ping", "is a web address")],
)
def test_what_is_no_file_is_named(tmp_path: Path, source: str, words: str) -> None:
    place = source or str(tmp_path)
    for command in ("import", "diagnose"):
        done = CliRunner().invoke(app, [command, place])
        assert done.exit_code == 2
        assert words.partition(";")[0] in done.output
