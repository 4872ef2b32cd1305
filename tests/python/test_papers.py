"""The papers: their data, the rules of judging, carrying out, and the report."""

import json
import random
import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from airtcp._core import ScenarioError
from airtcp.comparison.statistics import paired_difference
from airtcp.core.loading import load_scenario
from airtcp.pages.papers.charts import chart_of
from airtcp.pages.papers.evidence import evidence_table
from airtcp.papers import Verdict, load_papers, open_points
from airtcp.papers.calibration import Calibrated, calibrated
from airtcp.papers.carry_out import carry_out, plan_experiments, scenario_of
from airtcp.papers.claims import ClaimsFile, Part
from airtcp.papers.cross import (
    Company,
    Cross,
    CrossLink,
    CrossStack,
    load_cross,
    pair_outcomes,
)
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.files import PaperError, schema_of
from airtcp.papers.judge import judge_part
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import PaperFile
from airtcp.papers.read_as import read_as
from airtcp.papers.readings import one_at_a_time
from airtcp.papers.sampled import watched
from airtcp.papers.today import ranked_today, today_sentences

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "papers"

R, D, N, C = Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.NOT_SHOWN, Verdict.CONTRADICTED


def test_all_claims_of_all_papers_are_there():
    papers = load_papers(PAPERS)
    assert [paper.about.number for paper in papers] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    claims = [claim.id for paper in papers for claim in paper.claims]
    letters = ["abcdefghijk", "abcdefghijk", "abcdefghijkl", "abcdefghi"]
    letters += ["abcdefgh", "abcde", "abcd"]
    letters += ["abcdef", "abcde", "abcdefg"]
    assert claims == [f"{n}{letter}" for n, some in enumerate(letters, 1) for letter in some]
    for paper in papers:
        assert all(claim.parts for claim in paper.claims)
        assert (paper.folder / "README.md").is_file()
        # Every figure and table of a paper is drawn, and every experiment is used.
        used = {figure.experiment for figure in paper.file.figures}
        used |= {part.experiment for claim in paper.claims for part in claim.parts}
        used |= {one.experiment for one in paper.file.sensitivities}
        used |= {one.experiment for one in paper.file.calibrations}
        assert used == {experiment.id for experiment in paper.file.experiments}
        # Open points are listed: as readings, and where the text gives a fact, as a calibration.
        assert paper.file.readings


def test_every_point_of_every_experiment_is_a_valid_scenario():
    """A wrong key in a `paper.toml` would otherwise be found after minutes of running."""
    for paper in load_papers(PAPERS):
        for experiment in paper.file.experiments:
            for quick in (False, True) if experiment.quick_settings else (False,):
                for point in experiment.points(quick=quick):
                    scenario_of(paper.folder, point)


def test_every_reading_of_every_experiment_is_a_valid_scenario():
    for paper in load_papers(PAPERS):
        points = paper.file.readings
        for experiment in paper.file.experiments:
            for reading in one_at_a_time(points):
                first, *others = read_as(experiment, points, reading).points()
                for point in (first, *others[-1:]):
                    scenario_of(paper.folder, point)


@pytest.fixture
def calibrations_tell_nothing_apart(monkeypatch):
    """Every place of a calibration is a reading, as where all of them serve alike."""

    def none_told_apart(paper, calibration, outcomes):
        axis = paper.experiment(calibration.experiment).axis(calibration.axis)
        return Calibrated({place: [1.0] for place in axis.places}, axis.places)

    monkeypatch.setattr(open_points, "calibrated", none_told_apart)
    monkeypatch.setattr(open_points, "was_run", lambda *_: True)


@pytest.mark.usefixtures("calibrations_tell_nothing_apart")
def test_every_place_of_a_calibration_is_a_valid_reading():
    calibrated_points = 0
    for paper in load_papers(PAPERS):
        points = open_points.open_points(paper, Outcomes())
        calibrated_points += len(points) - len(paper.file.readings)
        for experiment in paper.file.experiments:
            for reading in one_at_a_time(points):
                scenario_of(paper.folder, next(read_as(experiment, points, reading).points()))
    assert calibrated_points >= 4


@pytest.mark.usefixtures("calibrations_tell_nothing_apart")
def test_joint_readings_are_valid_scenarios():
    """A reading that gives a table whole meets single keys of that table that others set."""
    for paper in load_papers(PAPERS):
        points = open_points.open_points(paper, Outcomes())
        chance = random.Random(paper.name)
        readings = [tuple(chance.choice(point.names) for point in points) for _ in range(20)]
        for experiment in paper.file.experiments:
            for reading in readings:
                first, *others = read_as(experiment, points, reading).points()
                for point in (first, *others[-1:]):
                    scenario_of(paper.folder, point)


def test_papers_are_chosen_by_name_and_number():
    with pytest.raises(PaperError, match="no papers here"):
        load_papers(ROOT / "docs")
    assert [paper.name for paper in load_papers(PAPERS, ["newzag", "1"])] == [
        "rto-factor",
        "newzag",
    ]
    with pytest.raises(PaperError, match=r"no paper 'tcp'.*1 \(rto-factor\)"):
        load_papers(PAPERS, ["tcp"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('kind = "gain"', 'kind = "gian"'),
            r"part\[0\]\.kind = 'gian': .*\"gain\"\?$",
        ),
        (('kind = "gain"', 'kind = "trend"'), r"claim 1a: a trend needs the axis .*: along$"),
        (('kind = "gain"', 'kind = "level"'), r"claim 1a: a level needs the paper's number: paper"),
        (("what =", "waht ="), r'claim\[0\]\.waht: unknown key; did you mean "what"'),
        (("{ loss = 0 }", "{ los = 0 }"), r"claim 1a: experiment 'e' has no axis 'los'"),
        (("{ loss = 0 }", "{ loss = 7 }"), r"claim 1a: .*axis 'loss' has no 7; it has 0, 1"),
        (('experiment = "e"', 'experiment = "f"'), r"no experiment 'f'; there are e"),
        (('explained_by = "g"', 'explained_by = "h"'), r"'h': no such figure; there are g"),
    ],
)
def test_wrong_files_are_told_where(tmp_path, change, message):
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "paper.toml").write_text(
        """[about]
number = 1
short = "s"
title = "t"
authors = "a"
venue = "v"
remedies = []
today = "."
[[experiment]]
id = "e"
title = "t"
scenario = "s.toml"
[[experiment.axis]]
name = "loss"
values = [0, 1]
[[figure]]
id = "g"
title = "t"
experiment = "e"
x = "loss"
"""
    )
    claims = """[[claim]]
id = "1a"
what = "w"
paper = "p"
explained_by = "g"
[[claim.part]]
kind = "gain"
experiment = "e"
baseline = { loss = 0 }
treated = { loss = 1 }
sign = "+"
"""
    (folder / "claims.toml").write_text(claims)
    assert len(load_papers(tmp_path)) == 1
    assert change[0] in claims
    (folder / "claims.toml").write_text(claims.replace(*change))
    with pytest.raises(ScenarioError, match=message):
        load_papers(tmp_path)


def test_the_schema_of_a_papers_files_holds_every_key():
    for kind, file in ((PaperFile, "paper.toml"), (ClaimsFile, "claims.toml")):
        schema = schema_of(kind)
        tables = schema["$defs"].values()
        known = {key for table in tables for key in table.get("properties", {})}
        for path in PAPERS.glob(f"*/{file}"):
            given = tomllib.loads(path.read_text(encoding="utf-8"))
            for table in (row for rows in given.values() if isinstance(rows, list) for row in rows):
                assert set(table) <= known, path


def _measured(experiment: Experiment, values: dict[object, list[float]]) -> Outcomes:
    outcomes = Outcomes(seeds={experiment.id: (1, 2, 3, 4)})
    for place, series in values.items():
        point = experiment.coordinates({"m": place})
        outcomes.measured[experiment.id, point] = [{"goodput_bps": value} for value in series]
    return outcomes


def test_trends_and_peaks_are_found():
    experiment = Experiment("e", "t", "s.toml", axes=[Axis("m", values=[1, 2, 3, 4])])
    rising = _measured(
        experiment,
        {1: [1, 2, 3, 4], 2: [2, 3, 4, 5.1], 3: [9, 9.5, 9, 9.9], 4: [8, 8.1, 8, 8.2]},
    )
    trend = Part("trend", "e", along="m", direction="rises")
    (judged,) = judge_part(experiment, trend, rising)
    assert judged.verdict is D  # the last step falls
    (judged,) = judge_part(experiment, Part("trend", "e", along="m", direction="falls"), rising)
    assert judged.verdict is C
    (judged,) = judge_part(experiment, Part("peak", "e", along="m", between=[3, 3]), rising)
    assert judged.paper == "best at 3"
    assert judged.verdict is R
    (judged,) = judge_part(experiment, Part("peak", "e", along="m", between=[1, 2]), rising)
    assert judged.verdict is C


def test_finished_points_are_not_run_again(tmp_path):
    experiment = Experiment(
        "e",
        "t",
        "lossy-pipe.toml",
        seeds=3,
        settings={"duration": "2 s"},
        axes=[
            Axis("loss", key="link.loss.rate", values=[0.0, 0.02]),
            Axis("remedy", choices=[Choice("baseline"), Choice("sack", remedies="sack")]),
            Axis("link", choices=[Choice("here"), Choice("n/a", remedies="inf-retry")]),
        ],
        partial=True,
    )
    told: list[tuple[int, int]] = []

    def run() -> Outcomes:
        (outcomes,) = carry_out(
            [plan_experiments([(ROOT / "scenarios", experiment)])],
            out=tmp_path,
            progress=lambda done, runs: told.append((done, runs)),
        )
        return outcomes

    first = run()
    assert told[0] == (0, 12)
    assert told[-1] == (12, 12)
    assert len(first.refused) == 4
    assert "no frames that a mobile retransmits" in next(iter(first.refused.values()))
    told.clear()
    again = run()
    assert told == [(12, 12)]
    assert again.measured == first.measured
    others = plan_experiments([(ROOT / "scenarios", experiment)], first_seed=100)
    (other,) = carry_out([others], out=tmp_path)
    assert other.measured != first.measured


@pytest.mark.parametrize("name", ["rto-factor", "newzag", "wsc-tcp"])
def test_what_was_chosen_is_as_near_to_the_papers_baseline_as_any(name):
    (paper,) = load_papers(PAPERS, [name])
    for calibration in paper.file.calibrations:
        experiment = paper.experiment(calibration.experiment)
        (outcomes,) = carry_out([plan_experiments([(paper.folder, experiment)])])
        alike = calibrated(paper, calibration, outcomes).alike
        assert calibration.chosen in alike, calibration.what


def test_charts_hold_what_was_measured():
    (paper,) = load_papers(PAPERS, ["newzag"])
    loss = [(paper.folder, paper.experiment("loss"))]
    (outcomes,) = carry_out([plan_experiments(loss, extent="quick", first_seed=5)])
    spec = next(figure for figure in paper.file.figures if figure.id == "fig-5")
    chart = chart_of(paper, spec, outcomes)
    assert chart.y_label == "goodput (kB/s)"
    newreno, adjusted = chart.lines
    assert newreno.paper[3] == pytest.approx(234.08)
    assert adjusted.means[3] > newreno.means[3]
    experiment = paper.experiment("loss")
    values = outcomes.values(experiment, "flow_goodput_Bps", {"loss": 0.01, "sender": "NewReno"})
    assert newreno.means[3] == pytest.approx(sum(values) / len(values) / 1000)


def test_a_watched_window_shows_its_steps():
    """NewZag reduces by a fifth on losses it takes for random, NewReno always by half."""
    settings = {"wired.loss.rate": 0.002, "flows.bytes": "10 MB"}
    scenario = load_scenario(PAPERS / "newzag" / "download.toml", settings)
    for remedy, few, many in (
        ("", "steps_four_fifths", "steps_half"),
        ("coin:q=1", "steps_half", "steps_four_fifths"),
    ):
        chosen = scenario.with_remedies(remedy) if remedy else scenario
        summary, window = watched(chosen, 1)
        sampled = json.loads(summary)["sampled"]
        assert sampled[few] == 0
        assert sampled[many] >= 3
        assert max(window.cwnd_segments) <= 70


def test_the_comparison_across_names_what_exists():
    cross = load_cross(PAPERS)
    assert cross
    experiment = cross.experiment()
    assert len(cross.pairs) == 10
    names = {choice.name for choice in experiment.axis("remedy").choices}
    assert {"baseline", "rto-factor:factor=10+delay-injection"} <= names
    scenario = load_scenario(ROOT / "scenarios" / "wlan-upload.toml")
    for name in cross.remedies:
        scenario.with_remedies(name)
    for quick in (False, True):
        planned = plan_experiments([(PAPERS, cross.experiment(quick=quick))])
        # A remedy is refused by a link that has no place for it, and by no means by all.
        taken = {place for _, coordinates in planned.keys for _, place in coordinates}
        assert taken >= {*cross.remedies, *cross.pairs_of}


@pytest.mark.parametrize(
    ("first", "second", "both", "company"),
    [
        (1.2, 1.1, 1.3, Company.COMBINE),
        (1.2, 1.1, 1.2, Company.NEITHER),
        (1.0, 0.6, 0.6, Company.NEITHER),  # one harms, the other does nothing: no fight
        (1.0, 0.6, 0.5, Company.FIGHT),
        (1.3, 0.9, 1.17, Company.NEITHER),  # both effects, multiplied
        (1.3, 1.3, 0.9, Company.FIGHT),
    ],
)
def test_two_remedies_combine_or_fight(first, second, both, company):
    cross = Cross(["a", "b"], ["a", "b"], [CrossLink("l", "l.toml")], [CrossStack("s")])
    experiment = cross.experiment()
    outcomes = Outcomes(seeds={"cross": (1, 2, 3, 4)})
    effects = {"baseline": 1.0, "a": first, "b": second, "a+b": both}
    for place, (name, effect) in enumerate(effects.items()):
        point = experiment.coordinates({"link": "l", "stack": "s", "remedy": name})
        outcomes.measured["cross", point] = [
            {"flow_goodput_bps": luck * effect * (1 + 0.0001 * place * seed)}
            for seed, luck in enumerate((90.0, 100.0, 110.0, 130.0))
        ]
    (pair,) = pair_outcomes(cross, experiment, outcomes)
    assert pair.company is company


def test_todays_sentences_are_of_the_ranking_that_compare_has():
    (paper,) = load_papers(PAPERS, ["newzag"])
    links = [
        CrossLink("3 download", "newzag/download.toml"),
        CrossLink("5 other", "wsc-tcp/x.toml"),
    ]
    stacks = [CrossStack("paper's"), CrossStack("Linux", is_today=True)]
    names = ["newzag:adjusted=1", "coin:q=0.4", "snoop", "bbr", "reno"]
    cross = Cross(names, [], links, stacks)
    experiment = cross.experiment()
    outcomes = Outcomes(seeds={"cross": (1, 2, 3, 4)})
    # No Linux has NewZag's default; the coin is no remedy, and Snoop has no place here.
    effects = {
        "baseline": 1.0,
        "newzag:adjusted=1": 1.3,
        "coin:q=0.4": 2.0,
        "bbr": 1.1,
        "reno": 0.8,
    }
    for link, stack, (name, effect) in product(links, stacks, effects.items()):
        at = {"link": link.name, "stack": stack.name, "remedy": name}
        outcomes.measured["cross", experiment.coordinates(at)] = [
            {"flow_goodput_bps": luck * effect + 0.1 * seed}
            for seed, luck in enumerate((90.0, 100.0, 110.0, 130.0))
        ]
    (ranked,) = ranked_today(cross, experiment, outcomes, paper)
    assert (ranked.link, ranked.stack) == ("3 download", "Linux")
    assert set(ranked.differences) == {"newzag:adjusted=1", "bbr", "reno"}
    first, own = today_sentences(ranked, paper.about.remedies)
    had = [one for one in ranked.ranking.candidates if one.is_had and one.helps]
    assert f"{had[0].remedy} (+" in first
    assert "coin" not in first
    assert own.startswith("The paper's own there: newzag:adjusted=1 (+")
    assert own.endswith(" helps.")
    # The same numbers, ranked as a comparison ranks them.
    before, after = (
        [run["flow_goodput_bps"] for run in outcomes.measured["cross", experiment.coordinates(at)]]
        for at in (
            {"link": "3 download", "stack": "Linux", "remedy": "baseline"},
            {"link": "3 download", "stack": "Linux", "remedy": "bbr"},
        )
    )
    alone = paired_difference(before, after, among=3, is_ratio=True)
    assert ranked.differences["bbr"] == alone


def test_evidence_counts_both_sides():
    (paper,) = load_papers(PAPERS, ["newzag"])
    loss = [(paper.folder, paper.experiment("loss"))]
    (outcomes,) = carry_out([plan_experiments(loss, extent="quick")])
    claim = next(claim for claim in paper.claims if claim.id == "3e")
    table = evidence_table(paper, claim, outcomes)
    assert table is not None
    assert table.columns[:2] == ("where", "timeouts a run")
    assert [row[0] for row in table.rows] == [f"loss {x}" for x in (0.001, 0.005, 0.01, 0.015)]
    assert all(" → " in cell for row in table.rows for cell in row[1:])
    level = next(claim for claim in paper.claims if claim.id == "3a")
    assert evidence_table(paper, level, outcomes) is None


def test_the_command_writes_a_report_that_stands_alone(tmp_path):
    command = [
        sys.executable,
        "-m",
        "airtcp",
        "papers",
        "5",
        "--quick",
        "--readings",
        "1",
        "--out",
        str(tmp_path),
    ]
    shown = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    told = json.loads(shown.stdout)
    assert [claim["id"] for claim in told["papers"][0]["claims"]] == [f"5{x}" for x in "abcdefgh"]
    assert sum(told["counts"].values()) == 8
    assert json.loads((tmp_path / "papers.json").read_text()) == told
    pages = {path.name: path.read_text() for path in tmp_path.glob("*.html")}
    assert set(pages) == {"index.html", "wsc-tcp.html"}
    for name, page in pages.items():
        assert "quick run" in page
        # No other file is needed, and every link leads to a place that is there.
        assert not re.findall(r'(?:src|srcset)="(?!data:)', page)
        for target in re.findall(r'href="([^"]+)"', page):
            file, _, anchor = target.partition("#")
            assert not anchor or f'id="{anchor}"' in pages[file or name], target
            assert (file or name) in pages
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
    assert pages["wsc-tcp.html"].count("<svg") == pages["wsc-tcp.html"].count("Its table")
    for claim in told["papers"][0]["claims"]:
        assert (
            f'href="wsc-tcp.html#claim-{claim["id"]}" title="{claim["verdict"]}'
            in pages["index.html"]
        )
        for part in claim["parts"][:3]:
            assert part["ours"] in pages["wsc-tcp.html"]
    # The second time everything is there already.
    again = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(again.stdout) == told


def test_a_folder_without_papers_is_an_error(tmp_path):
    command = [sys.executable, "-m", "airtcp", "papers", "nothing", "--papers", str(PAPERS)]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert shown.returncode == 2
    assert "no paper 'nothing'" in shown.stderr
