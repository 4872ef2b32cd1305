"""Readings as data: their settings, their verdicts, and the departures that turn a claim."""

from pathlib import Path

import pytest
from msgspec import structs

from airtcp.papers.affecting import affecting_points
from airtcp.papers.calibration import calibrated
from airtcp.papers.check_readings import check_joint, check_readings
from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.files import PaperError
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.outcomes import Outcomes, merged
from airtcp.papers.paper import About, Calibration, Paper, PaperFile, Target
from airtcp.papers.read_as import claims_at, read_as
from airtcp.papers.readings import (
    Admitted,
    JointReading,
    OpenPoint,
    default_reading,
    departures,
    joint_readings,
)
from airtcp.papers.rules import CANDIDATES, Verdict
from airtcp.papers.texts import NumberSpec, check_text, number_as_text
from airtcp.papers.unset import without_unset

PAPERS = Path(__file__).resolve().parents[2] / "papers"

WINDOW = OpenPoint(
    "window", "o", "s", "20", "w", [Admitted("20"), Admitted("200", {"tcp.max_window": 200})]
)
COUNT = OpenPoint(
    "count", "o", "s", "k", "w", [Admitted("k"), Admitted("k + 1", add={"wlan.loss.lost": 1})]
)
LOSS = OpenPoint(
    "loss",
    "o",
    "s",
    "one way",
    "w",
    [Admitted("one way"), Admitted("both ways", times={"link.loss.rate": 2})],
    experiments=["e"],
)
REMEDY = OpenPoint(
    "remedy",
    "o",
    "s",
    "plain",
    "w",
    [Admitted("plain"), Admitted("other", replace={"newzag": "newzag:adjusted=1"})],
)
THRESHOLD = OpenPoint(
    "threshold", "o", "s", "a", "w", [Admitted("a"), Admitted("b", {"tcp.initial_ssthresh": 1})]
)
POINTS = [WINDOW, COUNT, LOSS, REMEDY]
EXPERIMENT = Experiment(
    "e",
    "t",
    "s.toml",
    settings={"link.loss.rate": 0.1},
    axes=[
        Axis("k", key="wlan.loss.lost", values=[5, 10]),
        Axis("sender", choices=[Choice("none"), Choice("n", remedies="sack+newzag")]),
        Axis("a", remedy="newzag:alpha={}", values=[1]),
    ],
)


def test_a_reading_changes_what_it_names_and_leaves_the_points_names():
    read = read_as(EXPERIMENT, POINTS, ("200", "k + 1", "both ways", "other"))
    assert [point.coordinates for point in read.points()] == [
        point.coordinates for point in EXPERIMENT.points()
    ]
    point = list(read.points())[-1]
    assert point.settings == {
        "tcp.max_window": 200,
        "wlan.loss.lost": 11,
        "link.loss.rate": 0.2,
    }
    assert point.remedies == "sack+newzag:adjusted=1+newzag:adjusted=1,alpha=1"
    assert read_as(EXPERIMENT, POINTS, default_reading(POINTS)) == EXPERIMENT


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (OpenPoint("w", "o", "s", "30", "w", WINDOW.values), "default = '30'.*20, 200"),
        (OpenPoint("w", "o", "s", "20", "w", WINDOW.values[:1]), "two values"),
        (OpenPoint("w", "o", "s", "20", "w", WINDOW.values, ["f"]), "no experiment 'f'"),
        (
            OpenPoint("w", "o", "s", "a", "w", [Admitted("a"), Admitted("b", add={"x.y": 1})]),
            "x.y: no experiment sets this key",
        ),
        (
            OpenPoint("w", "o", "s", "a", "w", [Admitted("a"), Admitted("b", replace={"x": "y"})]),
            "no experiment uses it",
        ),
        (OpenPoint("w", "o", "s", "a", "w", [Admitted("a"), Admitted("b")]), "change nothing"),
    ],
)
def test_wrong_readings_are_told(point, message):
    with pytest.raises(PaperError, match=message):
        check_readings("p", [point], [EXPERIMENT])
    with pytest.raises(PaperError, match="twice"):
        check_readings("p", [WINDOW, WINDOW], [EXPERIMENT])


def _paper(points: list[OpenPoint], calibrations: list[Calibration] | None = None) -> Paper:
    experiment = Experiment(
        "e", "t", "s.toml", axes=[Axis("remedy", choices=[Choice("off"), Choice("on")])]
    )
    tried = Experiment(
        "c",
        "t",
        "s.toml",
        axes=[Axis("v", choices=[Choice("1"), Choice("2", settings={"z": 2}), Choice("3")])],
    )
    part = Part("gain", "e", baseline={"remedy": "off"}, treated={"remedy": "on"}, paper=[20])
    file = PaperFile(
        About(1, "s", "t", "a", "v", [], "."),
        experiments=[experiment, tried],
        calibrations=calibrations or [],
        readings=points,
    )
    return Paper("p", Path("p"), file, [Claim("1a", "w", "p", [part])])


def _runs(experiment: Experiment, gain: float) -> Outcomes:
    outcomes = Outcomes(seeds={experiment.id: (1, 2, 3, 4)})
    for place, factor in (("off", 1.0), ("on", 1 + gain / 100)):
        values = [factor * (100 + seed * factor) for seed in range(4)]
        point = experiment.coordinates({"remedy": place})
        outcomes.measured[experiment.id, point] = [{"goodput_bps": value} for value in values]
    return outcomes


def test_the_point_that_decides_is_found():
    """The gain depends only on the window; the threshold does nothing."""
    paper = _paper([THRESHOLD, WINDOW])
    (experiment, _) = paper.file.experiments
    ran = []

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        points = {experiment.coordinates({"remedy": place}) for place in ("off", "on")}
        assert all(only == {"e": points} for _, only in readings)
        ran.extend((one, fresh) for (one,), _ in readings)
        return [
            _runs(one, 21.0 if one.settings.get("tcp.max_window") == 200 else -10.0)
            for (one,), _ in readings
        ]

    (judged,), over = judge_over_readings(paper, _runs(experiment, -10.0), run)
    assert judged.under_default is Verdict.CONTRADICTED
    assert judged.verdict is Verdict.DEPENDS
    assert len(over.verdicts) == 4
    # The default with as few seeds, and three others; then two of them again with the default.
    assert [fresh for _, fresh in ran] == [False] * 4 + [True] * 3
    assert [one.settings for one, fresh in ran if fresh][:2] == [{}, {"tcp.max_window": 200}]
    asked = over.fresh["1a"][0]
    assert over.turning("1a") == over.fresh["1a"]
    assert asked.verdict is Verdict.REPRODUCED
    assert over.tally("1a") == {"reproduced": 2, "contradicted": 2}
    assert departures(over.points, asked.reading) == ["window 200"]
    assert departures(over.points, over.best) == ["window 200"]
    assert over.never == []


def test_a_reading_may_choose_the_statistic() -> None:
    """The same runs, judged by another measurement; a point that does so touches the claim."""
    point = OpenPoint(
        "statistic",
        "o",
        "s",
        "highest",
        "w",
        [
            Admitted("highest"),
            Admitted("mean", measure={"goodput_peak_bps": "goodput_bps"}),
        ],
        experiments=["e"],
    )
    claim = Claim(
        "1",
        "w",
        "p",
        [
            Part("gain", "e", measure="goodput_peak_bps"),
            Part("gain", "other", measure="goodput_peak_bps"),
            Part("gain", "e", measure="timeouts"),
        ],
    )
    (plain,) = claims_at([claim], [point], ("highest",))
    (other,) = claims_at([claim], [point], ("mean",))
    assert plain == claim
    measures = [part.measure for part in other.parts]
    assert measures == ["goodput_bps", "goodput_peak_bps", "timeouts"]
    experiment = Experiment("e", "t", "s", 1, 1)
    file = PaperFile(
        About(1, "s", "t", "a", "v", [], "."), [experiment, Experiment("other", "t", "s")]
    )
    without = structs.replace(claim, id="2", parts=claim.parts[1:])
    paper = Paper("p", Path("p"), file, [claim, without])
    assert affecting_points(paper, [point]) == {"1": (0,), "2": ()}
    wrong = structs.replace(point, values=[Admitted("highest"), Admitted("a", measure={"x": "y"})])
    with pytest.raises(PaperError, match="'x' is no measurement"):
        check_readings("w", [wrong], [experiment])


def test_a_value_that_is_limited_to_a_place_changes_nothing_elsewhere():
    """A value left open by a calibration of one shape of round trips is irrelevant to another."""
    mean = OpenPoint(
        "mean",
        "o",
        "s",
        "1",
        "w",
        [Admitted("1"), Admitted("2", {"link.delay": "2 s"}, at={"sender": "n"})],
    )
    settings = {
        point.coordinates[1][1]: point.settings.get("link.delay")
        for point in read_as(EXPERIMENT, [mean], ("2",)).points()
    }
    assert settings == {"none": None, "n": "2 s"}


def test_an_experiment_that_a_reading_does_not_touch_is_run_once():
    elsewhere = OpenPoint(
        "x", "o", "s", "a", "w", [Admitted("a"), Admitted("b", {"k": 1})], experiments=["c"]
    )
    paper = _paper([elsewhere])
    (experiment, _) = paper.file.experiments
    ran = []

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        ran.extend(readings)
        return [_runs(one, 3.0) for (one,), _ in readings]

    (judged,), over = judge_over_readings(paper, _runs(experiment, 21.0), run)
    assert judged.verdict is Verdict.REPRODUCED
    assert len(over.verdicts) == 2
    assert len(ran) == 1  # the default with few seeds, for comparison


def test_few_seeds_that_show_nothing_are_no_reading_that_decides():
    """With its few seeds the default shows no more than the other readings do."""
    paper = _paper([WINDOW, THRESHOLD])
    (experiment, _) = paper.file.experiments

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [_runs(one, 0.1) for (one,), _ in readings]

    (judged,), over = judge_over_readings(paper, _runs(experiment, 21.0), run)
    assert over.tally("1a") == {"reproduced": 1, "not shown": 3}
    assert judged.verdict is Verdict.REPRODUCED
    assert over.fresh == {}


def test_a_reading_that_few_seeds_make_disagree_is_asked_again():
    """A disagreement by chance does not recur; and the default is not blamed for it."""
    paper = _paper([WINDOW, THRESHOLD])
    (experiment, _) = paper.file.experiments

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        unlucky = not fresh
        return [
            _runs(one, -10.0 if unlucky and "tcp.max_window" in one.settings else 21.0)
            for (one,), _ in readings
        ]

    (judged,), over = judge_over_readings(paper, _runs(experiment, 21.0), run)
    # More seeds decide now: the verdicts of few are forgotten.
    assert over.tally("1a") == {"reproduced": 4}
    assert judged.verdict is Verdict.REPRODUCED
    assert [(one.holds, one.p_value) for one in over.fresh["1a"]] == [(False, 1.0)] * 2


def test_a_reading_that_contradicts_decides_nothing_where_the_default_is_silent():
    """Never the paper's way needs the default's own contradiction."""
    paper = _paper([WINDOW, THRESHOLD])
    (experiment, _) = paper.file.experiments

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [
            _runs(one, -10.0 if "tcp.max_window" in one.settings else 0.1) for (one,), _ in readings
        ]

    (silent,), _ = judge_over_readings(paper, _runs(experiment, 0.1), run)
    assert silent.verdict is Verdict.NOT_SHOWN

    def mostly(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [
            _runs(one, 0.1 if "tcp.max_window" in one.settings else -10.0) for (one,), _ in readings
        ]

    (against,), _ = judge_over_readings(paper, _runs(experiment, -10.0), mostly)
    assert against.verdict is Verdict.NEVER


def test_no_more_readings_are_asked_again_than_are_said():
    points = [
        OpenPoint(name, "o", "s", "a", "w", [Admitted("a"), Admitted("b", {f"{name}.x": 1})])
        for name in ("p", "q", "r")
    ]
    paper = _paper(points)
    (experiment, _) = paper.file.experiments
    asked = []

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        if fresh:
            asked.extend(one.settings for (one,), _ in readings if one.settings)
            return [_runs(one, 21.0) for (one,), _ in readings]
        return [_runs(one, -10.0 if one.settings else 21.0) for (one,), _ in readings]

    (judged,), over = judge_over_readings(paper, _runs(experiment, 21.0), run)
    assert over.tally("1a") == {"reproduced": 1 + CANDIDATES, "contradicted": 7 - CANDIDATES}
    assert len(asked) == len(over.fresh["1a"]) == CANDIDATES
    assert judged.verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("most", "verdict"), [(3, "contradicted"), (2, "contradicted"), (1, "not shown")]
)
def test_contradicted_needs_every_value(most, verdict):
    paper = _paper([WINDOW, THRESHOLD])
    (experiment, _) = paper.file.experiments

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [_runs(one, -10.0) for (one,), _ in readings]

    (judged,), over = judge_over_readings(paper, _runs(experiment, -10.0), run, most)
    assert len(over.verdicts) == 1 + most
    assert judged.under_default is Verdict.CONTRADICTED
    assert str(judged.verdict) == verdict
    # With values that nobody has tried it is open.
    assert judged.undecided is (most < 2)


def test_readings_that_do_not_touch_a_claim_are_counted_once():
    """A remedy that the claim's runs do not have is no second reading of it, nor decides it."""
    paper = _paper([REMEDY, WINDOW])
    (experiment, _) = paper.file.experiments

    def run(readings: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        return [
            _runs(one, 21.0 if "tcp.max_window" in one.settings else -10.0)
            for (one,), _ in readings
        ]

    _, over = judge_over_readings(paper, _runs(experiment, -10.0), run)
    assert len(over.verdicts) == 4
    assert over.affecting == {"1a": (1,)}
    assert over.tally("1a") == {"reproduced": 1, "contradicted": 1}
    assert [departures(over.points, one.reading) for one in over.turning("1a")] == [["window 200"]]


@pytest.mark.parametrize("key", ["wlan.radio.speed_m_per_s"])
def test_a_key_can_be_taken_away_with_what_it_belongs_to(tmp_path, key):
    file = tmp_path / "s.toml"
    file.write_text("[wlan.radio]\nfading = 'jakes'\nspeed_m_per_s = 0.8\ndistance_m = 55\n")
    settings = without_unset(file, {key: None, "wlan.radio.fading": "independent"})
    assert settings == {
        "wlan.radio": '{ fading = "jakes", distance_m = 55 }',
        "wlan.radio.fading": "independent",
    }
    given = {key: None, "wlan.radio": "{ speed_m_per_s = 1, between = [40, 70], on = true }"}
    assert without_unset(file, given) == {"wlan.radio": "{ between = [40, 70], on = true }"}
    with pytest.raises(PaperError, match=r"no table wlan\.air"):
        without_unset(file, {"wlan.air.x": None})
    point = OpenPoint("f", "o", "s", "a", "w", [Admitted("a"), Admitted("b", unset=[key])])
    assert read_as(EXPERIMENT, [point], ("b",)).settings[key] is None


def test_joint_readings_name_values_that_there_are():
    check_joint("p", POINTS, [JointReading("w", {"window": "200"})])
    assert joint_readings(POINTS, [JointReading("w", {"window": "200"})]) == [
        ("200", "k", "one way", "plain")
    ]
    with pytest.raises(PaperError, match="window = '30'"):
        check_joint("p", POINTS, [JointReading("w", {"window": "30"})])


def test_a_calibration_says_what_it_does_not_identify():
    calibration = Calibration("v", "c", "v", "2", "s", targets=[Target(100.0)])
    paper = _paper([], [calibration])
    _, tried = paper.file.experiments
    outcomes = Outcomes(seeds={"c": (1, 2, 3, 4)})
    for place, values in {
        "1": [99, 103, 98, 104],
        "2": [103, 98, 104, 99],
        "3": [200, 201] * 2,
    }.items():
        point = tried.coordinates({"v": place})
        outcomes.measured["c", point] = [{"goodput_bps": float(value)} for value in values]
    found = calibrated(paper, calibration, outcomes)
    assert set(found.alike) == {"1", "2"}
    assert not found.identifies
    assert found.errors["3"] == pytest.approx(0.695, abs=0.01)
    outcomes = merged([outcomes, _runs(paper.file.experiments[0], 20.0)])
    _, over = judge_over_readings(
        paper,
        outcomes,
        lambda readings, fresh=False: [_runs(one, 20.0) for (one,), _ in readings],
    )
    assert [point.names for point in over.points] == [["2", "1"]]


def test_texts_type_no_number_that_a_run_gave():
    numbers = [NumberSpec("gain", "e", at={}, treated={"remedy": "on"})]
    check_text(
        "w",
        "RFC 6298 §2.3: at 10 ms {gain} of the paper's 46 %, Table II, 802.11b",
        numbers,
        "10 ms, +46 %",
    )
    with pytest.raises(PaperError, match="12: neither"):
        check_text("w", "a gain of 12 %", numbers, "10 ms")
    with pytest.raises(PaperError, match=r"\{loss\}: no"):
        check_text("w", "a {loss}", numbers, "")
    experiment = _paper([]).file.experiments[0]
    number = NumberSpec(
        "gain", "e", baseline={"remedy": "off"}, treated={"remedy": "on"}, shown="gain"
    )
    assert number_as_text(number, experiment, _runs(experiment, 21.0)).startswith("+21.")
