"""Ping logs over links with known faults: the first finding, and absent ones."""

import math
import tracemalloc
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from airtcp import Scenario
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.link import Reading, played_link
from airtcp.core.recordings.log import PingLog, read_ping
from airtcp.diagnosis.finding import span_words
from airtcp.diagnosis.period import ERROR, period
from airtcp.diagnosis.ping_findings import find, said
from airtcp.diagnosis.starlink import changes_each_15_s
from ping_kinds import PingedLink, at_random, regular

NEAR = PingedLink().delay


def in_turns(low: float, high: float, every: float):  # type: ignore[no-untyped-def]
    """A base delay that changes to and fro."""
    return lambda at, random: (low, high)[int(at / every) % 2] + 0.003 * random.random()


def bursts(spans, size: float):  # type: ignore[no-untyped-def]
    """A delay that jumps, and falls to the usual in the length of each span."""

    def delay(at, random):  # type: ignore[no-untyped-def]
        inside = next((span for span in spans if span[0] <= at < sum(span)), None)
        over = 0.0 if inside is None else size * (1 - (at - inside[0]) / inside[1])
        return 0.02 + over + 0.002 * random.random()

    return delay


def filled(at, random):  # type: ignore[no-untyped-def]
    """A queue that is filled for half of each minute."""
    full = min(0.3, (at % 60 - 20) * 0.15) if 20 < at % 60 < 50 else 0.0
    return 0.02 + full * (0.6 + 0.4 * random.random()) + 0.002 * random.random()


def beams(every_s):  # type: ignore[no-untyped-def]
    """Another base delay each time, as at a terminal of a satellite network."""

    def delay(at, random):  # type: ignore[no-untyped-def]
        beam = Random(int((at - 12) // every_s))
        return 0.022 + 0.018 * beam.random() + 0.0015 * random.expovariate(1)

    return delay


def loaded_at_times(at, random):  # type: ignore[no-untyped-def]
    """40 s of load each half an hour."""
    return 0.004 + 0.001 * random.random() + (at % 1800 < 40) * random.uniform(0.2, 0.8)


def of_the_day(at, random):  # type: ignore[no-untyped-def]
    """Busy from 12 to 15 h UTC; the log begins at 22:13:20."""
    is_busy = 12 <= (1_700_000_000 + at) / 3600 % 24 < 15
    return (0.09 if is_busy else 0.02) + 0.005 * random.random()


KINDS = {
    "a load each half an hour": (
        PingedLink(loaded_at_times),
        7200,
        1.0,
        "queue",
        "s at a time, every 30 minutes (2 % of the time), and varies there: a queue",
    ),
    "nothing": (PingedLink(), 180, 0.2, None, "Nothing is wrong in this log"),
    "a radio of 0.8 ms that scans": (
        PingedLink(
            lambda _, random: 0.0008 + 0.0005 * random.random(), tuple(regular(34, 4.3, 600))
        ),
        600,
        1.0,
        "stops",
        "The link stalls for 4.3 s at a time, every 34 s, as a radio does that scans",
    ),
    "scans at another place": (
        PingedLink(stops=tuple(regular(30, 1.2, 300))),
        300,
        0.2,
        "stops",
        "every 30 s, as a radio does that scans",
    ),
    "stops shorter than the interval": (
        PingedLink(stops=tuple(regular(30, 0.6, 900))),
        900,
        1.0,
        "bursts",
        "Single answers come late, by 580 ms in the median and 580 ms at most, every 30 s, as a "
        "radio does that scans for other networks: delays or stops shorter than the 1 s",
    ),
    "roaming": (
        PingedLink(in_turns(0.013, 0.025, 60), gaps=tuple(regular(60, 2, 300, 58))),
        300,
        0.2,
        "gaps",
        "Everything is lost for 2 s at a time, every 60 s, and the base round trip changes with",
    ),
    "gaps at no regular times": (
        PingedLink(gaps=tuple(at_random(20, 1.5, 300))),
        300,
        0.2,
        "gaps",
        "times in 5 minutes",
    ),
    "changes of Starlink's beams": (
        PingedLink(beams(15), gaps=tuple(regular(15, 0.6, 600, 12))),
        600,
        0.2,
        "gaps",
        "for 600 ms at a time, every 15 s, and the base round trip changes with them: as Starlink",
    ),
    "an outage": (
        PingedLink(gaps=((400, 190),)),
        900,
        1.0,
        "outage",
        "The link was down for 3 minutes, from 7 minutes on",
    ),
    "steps of the base delay": (
        PingedLink(in_turns(0.05, 0.35, 40)),
        240,
        0.2,
        "steps",
        "The base round trip changes in steps of 300 ms, 5 times, every ",
    ),
    "bursts at regular times": (
        PingedLink(bursts(regular(6, 0.8, 300), 0.25)),
        300,
        0.2,
        "bursts",
        "for 800 ms at a time, every 6 s",
    ),
    "bursts at no regular times": (
        PingedLink(bursts(at_random(6, 0.8, 300), 0.25)),
        300,
        0.2,
        "bursts",
        "at no regular times",
    ),
    "lone losses": (PingedLink(loss=0.01), 300, 0.2, "losses", "of the probes are lost one by one"),
    "a busy channel": (
        PingedLink(
            lambda _, random: 0.002 + 0.004 * random.expovariate(1),
            tuple(at_random(3, 0.4, 300)),
            loss=0.2,
        ),
        300,
        0.2,
        "busy",
        "The channel is busy, or the driver stalls: 20 % of the probes are lost",
    ),
    "power save": (
        PingedLink(lambda _, random: 0.003 + 0.1024 * random.random()),
        300,
        0.2,
        "power-save",
        "Answers wait evenly for up to 102 ms, a beacon interval",
    ),
    "a queue under load": (
        PingedLink(filled),
        300,
        0.2,
        "queue",
        "The round trip rises from 20 ms to 2",
    ),
    "an hour of the day": (
        PingedLink(of_the_day),
        86_400,
        20.0,
        "hours",
        "It is worse from 12:00 to 15:00 UTC",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_wrong_comes_first(kind: str, seed: int, tmp_path: Path) -> None:
    link, seconds, interval, expected, sentence = KINDS[kind]
    log = read_ping(link.write(tmp_path / "x.ping", seconds, interval, seed))
    found = find(log, find_events(log))
    if expected is None:
        assert found == []
        return
    assert found[0].kind == expected, [one.sentence for one in found]
    assert sentence in found[0].sentence or seed > 1
    # Its symptoms are not reported as further faults.
    assert len(found) <= 2, [one.sentence for one in found]


@pytest.mark.parametrize(
    "link",
    [
        PingedLink(gaps=tuple(regular(15, 0.6, 600, 12))),
        PingedLink(beams(13), gaps=tuple(regular(13, 0.6, 600, 12))),
    ],
    ids=["one delay", "13 s"],
)
def test_other_gaps_are_not_starlinks(link: PingedLink, tmp_path: Path) -> None:
    log = read_ping(link.write(tmp_path / "x.ping", 600))
    said = find(log, find_events(log))[0].sentence
    assert "Everything is lost for 600 ms at a time, every 1" in said
    assert "Starlink" not in said


@pytest.mark.parametrize("every_s", [30, 60])
@pytest.mark.parametrize("seconds", [180, 600])
def test_moves_at_some_of_starlinks_times_are_not_its(
    every_s: float, seconds: float, tmp_path: Path
) -> None:
    """A device that moves each minute changes at a fourth of the times of Starlink's beams."""
    moves = PingedLink(in_turns(0.013, 0.025, every_s))
    assert not changes_each_15_s(read_ping(moves.write(tmp_path / "x.ping", seconds, 0.2)))
    switches = PingedLink(beams(15))
    assert changes_each_15_s(read_ping(switches.write(tmp_path / "y.ping", seconds, 0.2)))


@pytest.mark.parametrize(
    ("delay", "loss"),
    [
        (NEAR, 0.0),
        (lambda _, random: 0.02 + 0.01 * random.expovariate(1), 0.0),
        (lambda _, random: 0.6 + 0.02 * random.random(), 0.0),
        (NEAR, 0.05),
    ],
    ids=("even", "varying", "satellite", "lossy"),
)
def test_no_fault_is_made_up(delay, loss: float, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Delays that vary, long paths and independent losses: over 20 seeds nothing but the losses."""
    for seed in range(20):
        log = read_ping(PingedLink(delay, loss=loss).write(tmp_path / "x.ping", 180, 0.2, seed))
        kinds = {one.kind for one in find(log, find_events(log))}
        assert kinds <= ({"losses"} if loss else set())


def test_events_have_their_times(tmp_path: Path) -> None:
    """The truth, to within an interval."""
    stops, gaps = ((40.05, 1.5), (90.17, 1.5)), ((120.0, 2.0), (150.0, 3.0))
    log = read_ping(PingedLink(stops=stops, gaps=gaps, loss=0.003).write(tmp_path / "x", 180))
    events = find_events(log)
    for spans, truth in ((events.stops, stops), (events.gaps, gaps)):
        assert len(spans) == 2
        for start, length, (begin, lasting) in zip(
            spans.start_s, spans.length_s, truth, strict=True
        ):
            assert start == pytest.approx(begin, abs=0.25)
            assert length == pytest.approx(lasting, abs=0.25)


def test_random_times_are_seldom_called_regular() -> None:
    """Of events at random times as many are called periodic as the test admits."""
    random = np.random.default_rng(7)
    for count in (4, 8, 30):
        called = [
            period(np.cumsum(random.exponential(20, count)), 0.2) is not None for _ in range(400)
        ]
        # 4.5 standard errors above the admitted share.
        assert sum(called) <= 400 * ERROR + 4.5 * math.sqrt(400 * ERROR)


def test_regular_times_are_found_with_some_missing() -> None:
    random = np.random.default_rng(7)
    seen = np.delete(np.arange(20), [3, 4, 11]) * 34 + random.uniform(-0.5, 0.5, 17)
    found = period(seen, 1.0)
    assert found is not None
    assert found.every_s == pytest.approx(34, rel=0.01)


@pytest.mark.parametrize("interval", [0.2, 1.0])
def test_the_interval_is_known_or_asked_for(interval: float, tmp_path: Path) -> None:
    path = PingedLink(gaps=((40, 4),)).write(tmp_path / "x.ping", 120, interval)
    log = read_ping(path)
    assert (log.clock, log.interval_s) == ("stamps", pytest.approx(interval, rel=1e-3))
    text = "\n".join(line.partition("] ")[2] or line for line in path.read_text().split("\n"))
    path.write_text(text)
    log = read_ping(path)
    assert (log.clock, log.interval_s) == ("statistics", pytest.approx(interval, rel=1e-3))
    path.write_text(text.partition("\n--- ")[0])
    assert read_ping(path).clock == "assumed"
    log = read_ping(path, 0.5)
    assert (log.clock, log.interval_s) == ("asked", 0.5)
    assert "--interval" in log.clock_words


@pytest.mark.filterwarnings("error")
def test_any_log_has_an_answer() -> None:
    """Round trips of 0 or an hour, all lost but a few, equal times: its link is a scenario."""
    random = np.random.default_rng(5)
    for draw in range(40):
        count = int(random.integers(30, 400))
        shape = draw % 5
        rtt_s = (
            np.zeros(count),
            random.exponential(1.0, count),
            np.where(random.random(count) < 0.5, 0.0, 3600.0),
            np.round(random.exponential(0.02, count), 2),
            np.full(count, 0.05),
        )[shape]
        rtt_s = np.where(random.random(count) < random.choice([0.0, 0.3, 0.9]), np.nan, rtt_s)
        rtt_s[:30] = np.nan_to_num(rtt_s[:30], nan=0.01)
        interval = float(random.choice([0.01, 0.2, 1.0, 60.0]))
        time_s = np.cumsum(random.choice([0.0, interval, interval, 40 * interval], count))
        log = PingLog(Path("x"), time_s - time_s[0], rtt_s, interval, "stamps", 3, 1.7e9)
        events = find_events(log)
        assert all(math.isfinite(one.severity) for one in find(log, events))
        for reading in Reading:
            link = played_link(log, events, "12 Mbit/s", reading, 1.0)
            with TemporaryDirectory() as folder:
                Scenario.load(link.write(Path(folder)))


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (
            PingedLink(gaps=((40, 2),)),
            "Everything is lost for 2 s, once, 39.9 s after the beginning",
        ),
        (PingedLink(stops=((40, 4.1),)), "The link stalls for 4.1 s, once, 40 s after"),
        (PingedLink(gaps=((40, 30),)), "The link was down for 30 s, from 39.9 s on: no probe"),
    ],
)
def test_one_event_is_told_as_one(link: PingedLink, sentence: str, tmp_path: Path) -> None:
    log = read_ping(link.write(tmp_path / "x.ping", 120, 0.2))
    assert sentence in find(log, find_events(log))[0].sentence


@pytest.mark.parametrize(
    ("lost_s", "sentence"),
    [
        (30, "The link was down for 29.9 s, from the start on: no probe"),
        (2, "Everything is lost for 1.9 s, once, at the beginning."),
    ],
)
def test_what_is_lost_first_is_lost_from_the_start_on(lost_s: float, sentence: str) -> None:
    time_s = np.arange(600) * 0.2
    rtt_s = np.where(time_s < lost_s, np.nan, 0.02)
    log = PingLog(Path("x"), time_s, rtt_s, 0.2, "stamps")
    assert find(log, find_events(log))[0].sentence.startswith(sentence)


def test_a_length_of_time_is_not_rounded_by_much() -> None:
    for seconds in np.geomspace(0.01, 1e5, 500):
        value, unit = span_words(float(seconds)).split()
        scale = {"ms": 1e-3, "s": 1.0, "minutes": 60.0, "hours": 3600.0}[unit]
        assert float(value) * scale == pytest.approx(seconds, rel=0.17)
    assert [span_words(of) for of in (89.0, 95.0, 149.0, 180.0)] == [
        "89 s",
        "95 s",
        "149 s",
        "3 minutes",
    ]


def test_a_log_of_many_probes_takes_little_memory() -> None:
    """At 2 ms a window of 5 s holds 2500 round trips, and few of them are examined."""
    count = 60_000
    rtt_s = 0.02 + 0.002 * np.random.default_rng(3).random(count)
    rtt_s[count // 2 :] += 0.3
    log = PingLog(Path("x"), np.arange(count) * 0.002, rtt_s, 0.002, "stamps")
    tracemalloc.start()
    events = find_events(log)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # 64 round trips a probe: the core allocates less, and unseen by Python.
    assert most < 8 * count * 64
    assert [step.at_s for step in events.steps] == [pytest.approx(60, abs=0.5)]


@pytest.mark.parametrize("jump", [20_000, 65_536 * 1526 + 20_000])
def test_a_counter_that_jumps_between_two_stamps_is_no_outage(tmp_path: Path, jump: int) -> None:
    at = 1_700_000_000.0
    lines = [
        f"[{at + 0.2 * number:.6f}] 64 bytes from 10.0.0.1: "
        f"icmp_seq={number + jump * (number > 150)} ttl=64 time={20 + number % 7 / 10:.1f} ms"
        for number in range(1, 301)
    ]
    path = tmp_path / "link.ping"
    path.write_text("\n".join(lines) + "\n")
    log = read_ping(path)
    assert (log.sent, log.lost) == (300, 0)
    assert log.duration_s == pytest.approx(60.0, abs=0.5)
    # With the same stamps, numbers that go on while nothing comes are an outage.
    kept = [
        f"[{at + 0.2 * number:.6f}] 64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time=20 ms"
        for number in (*range(1, 101), *range(9000, 9101))
    ]
    path.write_text("\n".join(kept) + "\n")
    assert read_ping(path).lost == 8899


def test_answers_that_come_twice_are_a_finding(tmp_path: Path) -> None:
    def log(doubled: int) -> PingLog:
        lines = ["PING 192.0.2.9 (192.0.2.9) 56(84) bytes of data."]
        for number in range(1, 101):
            reply = f"64 bytes from 192.0.2.9: icmp_seq={number} ttl=64 time=2.{number % 10} ms"
            lines += [reply, f"{reply} (DUP!)"] if number <= doubled else [reply]
        path = tmp_path / "doubled.ping"
        path.write_text("\n".join(lines) + "\n")
        return read_ping(path)

    doubled = log(30)
    assert (doubled.sent, doubled.lost, doubled.duplicates) == (100, 0, 30)
    first = said(doubled, find(doubled, find_events(doubled)))[0]
    assert first.startswith("Answers come twice (30 for 100 probes)")
    once = log(0)
    assert said(once, find(once, find_events(once)))[0].startswith("Nothing is wrong")
