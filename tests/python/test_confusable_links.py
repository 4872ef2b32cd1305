"""Links that look like others: the first sentence names theirs, and not the neighbour's.

Each is simulated, with the fault and no other, and captured at the sender.
"""

from pathlib import Path

import pytest

import airtcp
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis

PIPE: dict[str, object] = {
    "link.rate": "10 Mbit/s",
    "link.delay": "20 ms",
    "link.queue.packets": 100,
    "tcp.profile": "linux",
}
SEED = 3


def diagnosed_link(folder: Path, seconds: float, seed: int = SEED, **keys: object) -> Diagnosis:
    """The diagnosis of a simulated capture; `link__rate` is `link.rate`."""
    settings = PIPE | {key.replace("__", "."): value for key, value in keys.items()}
    path = folder / "captured.pcapng"
    toml = f'name = "captured"\nduration = "{seconds} s"\n'
    airtcp.run(toml, seed, settings=settings, pcap=path)
    return diagnosed(read_capture(path, None, None), None)


@pytest.mark.parametrize("rate", ["1 Mbit/s", "2 Mbit/s"])
def test_short_stops_of_a_slow_link_are_no_delayed_acknowledgments(
    rate: str, tmp_path: Path
) -> None:
    found = diagnosed_link(
        tmp_path,
        30,
        link__rate=rate,
        link__queue__packets=30,
        link__stops__process="periodic",
        link__stops__every="3 s",
        link__stops__length="150 ms",
        link__stops__direction="both",
    )
    assert "the link stalls for 4 % of the time, 1" in found.headline
    assert "ms every 3 s" in found.headline
    assert found.ceiling is not None
    assert found.ceiling.is_reached


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_a_slow_link_without_stops_has_none(loss: float, tmp_path: Path) -> None:
    found = diagnosed_link(tmp_path, 25, link__rate="2 Mbit/s", link__loss__rate=loss)
    assert "stalls" not in found.headline
    # The mean window of these losses exceeds the link, and they hold the flow back all the same.
    assert ("the link loses 2 % of the packets" in found.headline) == (loss > 0)


def test_bursts_of_radio_losses_are_no_policer(tmp_path: Path) -> None:
    found = diagnosed_link(
        tmp_path,
        25,
        link__rate="20 Mbit/s",
        link__delay="40 ms",
        link__loss__model="gilbert-elliott",
        link__loss__good_to_bad=0.001,
        link__loss__bad_to_good=0.05,
        link__loss__loss_in_bad=0.6,
    )
    said = " ".join(found.sentences)
    assert "policer" not in said
    assert found.headline.startswith("The link loses 1.1 % of the packets.")


def test_a_full_queue_behind_jitter_is_no_aqm(tmp_path: Path) -> None:
    found = diagnosed_link(
        tmp_path,
        25,
        link__rate="8 Mbit/s",
        link__queue__packets=200,
        link__jitter__mean="3 ms",
        link__jitter__shape="exponential",
        link__jitter__order="reorder",
    )
    assert "keeps its delay" not in " ".join(found.sentences)
    # One pair of brackets in another would be one too many.
    assert found.headline.startswith("The link is full, and the flow already gets")
    assert ": packets overtake each other (11 % of them by jitter of 3 ms)" in found.headline


@pytest.mark.parametrize("rate", ["5 Mbit/s", "20 Mbit/s"])
def test_a_short_queue_may_be_an_aqm(rate: str, tmp_path: Path) -> None:
    found = diagnosed_link(tmp_path, 25, link__rate=rate, link__aqm__discipline="cake")
    # Where a burst outlasts the queue that drops, there is nothing else that it may be.
    may_be, is_one = (
        ", or an AQM that keeps its delay at ",
        "a queue that keeps its delay short drops",
    )
    assert (may_be if rate == "5 Mbit/s" else is_one) in found.headline


def causes(found: Diagnosis) -> dict[str, int]:
    """How many of the needed retransmissions have each cause."""
    return dict(found.labels.group_by("cause").len().rows())


@pytest.mark.parametrize(
    ("rate", "profile", "seed"),
    [
        ("2 Mbit/s", "linux", 4),
        ("5 Mbit/s", "linux", 3),
        ("5 Mbit/s", "linux-reno", 2),
        ("5 Mbit/s", "linux-reno", 3),
    ],
)
def test_early_drops_of_a_slow_aqm_are_not_the_radios(
    rate: str, profile: str, seed: int, tmp_path: Path
) -> None:
    """PIE drops at chance, at any delay but the shortest: few drops show that they depend on it."""
    link = {"link__rate": rate, "tcp__profile": profile}
    aqm = diagnosed_link(tmp_path, 25, seed, **link, link__aqm__discipline="pie")
    counts = causes(aqm)
    assert counts.get("radio", 0) < 0.1 * sum(counts.values())
    assert "the link loses" not in aqm.headline
    radio = diagnosed_link(tmp_path, 25, seed, **link, link__loss__rate=0.005)
    counts = causes(radio)
    # The queue of 100 packets overflows as well.
    assert counts["radio"] > 0.9 * (sum(counts.values()) - counts.get("tail-drop", 0))


@pytest.mark.parametrize(
    ("every", "delay", "sleeps"),
    [("102.4 ms", "20 ms", True), ("100 ms", "20 ms", False), ("51.2 ms", "20 ms", False)],
)
def test_silences_that_end_with_a_beacon_are_a_radios_sleep(
    every: str, delay: str, sleeps: bool, tmp_path: Path
) -> None:
    found = diagnosed_link(
        tmp_path,
        15,
        link__rate="8 Mbit/s",
        link__delay=delay,
        link__stops__process="periodic",
        link__stops__every=every,
        link__stops__length="35 ms",
    )
    assert found.headline.startswith("A radio sleeps between beacons (power save)") == sleeps
    assert ("end at multiples of 102.4 ms" in found.headline) == sleeps


def test_a_round_trip_as_long_as_a_beacon_interval_is_no_sleep(tmp_path: Path) -> None:
    """A window far below the link's comes back once a round trip, after a silence."""
    found = diagnosed_link(
        tmp_path,
        15,
        link__rate="50 Mbit/s",
        link__delay="51.1 ms",
        tcp__receive_buffer=60_000,
    )
    assert "The receiver's window" in found.headline
    assert "sleeps" not in " ".join(found.sentences)


@pytest.mark.parametrize("profile", ["linux", "linux-bbr"])
@pytest.mark.parametrize(("seconds", "words"), [(14.0, "twice"), (15.8, "3 times")])
def test_a_stop_in_which_the_capture_ends_is_one_more(
    seconds: float, words: str, profile: str, tmp_path: Path
) -> None:
    found = diagnosed_link(
        tmp_path,
        seconds,
        link__stops__process="periodic",
        link__stops__every="5 s",
        link__stops__length="1 s",
        tcp__profile=profile,
    )
    assert f"{words} for 1 s in the mean" in found.headline
    assert found.link is not None
    assert [one.start_s for one in found.link.stops.stops] == pytest.approx(
        [5.0, 10.0, 15.0][: len(found.link.stops.stops)], abs=0.1
    )
    # No more of the last one than the capture shows.
    assert all(one.start_s + one.length_s <= seconds for one in found.link.stops.stops)


@pytest.mark.parametrize(
    ("rate", "profile"),
    [
        ("5 Mbit/s", "linux"),
        ("5 Mbit/s", "linux-reno"),
        ("10 Mbit/s", "linux"),
        ("10 Mbit/s", "linux-reno"),
        ("10 Mbit/s", "linux-bbr"),
    ],
)
def test_pie_is_an_aqm_and_loses_nothing_else(rate: str, profile: str, tmp_path: Path) -> None:
    """It lets the first burst pass, and drops at chance, the more the longer its delay is."""
    link: dict[str, object] = {"link__rate": rate, "link__queue__packets": 1000}
    link |= {"tcp__profile": profile, "link__delay": "25 ms"}
    found = diagnosed_link(tmp_path, 25, **link, link__aqm__discipline="pie")
    assert "a queue that keeps its delay short drops" in found.headline
    assert "the link loses" not in found.headline


@pytest.mark.parametrize(
    ("discipline", "profile"), [("pie", "linux"), ("pie", "linux-bbr"), ("codel", "linux")]
)
def test_losses_behind_an_aqm_stay_the_radios(
    discipline: str, profile: str, tmp_path: Path
) -> None:
    keys: dict[str, object] = {"tcp__profile": profile, "link__queue__packets": 1000}
    found = diagnosed_link(
        tmp_path, 25, **keys, link__aqm__discipline=discipline, link__loss__rate=0.01
    )
    assert found.link is not None
    low, high = found.link.loss.interval
    assert low <= 0.01 <= high
    assert found.link.loss.lost > 30


@pytest.mark.parametrize("packets", [20, 60])
@pytest.mark.parametrize("profile", ["linux", "linux-reno", "linux-bbr"])
def test_a_full_queue_is_outlasted_by_none(packets: int, profile: str, tmp_path: Path) -> None:
    keys: dict[str, object] = {"tcp__profile": profile, "link__queue__packets": packets}
    found = diagnosed_link(tmp_path, 25, **keys)
    assert "keeps its delay short" not in " ".join(found.sentences)
