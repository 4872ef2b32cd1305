"""Papers on the kernel: runs, refusals with their reasons, and the table of papers-real.md."""

import json
import runpy
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from airtcp._core import AirtcpError, ScenarioError
from airtcp.kernel.runs import settings_of
from airtcp.papers.files import PaperError
from airtcp.papers.load import load_papers
from airtcp.papers.on_kernel import document, load_cases, run_cases
from airtcp.papers.paper import About, Paper, PaperFile

ROOT = Path(__file__).resolve().parents[2]

FAKE = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
with pathlib.Path({log!r}).open("a") as file:
    file.write(json.dumps(arguments) + "\\n")
value = lambda name: arguments[arguments.index(name) + 1] if name in arguments else ""
remedy, seed = value("--remedy"), int(value("--seed"))
if remedy == "fack" or "tcp.max_window=20" in arguments:
    print("airtcp-net: no kernel has it", file=sys.stderr)
    sys.exit(2)
print(json.dumps({{
    "scenario": "lossy", "congestion_control": "cubic", "instead": [],
    "steps": ["a step"] if remedy else [],
    "goodput_bps": 5e6 + seed * 1e4 + (1e6 + seed * 1e3 if remedy else 0),
    "retransmissions": seed, "timeouts": 1, "undos": 0, "srtt_ms": 50.0,
    "rttvar_ms": 2.0 + seed, "late_median_ms": 0.02, "late_p99_ms": 0.1, "late_worst_ms": 0.9,
    "late_share": 0.0, "in_time": True, "kernel": "6.1-test",
}}))
"""

CASES = """
seeds = 2
settings = { tcp = "{ profile = 'linux' }", duration = "1 s" }
[[case]]
name = "as it is"
scenario = "lossy.toml"
remedies = ["rto-factor", "fack", "sack"]
[[case]]
name = "in a window"
scenario = "lossy.toml"
settings = { "tcp.max_window" = 20 }
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of airtcp-net that answers at once; the log of its calls."""
    program, log = tmp_path / "airtcp-net", tmp_path / "calls"
    program.write_text(FAKE.format(python=sys.executable, log=str(log)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("airtcp.kernel.runs.find_program", lambda: str(program))
    return log


def _paper(file: Path, cases: str) -> Paper:
    """A paper of one scenario; `file` is where it is."""
    (file.parent / "kernel.toml").write_text(cases)
    about = About(9, "nine", "Title", "Authors", "Venue", [], "")
    return Paper("nine", file.parent, PaperFile(about), [])


def _measured(log: Path) -> list[list[str]]:
    """The runs, without the checks before them."""
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    return [call for call in calls if "--check" not in call]


def test_what_can_be_had_is_run_and_the_rest_says_why(log: Path, lossy_file: Path) -> None:
    results = run_cases(load_cases([_paper(lossy_file, CASES)]))
    told: dict[str, Any] = document(results)
    first, second = told["cases"]
    assert (told["kernel"], told["seeds"]) == ("6.1-test", 2)
    assert first["baseline"]["kernel"]["goodput_bps"] == [5.01e6, 5.02e6]
    factor, fack, sack = first["remedies"]
    # The differences are 1 001 000 and 1 002 000 of 5 015 000: half the interval of two values
    # is 12.706 times their deviation over the root of two.
    assert sack["effect"]["kernel"]["percent"] == pytest.approx(100 * 1_001_500 / 5_015_000)
    assert sack["effect"]["kernel"]["half_width"] == pytest.approx(
        100 * 12.706 * 500 / 5_015_000, rel=1e-4
    )
    # Linux has SACK already.
    assert sack["effect"]["simulated"]["outcome"] == "identical"
    # The kernel gains a fifth where the simulation gains nothing.
    assert sack["answer"] == "they differ"
    assert factor["steps"] == ["a step"]
    assert fack == {"remedy": "fack", "refusal": "no kernel has it"}
    assert (second["refusal"], second["baseline"]) == ("no kernel has it", None)
    made = _measured(log)
    assert len(made) == 6
    assert all("fack" not in call and "tcp.max_window=20" not in call for call in made)
    # The kernel's mean deviation in the baseline, of seeds 1 and 2.
    deviations = {call[-1] for call in made if "rto-factor" in call}
    assert deviations == {"3.500000"}
    assert not any("--deviation" in call for call in made if "rto-factor" not in call)


def test_what_is_stored_is_not_measured_again(log: Path, lossy_file: Path, tmp_path: Path) -> None:
    cases = load_cases([_paper(lossy_file, CASES)])
    first = document(run_cases(cases, tmp_path / "out"))
    measured = _measured(log)
    assert document(run_cases(cases, tmp_path / "out", jobs=2)) == first
    assert _measured(log) == measured


@pytest.mark.usefixtures("log")
def test_a_wrong_name_is_an_error_and_no_refusal(lossy_file: Path) -> None:
    with pytest.raises(AirtcpError, match="sacks"):
        load_cases([_paper(lossy_file, CASES.replace('"sack"', '"sacks"'))])
    with pytest.raises(PaperError, match="remedy"):
        load_cases([_paper(lossy_file, CASES.replace("remedies", "remedy"))])


@pytest.mark.usefixtures("log")
def test_a_machine_that_can_run_none_is_an_error(lossy_file: Path) -> None:
    refused = CASES.replace("duration", '"tcp.max_window" = 20, duration')
    with pytest.raises(ScenarioError, match="none of them"):
        document(run_cases(load_cases([_paper(lossy_file, refused)])))


def test_the_table_is_of_the_run_whose_data_are_kept() -> None:
    writer = runpy.run_path(str(ROOT / "pages" / "write_papers_real.py"))
    page = (ROOT / "docs" / "measurements" / "papers-real.md").read_text("utf-8")
    run = json.loads((ROOT / "docs" / "measurements" / "papers-real.json").read_text("utf-8"))
    assert writer["written"](page, run) == page, "make verify writes it"


@pytest.mark.usefixtures("log")
def test_the_run_is_of_every_paper_and_of_the_cases_as_they_are() -> None:
    run = json.loads((ROOT / "docs" / "measurements" / "papers-real.json").read_text("utf-8"))
    told = [
        (case["paper"], case["name"], case["settings"], [one["remedy"] for one in case["remedies"]])
        for case in run["cases"]
    ]
    papers = load_papers(ROOT / "papers")
    cases = load_cases(papers)
    assert told == [
        (case.paper.about.number, case.name, dict(settings_of(case.settings)), list(case.remedies))
        for case in cases
    ]
    having = {paper.name for paper in papers if (paper.folder / "kernel.toml").is_file()}
    assert {case.paper.name for case in cases} == having
