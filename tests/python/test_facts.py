"""Facts of a paper's text, and the readings that they take the vote from."""

from pathlib import Path

import pytest

from airtcp.papers.check import check_facts
from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Axis, Choice, Experiment, scaled
from airtcp.papers.facts import Fact, broken_facts
from airtcp.papers.files import PaperError
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import About, Paper, PaperFile
from airtcp.papers.read_as import read_as
from airtcp.papers.readings import Admitted, OpenPoint, departures
from airtcp.papers.rules import Verdict

EXPERIMENT = Experiment(
    "e",
    "t",
    "s.toml",
    axes=[
        Axis("delay", key="wired.delay", values=["10 ms", "20 ms"]),
        Axis("remedy", choices=[Choice("off"), Choice("on")]),
    ],
)
EXPERIMENTS = {"e": EXPERIMENT}
NONE = Fact("none", "w", "s", "e", "timeouts", at={"delay": "10 ms", "remedy": "off"}, at_most=1)
SOME = Fact("some", "w", "s", "e", "timeouts", at={"delay": "20 ms", "remedy": "off"}, at_least=1)
GROWS = Fact(
    "grows",
    "w",
    "s",
    "e",
    "timeouts",
    at={"remedy": "off"},
    along="delay",
    places=["10 ms", "20 ms"],
    direction="rises",
)
GAIN = Part(
    "gain",
    "e",
    at={},
    baseline={"remedy": "off"},
    treated={"remedy": "on"},
    along="delay",
    places=["10 ms", "20 ms"],
    paper=[20, 20],
)


def measured(
    timeouts: tuple[list[float], list[float]], gain: float = 20.0, seeds: int = 4
) -> Outcomes:
    outcomes = Outcomes(seeds={"e": tuple(range(seeds))})
    for delay, counts in zip(("10 ms", "20 ms"), timeouts, strict=True):
        for remedy, factor in (("off", 1.0), ("on", 1 + gain / 100)):
            point = EXPERIMENT.coordinates({"delay": delay, "remedy": remedy})
            outcomes.measured["e", point] = [
                {
                    "timeouts": counts[seed % len(counts)],
                    "goodput_bps": factor * (100 + seed + (seed % 2) * (factor - 1)),
                }
                for seed in range(seeds)
            ]
    return outcomes


def paper(points: list[OpenPoint], facts: list[Fact]) -> Paper:
    file = PaperFile(
        About(1, "s", "t", "a", "v", [], "."), [EXPERIMENT], readings=points, facts=facts
    )
    return Paper("p", Path("p"), file, [Claim("1a", "w", "p", [GAIN])])


@pytest.mark.parametrize(
    ("timeouts", "broken"),
    [
        (([0, 0, 0, 0], [50, 60, 55, 58]), ()),
        (([0, 0, 0, 0], [0, 0, 0, 0]), ("some", "grows")),
        (([9, 8, 9, 8], [9, 8, 8, 9]), ("none", "grows")),
        # Differences that the seeds cannot resolve break no bound, and show no trend.
        (([0, 4, 0, 4], [0, 4, 1, 2]), ("grows",)),
        (([60, 50, 61, 52], [5, 4, 5, 6]), ("none", "grows")),
    ],
)
def test_a_fact_is_broken_where_the_runs_say_otherwise(timeouts, broken):
    outcomes = measured(timeouts)
    assert broken_facts([NONE, SOME, GROWS], EXPERIMENTS, outcomes) == broken


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (Fact("f", "w", "s", "x", "timeouts", at_least=1), "no experiment 'x'"),
        (Fact("f", "w", "s", "e", "speed", at_least=1), "no measure 'speed'"),
        (Fact("f", "w", "s", "e", "timeouts"), "expected bounds"),
        (Fact("f", "w", "s", "e", "timeouts", at_least=1, at={"delay": "10 ms"}), "'remedy'"),
        (Fact("f", "w", "s", "e", "timeouts", along="delay", at_most=1), "and not both"),
        (Fact("f", "w", "s", "e", "timeouts", along="delay"), "its direction"),
    ],
)
def test_wrong_facts_are_told(fact, message):
    with pytest.raises(PaperError, match=message):
        check_facts("p", [fact], EXPERIMENTS)
    with pytest.raises(PaperError, match="twice"):
        check_facts("p", [NONE, NONE], EXPERIMENTS)


def test_a_reading_that_breaks_a_fact_has_no_vote_and_serves_best_nowhere():
    """It would contradict the claim that the default reproduces; and only it has no timeouts."""
    window = OpenPoint(
        "window", "o", "s", "200", "w", [Admitted("200"), Admitted("20", {"tcp.max_window": 20})]
    )
    threshold = OpenPoint(
        "threshold", "o", "s", "a", "w", [Admitted("a"), Admitted("b", {"tcp.x": 1})]
    )
    points = [window, threshold]

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [
            measured(([0, 0, 0, 0], [0, 0, 0, 0]), gain=-15)
            if one.settings.get("tcp.max_window") == 20
            else measured(([0, 0, 0, 0], [50, 60, 55, 58]))
            for (one,), _ in readings
        ]

    whole = measured(([0, 0, 0, 0], [50, 60, 55, 58]))
    (judged,), over = judge_over_readings(paper(points, [SOME]), whole, run)
    assert len(over.verdicts) == 4
    assert [departures(points, one) for one in over.voters] == [[], ["threshold b"]]
    assert over.breaks(("20", "a")) == ("some",)
    assert over.verdicts["20", "a"]["1a"] is Verdict.CONTRADICTED
    assert judged.verdict is Verdict.REPRODUCED
    assert over.tally("1a") == {"reproduced": 2}
    assert over.best in over.voters
    # Without the fact the claim depends on the window.
    (free,), _ = judge_over_readings(paper(points, []), whole, run)
    assert free.verdict is Verdict.DEPENDS


def test_a_key_is_multiplied_wherever_it_is_set():
    links = OpenPoint(
        "links",
        "o",
        "s",
        "one",
        "w",
        [Admitted("one"), Admitted("two", times={"wired.delay": 2})],
    )
    settings = [
        point.settings["wired.delay"] for point in read_as(EXPERIMENT, [links], ("two",)).points()
    ]
    assert settings == ["20 ms", "20 ms", "40 ms", "40 ms"]
    assert scaled("15 ms", 0.5) == "7.5 ms"
    assert scaled(15, 2) == 30
    assert scaled(15, plus=-1) == 14
    with pytest.raises(ValueError, match="quantity"):
        scaled("long", 2)
