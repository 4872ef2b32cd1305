"""Facts of a paper's text, and the readings that they and the numbers choose."""

import math
from pathlib import Path

import pytest

from airtcp.papers.check import PaperError
from airtcp.papers.choice import Fit, alike, fit_of, has_fit, nearest_first
from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Axis, Choice, Experiment, multiplied
from airtcp.papers.facts import Fact, broken_facts, check_facts
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import About, Paper, PaperFile, find_papers, load_papers
from airtcp.papers.readings import (
    Admitted,
    OpenPoint,
    default_reading,
    departures,
    drawn,
    read_as,
    whole_grid,
)
from airtcp.papers.rules import Verdict
from airtcp.papers.search import Extent, next_nearer, to_scan

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

    def run(readings: list[ToRun], *, fresh: bool = False, scan: bool = False) -> list[Outcomes]:
        return [
            measured(([0, 0, 0, 0], [0, 0, 0, 0]), gain=-15)
            if one.settings.get("tcp.max_window") == 20
            else measured(([0, 0, 0, 0], [50, 60, 55, 58]))
            for (one,), _ in readings
        ]

    whole = measured(([0, 0, 0, 0], [50, 60, 55, 58]))
    (judged,), over = judge_over_readings(paper(points, [SOME]), whole, run, Extent(10))
    assert len(over.verdicts) == 4
    assert [departures(points, one) for one in over.voters] == [[], ["threshold b"]]
    assert over.breaks(("20", "a")) == ("some",)
    assert over.verdicts["20", "a"]["1a"] is Verdict.CONTRADICTED
    assert judged.verdict is Verdict.REPRODUCED
    assert over.tally("1a") == {"reproduced": 2}
    assert over.best in over.voters
    # Without the fact the claim depends on the window.
    (free,), _ = judge_over_readings(paper(points, []), whole, run, Extent(10))
    assert free.verdict is Verdict.DEPENDS


def test_readings_are_alike_where_noise_does_not_tell_their_errors_apart():
    fits = {
        ("a",): Fit(("some",), 0.90, 0.0, (0.89, 0.91, 0.90)),
        ("b",): Fit((), 0.30, 0.2, (0.29, 0.31, 0.30)),
        ("c",): Fit((), 0.20, 0.4, (0.19, 0.21, 0.20)),
        ("d",): Fit((), 0.21, 0.1, (0.15, 0.28, 0.20)),
    }
    assert nearest_first(fits) == [("c",), ("d",), ("b",), ("a",)]
    # d is as near within noise, b is not.
    assert alike(fits) == [("c",), ("d",)]
    assert alike({}) == []


def test_a_broken_fact_counts_as_a_number_that_is_off_by_ten():
    outcomes = measured(([0], [0]))
    kept, broken = fit_of(paper([], [NONE]), outcomes), fit_of(paper([], [SOME]), outcomes)
    assert kept.broken == ()
    assert broken.broken == ("some",)
    # A fact and two numbers, which ours hits.
    assert kept.error == pytest.approx(0, abs=0.002)
    assert broken.error == pytest.approx(math.log(10) / math.sqrt(3), abs=0.002)


def test_every_third_number_is_held_out():
    part = Part(
        "gain",
        "e",
        baseline={"remedy": "off"},
        treated={"remedy": "on"},
        along="delay",
        places=["10 ms", "20 ms"],
        paper=[20, 20],
    )
    other = Part(
        "gain",
        "e",
        at={"delay": "10 ms"},
        baseline={"remedy": "off"},
        treated={"remedy": "on"},
        paper=[44],
    )
    one = paper([], [])
    both = Paper("p", Path("p"), one.file, [Claim("1a", "w", "p", [part, other])])
    fit = fit_of(both, measured(([0], [0])))
    assert fit.error == pytest.approx(0, abs=0.002)
    assert fit.held_out == pytest.approx(0.182, abs=0.002)  # ln(1.44 / 1.2)
    assert len(fit.without) == 4


@pytest.mark.parametrize(
    ("between", "error"),
    [
        ([10, 30], 0),
        ([20, 20], 0),
        ([44, 60], 0.182),  # ln(1.44 / 1.2)
        ([0, 10], 0.087),  # ln(1.2 / 1.1)
    ],
)
def test_of_a_range_the_nearest_end_counts_at_every_place_and_nothing_inside(between, error):
    part = Part(
        "gain",
        "e",
        baseline={"remedy": "off"},
        treated={"remedy": "on"},
        along="delay",
        places=["10 ms", "20 ms"],
        between=between,
    )
    one = Paper("p", Path("p"), paper([], []).file, [Claim("1a", "w", "p", [part])])
    assert fit_of(one, measured(([0], [0]))).error == pytest.approx(error, abs=0.002)


POINTS = [
    OpenPoint(name, "o", "s", "a", "w", [Admitted("a"), Admitted("b", {f"{name}.x": 1})])
    for name in ("p", "q", "r", "s", "t")
]


def test_the_whole_grid_is_scanned_where_it_is_cheap_and_else_drawn_starts_go_on():
    assert to_scan(POINTS, 32) == whole_grid(POINTS)
    assert len(set(to_scan(POINTS, 32))) == 32
    some = to_scan(POINTS, 12)
    assert some == [default_reading(POINTS), *drawn(POINTS, 6)]
    assert len(set(some)) == 7
    assert to_scan(POINTS, 0) == []
    fits = {one: Fit((), 1.0 - 0.1 * one.count("b"), 0.0) for one in some}
    near = next_nearer(POINTS, fits, 12)
    best = nearest_first(fits)[0]
    assert 0 < len(near) <= 5
    assert not set(near) & set(some)
    assert all(sum(a != b for a, b in zip(one, best, strict=True)) == 1 for one in near)
    assert next_nearer(POINTS, fits, 7) == []


def test_a_scan_finds_the_reading_that_the_numbers_are_of():
    """One of 32: the rule meets it though the grid that is judged has six."""
    one = paper(POINTS, [])

    def run(readings: list[ToRun], *, fresh: bool = False, scan: bool = False) -> list[Outcomes]:
        good = {"p.x", "q.x", "t.x"}
        return [
            measured(([0], [0]), gain=20 if good == set(here.settings) else -10)
            for (here,), _ in readings
        ]

    whole = measured(([0], [0]), gain=-10)
    _, over = judge_over_readings(one, whole, run, Extent(6, scan=40.0))
    assert departures(over.points, over.nearest[0]) == ["p b", "q b", "t b"]
    assert over.default not in over.alike
    assert len(over.scanned) == 32


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
    assert multiplied("15 ms", 0.5) == "7.5 ms"
    assert multiplied(15, 2) == 30
    with pytest.raises(ValueError, match="quantity"):
        multiplied("long", 2)


@pytest.mark.parametrize("one", load_papers(find_papers()), ids=lambda one: one.name)
def test_every_number_that_chooses_stands_at_a_point_of_its_experiment(one):
    fit = fit_of(one, Outcomes())
    assert fit.without == ()
    assert (fit.error > 0) == has_fit(one)
