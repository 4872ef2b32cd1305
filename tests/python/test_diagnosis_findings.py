"""Causes other than the link: each on a capture that has it, and not on its neighbour."""

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.core.catalogue import remedies
from airtcp.core.quantities import format_bit_rate
from airtcp.diagnosis.capture_answer import diagnosed, flow_of
from airtcp.diagnosis.findings.buffer import flight_bound, send_buffer
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.mtu import mtu_hole
from airtcp.diagnosis.findings.other_way import OtherWay, other_way
from airtcp.diagnosis.findings.own_data import departs_in_bursts, own_wait_s
from airtcp.diagnosis.findings.receiver_side import receiver_side
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.sockets import parsed
from airtcp.diagnosis.tables import Segments

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import faults
import pcapng
from packets import Connection, write
from two_ways import two_ways


def of(path: Path, **options: object) -> Diagnosis:
    """The diagnosis of the first flow, without trials."""
    return diagnosed(read_capture(path, 1, None), None, **options)  # type: ignore[arg-type]


def kinds(found: Diagnosis) -> list[str]:
    return [one.kind for one in found.findings]


def test_packets_that_never_arrive_by_their_length_are_a_hole(tmp_path: Path) -> None:
    found = of(faults.mtu_hole(tmp_path / "a.pcap"))
    assert kinds(found) == ["mtu-hole"]
    assert found.headline.startswith(
        "Packets of 1500 bytes never arrive (all 17 were lost), those of up to 352 bytes do"
    )
    assert "tcp_mtu_probing=1" in found.headline
    # A peer that went away with the first long packet would look the same: that is said.
    assert any("a peer that went away" in line for line in found.sentences)
    assert any("sysctl -w net.ipv4.tcp_mtu_probing=1" in line for line in found.deployment)
    assert any("advmss" in line for line in found.deployment)


def test_headers_of_a_hole_are_those_of_the_hosts_family(tmp_path: Path) -> None:
    capture = read_capture(faults.probing_sender(tmp_path / "a.pcap"), 1, None)
    facts = capture.facts
    assert facts is not None
    for receiver, probe, clamp in (
        ("192.0.2.1:80", "-s 1472 192.0.2.1", "mss-clamp:bytes=1036"),
        ("[2001:db8::1]:80", "-s 1452 2001:db8::1", "mss-clamp:bytes=1016"),
    ):
        found = mtu_hole(replace(capture, facts={**facts, "receiver": receiver}))
        assert found is not None
        assert any(probe in line for line in found.evidence)
        assert clamp in found.remedies


def test_a_file_that_lists_its_packets_backward_shows_no_hole(tmp_path: Path) -> None:
    """No acknowledgment comes after its data there, and nothing takes any time."""
    recorded = faults.peer_gone(tmp_path / "a.pcap").read_bytes()
    records, at = [], 24
    while at < len(recorded):
        end = at + 16 + int.from_bytes(recorded[at + 8 : at + 12], "little")
        records.append(recorded[at:end])
        at = end
    backward = tmp_path / "backward.pcap"
    backward.write_bytes(recorded[:24] + b"".join(reversed(records)))
    found = of(backward)
    assert not kinds(found)
    assert "No remedy is recommended" in found.headline


def test_a_short_packet_that_arrives_afterwards_leaves_no_doubt(tmp_path: Path) -> None:
    found = of(faults.mtu_hole(tmp_path / "a.pcap", has_short_after=True))
    assert "Packets of 1500 bytes never arrive" in found.headline
    assert "those of up to 1252 bytes do" in found.headline
    assert not any("a peer that went away" in line for line in found.sentences)


def test_a_sender_that_probes_loses_by_length_and_not_to_the_radio(tmp_path: Path) -> None:
    found = of(faults.probing_sender(tmp_path / "a.pcap"))
    assert kinds(found) == ["mtu-hole"]
    assert "Packets of 1500 bytes never arrive" in found.headline
    assert "those of up to 1076 bytes do" in found.headline


def test_a_peer_that_answers_nothing_more_is_gone(tmp_path: Path) -> None:
    found = of(faults.peer_gone(tmp_path / "a.pcap"))
    assert kinds(found)[0] == "peer-gone"
    assert found.headline.startswith("The peer is gone: nothing came from it after 8.0 s, and 6")


@pytest.mark.parametrize(("delay_s", "words"), [(0.04, "40 ms"), (0.2, "200 ms")])
def test_small_writes_wait_for_a_delayed_acknowledgment(
    tmp_path: Path, delay_s: float, words: str
) -> None:
    found = of(faults.small_writes(tmp_path / "a.pcap", delay_s, count=100))
    assert kinds(found) == ["small-writes"]
    assert "100 times the rest of a message waited (Nagle) for the acknowledgment of its " in (
        found.headline
    )
    assert f"which the receiver delays by {words}" in found.headline
    facts = found.capture.facts
    assert facts is not None
    waited = 100 * (0.008 + delay_s)
    assert facts["seconds"]["small_writes"] == pytest.approx(waited, rel=0.02)
    # Data is in flight but for the time from an answer to the next request.
    assert facts["under_way_s"] == pytest.approx(sum(facts["seconds"].values()), rel=0.03)
    assert any("TCP_NODELAY" in line for line in found.deployment)


def test_data_is_under_way_where_the_clock_gives_an_answer_and_the_next_send_one_time(
    tmp_path: Path,
) -> None:
    """The file has the acknowledgment first: it was taken for one that left nothing in flight."""
    facts = of(faults.small_writes(tmp_path / "a.pcap", host_s=0.0)).capture.facts
    assert facts is not None
    assert facts["under_way_s"] == pytest.approx(sum(facts["seconds"].values()), rel=0.03)


@pytest.mark.parametrize("has_timestamps", [True, False])
def test_small_writes_are_seen_at_their_receiver(tmp_path: Path, *, has_timestamps: bool) -> None:
    path = tmp_path / "a.pcap"
    found = of(faults.small_writes_at_receiver(path, has_timestamps=has_timestamps))
    assert found.sentences[0].startswith("Small writes: 200 times")
    assert "delays by 40 ms" in found.sentences[0]
    prompt = faults.small_writes_at_receiver(path, 0.005, has_timestamps=has_timestamps)
    assert not of(prompt).sentences[0].startswith("Small writes")


def test_a_hole_is_seen_at_the_receiver_by_a_gap_that_stays(tmp_path: Path) -> None:
    found = of(faults.mtu_hole_at_receiver(tmp_path / "a.pcap"))
    assert found.sentences[0].startswith(
        "14.5 kB never arrived in 14.9 s, though packets of up to 1252 bytes sent after them did"
    )
    assert "path MTU black hole" in found.sentences[0]
    assert "ping -M do -s 1472 10.0.0.1" in found.sentences[1]
    gone = of(faults.mtu_hole_at_receiver(tmp_path / "a.pcap", arrives=True))
    assert "black hole" not in gone.sentences[0]


def test_requests_of_one_write_wait_for_their_answers_alone(tmp_path: Path) -> None:
    assert "small-writes" not in kinds(of(faults.requests(tmp_path / "a.pcap")))


def test_a_sender_with_the_same_bytes_in_flight_has_a_small_buffer(tmp_path: Path) -> None:
    path = faults.bounded_sender(tmp_path / "a.pcap")
    found = of(path)
    assert kinds(found) == ["send-buffer"]
    assert "of 20.0 Mbit/s, at a round trip of 101 ms" in found.headline
    assert "link full" not in " ".join(found.sentences)
    sockets = parsed(
        "ESTAB 0 65536 10.0.0.1:40000 10.0.0.2:5001\n\t cubic rto:300 rtt:120/2 mss:1448 cwnd:102 "
        "bytes_sent:7862420 bytes_acked:7796885 segs_out:5520 data_segs_out:5518 busy:15396ms "
        "sndbuf_limited:13760ms(89.4%) minrtt:100.9\n",
        "ss.txt",
    )
    counted = of(path, sockets=sockets)
    assert "The sender's own buffer holds the flow back for 89 % of the time" in counted.headline


@pytest.mark.parametrize(
    ("is_clocked", "bps", "is_bound"),
    [(True, 20e6, True), (True, 5.4e6, False), (False, 20e6, False)],
)
def test_a_buffer_filled_to_the_byte_is_told_without_the_rate(
    tmp_path: Path, *, is_clocked: bool, bps: float, is_bound: bool
) -> None:
    """Acknowledgments release its data, in a part of each round trip.

    Not where they come evenly, as over a full link, nor where the data comes by itself.
    """
    path = faults.acknowledged_evenly(tmp_path / "a.pcap", bps=bps, is_clocked=is_clocked)
    assert ("send-buffer" in kinds(of(path))) == is_bound


def test_a_sender_that_fills_the_link_has_no_small_buffer(tmp_path: Path) -> None:
    path = faults.bounded_sender(tmp_path / "a.pcap", segments=240)
    assert "send-buffer" not in kinds(of(path))


@pytest.mark.parametrize("kbps", [200, 5000, 14_000])
@pytest.mark.parametrize("burst", [1, 20])
def test_data_that_leaves_evenly_has_a_shaper_before_the_capture(
    tmp_path: Path, kbps: int, burst: int
) -> None:
    """Of any rate below the link's, with tokens saved for a burst or without."""
    path = faults.shaped_sender(tmp_path / "a.pcap", kbps * 1e3, burst)
    found = of(path)
    assert kinds(found) == ["shaper"]
    rate = format_bit_rate(kbps * 1e3)
    assert found.sentences[0].startswith(f"Data leaves evenly at {rate}, whatever is acknowledged")
    assert ("A burst went through" in " ".join(found.sentences)) == (burst > 6)


def test_segments_of_one_instant_lie_on_no_line(tmp_path: Path) -> None:
    """A write a second, of which a coarse clock or offload gives all segments one time."""
    flow = Connection(window=4_000_000)
    flow.open(0.0, 0.02)
    start = 0
    for second in range(1, 17):
        for _ in range(42):
            flow.data(float(second), start, 1448)
            start += 1448
        flow.ack(second + 0.02, start)
    assert "shaper" not in kinds(of(write(tmp_path / "a.pcap", flow)))


def test_a_window_that_fills_the_link_to_the_packet_is_no_shaper(tmp_path: Path) -> None:
    """Its data leaves as evenly, once the first round trips are over."""
    path = tmp_path / "a.pcapng"
    link = {"duration": "12 s", "link.loss.rate": 0}
    for segments in (42, 43, 44, 46):
        airtcp.run("lossy-pipe", settings=link | {"tcp.max_window": segments}, pcap=path)
        assert "shaper" not in kinds(of(path)), segments


@pytest.mark.parametrize("control", ["vegas", "ledbat", "bbr", "bbr-v3", "copa", "sprout"])
def test_a_control_that_keeps_to_the_links_rate_is_no_shaper(tmp_path: Path, control: str) -> None:
    path = tmp_path / "a.pcapng"
    link = {"duration": "12 s", "link.loss.rate": 0}
    airtcp.run("lossy-pipe", settings=link, remedies=control, pcap=path)
    assert "shaper" not in kinds(of(path))


def test_a_capture_without_data_has_no_bound(tmp_path: Path) -> None:
    found = of(faults.bounded_sender(tmp_path / "a.pcap"))
    assert found.flow is not None
    tables = replace(found.capture.tables, segments=Segments())
    empty = replace(found.capture, tables=tables)
    assert flight_bound(tables.segments, found.flow) is None
    assert send_buffer(empty, found.flow, found.link, None) is None


@pytest.mark.parametrize(
    ("flows", "is_own", "who"),
    [
        (0, True, "this connection's own data"),
        (0, False, "other transfers"),
        (1, False, "another transfer"),
        (3, False, "3 other transfers"),
    ],
)
def test_whose_data_goes_the_other_way(flows: int, who: str, *, is_own: bool) -> None:
    assert OtherWay(1e6, flows, is_own).who == who


def test_acknowledgments_that_wait_behind_another_transfer_are_told(tmp_path: Path) -> None:
    found = of(two_ways(tmp_path / "a.pcap"))
    assert kinds(found) == ["other-way"]
    assert found.headline.startswith("Traffic the other way: acknowledgments wait behind another")
    assert found.link is not None
    # Of 6 Mbit/s the other transfer's acknowledgments have some: bunches make no 40 of it.
    assert 4.3e6 < found.link.bps < 6.1e6
    alone = of(two_ways(tmp_path / "b.pcap", windows=(50, 0)))
    assert kinds(alone) == []
    # Little traffic the other way, which holds up nothing.
    assert kinds(of(two_ways(tmp_path / "c.pcap", windows=(50, 2)))) == []


def test_bursts_of_data_show_bunched_acknowledgments_at_the_receiver(tmp_path: Path) -> None:
    def at_receiver(path: Path) -> CaptureFinding | None:
        seen = of(path)
        facts = seen.capture.facts
        assert facts is not None
        moved = replace(seen.capture, facts={**facts, "view": "receiver"})
        return other_way(moved, seen.flow, seen.latency)

    found = at_receiver(two_ways(tmp_path / "a.pcap"))
    assert found is not None
    assert "of the data comes in the bursts that they release" in found.sentence
    assert at_receiver(two_ways(tmp_path / "b.pcap", windows=(50, 2))) is None


@pytest.mark.parametrize("is_fair", [False, True])
def test_the_receiver_of_a_transfer_shows_its_own_data_the_other_way(
    tmp_path: Path, *, is_fair: bool
) -> None:
    path = two_ways(tmp_path / "a.pcap", windows=(120, 50), is_fair=is_fair)
    capture = read_capture(path, 2, None)
    facts = capture.facts
    assert facts is not None
    assert facts["view"] == "receiver"
    # A fair queue sends acknowledgments ahead of data that waits.
    assert kinds(diagnosed(capture, None)) == ([] if is_fair else ["other-way"])
    flow = flow_of(capture)
    moved = capture.at_sender
    assert flow is not None
    assert moved is not None
    wait_s = own_wait_s(capture, flow)
    assert wait_s is not None
    assert wait_s > 0.02
    assert departs_in_bursts(moved.segments) is not is_fair


def test_a_small_upload_is_the_cause_where_acknowledgments_wait(tmp_path: Path) -> None:
    seen = of(two_ways(tmp_path / "a.pcap"))
    # A sixteenth of the upload is three times the acknowledgments.
    tables = seen.capture.tables
    flows = [
        one if one.number == 1 else replace(one, bytes=one.bytes // 16) for one in tables.flows
    ]
    tables = replace(tables, flows=tuple(flows))
    assert other_way(replace(seen.capture, tables=tables), seen.flow, seen.latency) is None
    # The receiver's timestamps show a wait of up to 60 ms, which grows and ends every 2 s.
    acks = tables.acks
    wait = acks.time_ns // 1_000_000 % 2000 * 60 // 2000
    tables = replace(tables, acks=replace(acks, timestamp=acks.timestamp - wait))
    found = other_way(replace(seen.capture, tables=tables), seen.flow, seen.latency)
    assert found is not None
    assert found.sentence.startswith("Traffic the other way: acknowledgments wait behind another")


@pytest.mark.parametrize(
    ("rate", "back", "packets"),
    [("20 Mbit/s", "200 kbit/s", 100), ("20 Mbit/s", "100 kbit/s", 1000)],
)
def test_acknowledgments_that_fill_the_way_back_are_told_with_its_rate(
    tmp_path: Path, rate: str, back: str, packets: int
) -> None:
    keys = {"link.rate": rate, "link.delay": "20 ms", "link.loss.rate": 0, "tcp.profile": "linux"}
    slow = {"link.reverse.rate": back, "link.reverse.queue.packets": packets}
    text = 'name = "asymmetric"\nduration = "12 s"\n'
    airtcp.run(text, settings=keys | slow, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    assert found.sentences[0].startswith("A slow way back: acknowledgments wait")
    assert f"about {back}" in found.sentences[0]
    airtcp.run(text, settings=keys, pcap=tmp_path / "a.pcapng")
    assert "way back" not in of(tmp_path / "a.pcapng").sentences[0]
    # Delays that vary on the way back are no queue of acknowledgments.
    jitter = {"link.reverse.jitter": {"mean": "30 ms", "shape": "exponential"}}
    airtcp.run(text, settings=keys | jitter, pcap=tmp_path / "a.pcapng")
    assert "way back" not in of(tmp_path / "a.pcapng").sentences[0]


def test_a_download_without_timestamps_is_told_at_its_receiver(tmp_path: Path) -> None:
    found = of(faults.at_receiver(tmp_path / "a.pcap"))
    assert kinds(found) == ["receiver-side"]
    assert "came late" not in found.headline
    assert "nothing came for 2.0 s of it, in one silence" in found.headline
    assert "48 packets (0.89 %) were lost before they came here" in found.headline
    facts = found.capture.facts
    assert facts is not None
    for closed, words in ((1, "once"), (2, "twice"), (3, "3 times")):
        said = receiver_side(replace(found.capture, facts={**facts, "zero_windows": closed}))
        assert said is not None
        assert f"this host closed its window {words}: its application" in said.sentence


JITTER = """
name = "captured"
duration = "30 s"
[link]
rate = "8 Mbit/s"
delay = "20 ms"
queue = { packets = 100 }
jitter = { mean = "3 ms", shape = "exponential", order = "reorder" }
[tcp]
profile = "linux"
"""


def test_packets_that_overtake_each_other_are_not_lost(tmp_path: Path) -> None:
    airtcp.run(JITTER, 3, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    assert found.link is not None
    assert found.link.jitter is not None
    assert found.link.jitter.mean_s == pytest.approx(0.003, rel=0.1)
    assert found.link.bps == pytest.approx(8e6, rel=0.03)
    assert found.link.loss.lost == 0
    assert "packets overtake each other" in found.headline
    assert "rate that varies" not in " ".join(found.sentences)


def test_a_link_with_jitter_and_no_losses_blames_no_radio(tmp_path: Path) -> None:
    airtcp.run(JITTER, 3, settings={"link.jitter.mean": "8 ms"}, pcap=tmp_path / "a.pcapng")
    found = of(tmp_path / "a.pcapng")
    assert found.link is not None
    assert found.link.loss.lost == 0
    assert found.labels.filter(pl.col("cause") == "radio").height > 0
    assert "radio" not in " ".join(found.sentences)
    assert "jitter or a full queue" in " ".join(found.sentences)


OTHERS = """
name = "captured"
duration = "40 s"
[link]
rate = "10 Mbit/s"
delay = "25 ms"
queue = { packets = 100 }
loss = { rate = 0.01 }
[tcp]
profile = "linux"
[flows]
count = 2
unchanged = 1
kind = ["tcp", "udp"]
udp = { rate = "4 Mbit/s", size = 1472 }
"""


def test_capacity_that_others_take_unseen_is_not_the_flows_to_gain(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    airtcp.run(OTHERS, 3, pcap=path)
    pcapng.only_port(path, flow=0)
    found = of(path)
    assert found.ceiling is not None
    assert found.ceiling.is_shared
    assert found.ceiling.most_bps < 6.2e6
    # The same link without the others is the flow's.
    airtcp.run(OTHERS, 3, settings={"flows.udp.rate": "1 kbit/s"}, pcap=path)
    pcapng.only_port(path, flow=0)
    alone = of(path)
    assert alone.ceiling is not None
    assert not alone.ceiling.is_shared


def test_what_ends_a_finding_is_in_the_catalogue() -> None:
    known = {one["name"] for one in remedies()}
    assert {"mtu-probing", "mss-clamp", "nodelay", "delayed-ack", "fq-codel", "cake"} <= known


def test_a_gain_is_no_larger_than_the_link_lets_through(tmp_path: Path) -> None:
    link = "\n".join(OTHERS.splitlines()[:10]).replace("40 s", "12 s")
    airtcp.run(link, 3, pcap=tmp_path / "a.pcapng")
    found = diagnosed(read_capture(tmp_path / "a.pcapng", 1, None), "all")
    assert found.ceiling is not None
    assert found.trials is not None
    for row in found.trials.rows:
        assert row.effect.high <= found.ceiling.gain_percent + 1e-6
    # The capture does not show which of these the sender uses: neither is tried.
    names = {row.remedy for row in found.trials.rows}
    assert not names & {"cubic", "reno"}
    assert any("The sender may use" in line for line in found.sentences)


def test_the_options_of_a_search_are_those_of_compare(tmp_path: Path) -> None:
    path = faults.bounded_sender(tmp_path / "a.pcap")
    wrong = CliRunner().invoke(app, ["diagnose", str(path), "--sender", "vegas"])
    assert wrong.exit_code == 2
    assert "--sender vegas: expected the congestion control in use: cubic, reno, bbr" in (
        " ".join(wrong.output.split())
    )
    timed = CliRunner().invoke(app, ["diagnose", str(path), "--for", "60s"])
    assert timed.exit_code == 2
    options = ["--for", "latency", "--seeds", "3", "--worth", "5", "--max-cpu", "10"]
    options += ["--can", "all"]
    done = CliRunner().invoke(app, ["diagnose", str(path), "--sender", "cubic", *options])
    assert done.exit_code == 0, done.output


def test_a_sender_whose_data_waits_for_room_in_its_buffer_is_the_sender(tmp_path: Path) -> None:
    """Most of it leaves later than the acknowledgment that releases it, but never earlier."""
    keys = {
        "link.rate": "30 Mbit/s",
        "link.delay": "40 ms",
        "link.queue.packets": 200,
        "tcp.profile": "linux",
        "tcp.send_buffer": "128 kB",
    }
    path = tmp_path / "a.pcapng"
    airtcp.run('name = "captured"\nduration = "12 s"\n', 7, settings=keys, pcap=path)
    found = of(path)
    assert found.capture.facts is not None
    assert found.capture.facts["view"] == "sender"
    assert kinds(found)[0] == "send-buffer"
