"""Who can deploy what, what is decided, and which remedy comes first."""

import pytest

import airtcp
from airtcp._core import ScenarioError
from airtcp.comparison.ranking import Candidate, Direction, State, direction, machines, rank, reach
from airtcp.comparison.ranking.deployable import Spot, is_deployable, needs
from airtcp.comparison.ranking.state import state
from airtcp.core.catalogue import Remedy, When

ENDS = frozenset({Spot.SENDER, Spot.RECEIVER})


def shown(remedy: str, gain: float, **more: object) -> Candidate:
    return Candidate(remedy, gain, (gain - 1.0, gain + 1.0), State.SHOWN, **more)  # type: ignore[arg-type]


def excluded(remedy: str) -> Candidate:
    return Candidate(remedy, 0.1, (-0.5, 0.7), State.EXCLUDED)


def undecided(remedy: str, gain: float, most: float) -> Candidate:
    return Candidate(remedy, gain, (gain - (most - gain), most), State.UNDECIDED)


def test_three_states() -> None:
    assert state(5.0, (2.0, 8.0)) is State.SHOWN
    assert state(-5.0, (-8.0, -2.0)) is State.SHOWN
    assert state(0.5, (0.2, 0.8)) is State.EXCLUDED
    assert state(0.5, (-0.2, 1.2)) is State.UNDECIDED
    assert state(0.5, (0.1, 1.2)) is State.SHOWN
    assert state(0.5, (0.1, 1.2), smallest=2.0) is State.EXCLUDED
    assert state(0.018, None, is_exact=True) is State.EXCLUDED
    assert state(3.0, None, is_exact=True) is State.SHOWN
    assert state(3.0, None) is State.UNDECIDED


def is_usual(entry: Remedy, when: When) -> bool:
    """Whether a parameter has the value by default that a way is for."""
    usual = {one["name"]: one["default"] for one in entry["parameters"]}
    return usual[when["parameter"]] == when["is"]


def test_every_way_of_the_catalogue_has_its_spots() -> None:
    for entry in airtcp.remedies():
        name = entry["name"]
        is_control = name in {"coin", "oracle"}
        assert bool(needs(name)) is (
            not is_control
            and (
                any(
                    way["only_in"] is None and (way["when"] is None or is_usual(entry, way["when"]))
                    for way in entry["ways"]
                )
                or entry.get("agent") is not None
            )
        ), name


def test_spots_of_combinations() -> None:
    assert is_deployable("bbr", frozenset({Spot.SENDER}))
    assert not is_deployable("bbr", frozenset({Spot.RECEIVER}))
    assert is_deployable("delayed-ack+bbr", ENDS)
    assert not is_deployable("delayed-ack+bbr", frozenset({Spot.SENDER}))
    assert not is_deployable("bbr+zbs", frozenset(Spot))
    assert is_deployable("min-rto:min=1s", frozenset({Spot.SENDER}))
    assert not is_deployable("timestamps", frozenset({Spot.SENDER}))


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("wlan-upload", Direction.UP),
        ("wlan-clients", Direction.DOWN),
        ("cellular", Direction.DOWN),
        ("arq-download", Direction.DOWN),
        ("cell", Direction.DOWN),
        ("two-wlans", Direction.BOTH),
        ("lossy-pipe", Direction.UNKNOWN),
        ("ping", Direction.UNKNOWN),
    ],
)
def test_directions_of_the_shipped_links(scenario: str, expected: Direction) -> None:
    assert direction(airtcp.load_scenario(scenario)) is expected


def test_my_machine_sends_up_and_receives_down() -> None:
    assert Spot.SENDER in reach("my-machine", Direction.UP).spots
    assert Spot.SENDER not in reach("my-machine", Direction.DOWN).spots
    assert Spot.RECEIVER in reach("my-machine", Direction.DOWN).spots
    assert Spot.SENDER in reach("server", Direction.DOWN).spots
    assert Spot.BEFORE_LINK in reach("access-point", Direction.DOWN).spots
    assert Spot.BEFORE_LINK not in reach("access-point", Direction.UP).spots
    assert reach("my-machine", Direction.UNKNOWN).assumes_sender
    assert not reach("sender", Direction.UNKNOWN).assumes_sender
    assert reach("all", Direction.UP).spots == frozenset(Spot)
    both = reach("my-machine,server", Direction.UP)
    assert both.spots >= ENDS
    with pytest.raises(ScenarioError, match="--can moon: expected one of my-machine, server"):
        reach("moon", Direction.UP)


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("crowded-cell", 20),
        ("household", 4),
        ("laptop-upload", 1),
        ("dumbbell", 10),
        ("lossy-pipe", 1),
        ("wlan-clients", 15),
    ],
)
def test_machines_that_stand_where_the_askers_does(scenario: str, expected: int) -> None:
    assert machines(airtcp.load_scenario(scenario)) == expected


def test_an_answer_for_many_machines_does_not_speak_of_one() -> None:
    many = reach("my-machine", Direction.BOTH, 20)
    assert many.words == "your machine and the 19 others like it, all at once,"
    assert reach("server", Direction.DOWN, 3).words == "every server at once"
    assert reach("access-point", Direction.DOWN, 3).words == "the access point"
    assert not reach("access-point", Direction.DOWN, 3).is_of_many
    assert reach("my-machine", Direction.UP).words == "your machine"


def test_the_queue_of_a_shared_bottleneck_is_no_hosts() -> None:
    shared = reach("my-machine", Direction.UNKNOWN, 10)
    assert Spot.BEFORE_LINK not in shared.spots
    assert Spot.BEFORE_LINK in reach("access-point", Direction.UNKNOWN, 10).spots
    assert Spot.BEFORE_LINK in reach("my-machine", Direction.UNKNOWN).spots
    found = [shown("bbr", 5.0), shown("queue", 20.0)]
    assert [(one.place, one.best.remedy) for one in rank(found, shared).elsewhere] == [
        ("At the access point", "queue")
    ]


def test_the_best_is_what_the_asker_can_deploy() -> None:
    found = [shown("zbs", 60.0), shown("snoop", 50.0), shown("bbr", 20.0), shown("delayed-ack", 5)]
    mine = rank(found, reach("my-machine", Direction.UP))
    assert mine.best is not None
    assert mine.best.remedy == "bbr"
    assert [(one.place, one.best.remedy) for one in mine.elsewhere] == [
        ("At the server", "delayed-ack"),
        ("At the access point", "snoop"),
        ("No Linux has it", "zbs"),
    ]
    whole = rank(found, reach("all", Direction.UP))
    assert whole.best is not None
    assert whole.best.remedy == "snoop"
    assert [one.place for one in whole.elsewhere] == ["No Linux has it"]


def test_nearly_as_good_without_harm_comes_first() -> None:
    harmful = shown("bbr", 100.0, harm=-40.0, harm_state=State.SHOWN)
    near, far = shown("westwood", 85.0), shown("westwood", 70.0)
    asked = reach("sender", Direction.UNKNOWN)
    first = rank([harmful, near], asked)
    assert first.best is near
    assert first.larger_with_harm is harmful
    second = rank([harmful, far], asked)
    assert second.best is harmful
    assert second.larger_with_harm is None
    unmeasured = shown("bbr", 100.0)
    assert rank([unmeasured, near], asked).best is unmeasured


def test_what_floods_comes_last_of_those_that_help() -> None:
    floods = shown("selective-repeat", 50.0, floods=True)
    ranking = rank([floods, shown("min-rto", 3.0)], reach("all", Direction.UNKNOWN))
    assert ranking.best is not None
    assert ranking.best.remedy == "min-rto"


def test_nothing_helps_needs_all_excluded() -> None:
    asked = reach("sender", Direction.UNKNOWN)
    harmful = Candidate("reno", -20.0, (-22.0, -18.0), State.SHOWN)
    assert rank([excluded("bbr"), harmful], asked).nothing_helps
    open_one = rank([excluded("bbr"), undecided("veno", 2.0, 8.0)], asked)
    assert not open_one.nothing_helps
    assert [one.remedy for one in open_one.undecided] == ["veno"]
    elsewhere = rank([excluded("bbr"), undecided("snoop", 2.0, 8.0)], asked)
    assert elsewhere.nothing_helps
    assert elsewhere.is_decided


def test_an_undecided_one_matters_only_if_it_may_be_better() -> None:
    asked = reach("sender", Direction.UNKNOWN)
    assert rank([shown("bbr", 50.0), undecided("veno", 2.0, 40.0)], asked).is_decided
    assert not rank([shown("bbr", 50.0), undecided("veno", 2.0, 60.0)], asked).is_decided
