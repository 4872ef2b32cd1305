"""First sentences about captures of links with a known problem."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import airtcp
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.late import Late
from airtcp.diagnosis.limits import seen_limits
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

from answers import KINDS, Right, judged
from cases import cases

PLAIN = {
    "link.rate": "10 Mbit/s",
    "link.delay": "25 ms",
    "link.queue.packets": "100",
    "tcp.profile": "linux",
}


def found(folder: Path, **settings: str) -> Diagnosis:
    """The diagnosis, without remedies, of a run; `__` in a key's name is a dot."""
    path = folder / "a.pcapng"
    keys = {key.replace("__", "."): value for key, value in settings.items()}
    airtcp.run('name = "captured"\nduration = "24 s"\n', 5, PLAIN | keys, pcap=path)
    return diagnosed(read_capture(path, 1, None), None)


def test_losses_are_named(tmp_path: Path) -> None:
    said = found(tmp_path, link__loss__rate="0.01").headline
    assert "the link loses" in said
    assert "No remedies were tried (pass --can to try them)." in said


def test_late_packets_are_fitted_and_named(tmp_path: Path) -> None:
    one = found(tmp_path, link__late__share="0.004", link__late__by="60 ms")
    assert one.link is not None
    assert one.link.late is not None
    assert one.link.late.by_s == pytest.approx(0.06, rel=0.05)
    assert one.link.late.share == pytest.approx(0.004, rel=0.35)
    assert "60 ms late, behind others" in one.headline or "59 ms late" in one.headline


def test_a_queue_that_marks_is_played_as_one(tmp_path: Path) -> None:
    marking = {"link__aqm__discipline": "codel", "link__aqm__ecn": "true", "tcp__ecn": "request"}
    one = found(tmp_path, link__queue__packets="1000", **marking)
    assert one.link is not None
    assert one.link.drops.marks
    assert one.replay is not None
    assert one.replay.explains, one.replay.deviations
    facts = one.capture.facts
    assert facts is not None
    # A window that shrinks at marks is not an application that has no more.
    assert facts["shares"]["application"] < 0.02


def test_a_full_link_is_named_where_no_link_explains_the_capture(tmp_path: Path) -> None:
    """Few late packets among thousands are no limit; many are, and are named in its place."""
    one = found(tmp_path, link__queue__packets="400")
    assert one.link is not None
    assert one.flow is not None
    facts = one.capture.facts
    assert facts is not None
    seen = seen_limits(facts, one.flow, one.link, one.capture.tables.labels)
    assert len(seen) == 1
    assert seen[0].startswith("the link is full for 9")
    assert "and data waits" in seen[0]
    few = replace(one.link, late=Late(0.0004, 0.06))
    assert seen_limits(facts, one.flow, few, one.capture.tables.labels) == seen
    many = replace(one.link, late=Late(0.004, 0.06))
    assert seen_limits(facts, one.flow, many, one.capture.tables.labels) == [
        "0.4 % of the packets come 60 ms late, behind others"
    ]


def test_a_rate_that_falls_late_is_a_step(tmp_path: Path) -> None:
    times = [1 + at * 6 // 5 for at in range(15_000)] + list(range(18_006, 60_001, 6))
    trace = tmp_path / "step.opportunities"
    trace.write_text("".join(f"{at}\n" for at in times))
    toml = (
        'name = "captured"\nduration = "24 s"\n[link]\ndelay = "25 ms"\nqueue.packets = 100\n'
        f'trace = {{ up = "{trace}", data = "up" }}\n'
    )
    path = tmp_path / "a.pcapng"
    airtcp.run(toml, 5, {"tcp.profile": "linux"}, pcap=path)
    one = diagnosed(read_capture(path, 1, None), None)
    assert one.link is not None
    step = one.link.rate.step
    assert step is not None
    assert step.at_s == pytest.approx(18.0, abs=0.5)
    assert (step.before_bps, step.after_bps) == pytest.approx((10e6, 2e6), rel=0.03)
    assert "rate goes from" in one.headline
    assert one.replay is not None
    assert one.replay.explains, one.replay.deviations


def test_a_lone_stop_is_ranked_with(tmp_path: Path) -> None:
    (tmp_path / "stops.csv").write_text("start_ms,length_ms\n9000,2500\n")
    toml = (
        'name = "captured"\nduration = "24 s"\n[link]\nrate = "10 Mbit/s"\ndelay = "25 ms"\n'
        f'stops = {{ process = "recorded", path = "{tmp_path / "stops.csv"}" }}\n'
    )
    path = tmp_path / "a.pcapng"
    airtcp.run(toml, 5, {"tcp.profile": "linux"}, pcap=path)
    one = diagnosed(read_capture(path, 1, None), None)
    assert one.link is not None
    assert one.link.stops.are_few
    assert not one.refusals
    assert "stalls" in one.headline


def test_sentences_are_judged() -> None:
    losses = Right(("loss",), ("full",))
    right = judged("The flow gets 3 of 9 Mbit/s: the link loses 1 %.", losses)
    assert right.names_it
    assert not right.is_wrong
    wrong = judged("The link loses 1 %, and a policer drops the rest.", losses)
    assert wrong.is_wrong
    assert wrong.said == "names policer"
    refused = judged("No remedy is recommended: too short.", losses)
    assert refused.is_refusal
    assert not refused.was_due
    stops = Right(("stops",), ())
    seen = judged("The link stalls for 9 % of it. No remedy is recommended: too short.", stops)
    assert seen.names_it
    assert seen.said == "refused without need"
    assert judged("A policer drops it. No remedy is recommended: too short.", stops).is_wrong
    assert judged("The link loses 1 %.", Right((), (), True)).is_wrong
    assert {one.kind for one in cases()} == set(KINDS)
