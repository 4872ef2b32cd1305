"""`airtcp script`: packetdrill's scripts over the simulated endpoint."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp.cli.commands import app
from airtcp.core.scripts import find_scripts, profiles, run_script

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
RUNNER = CliRunner()

SYN = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 1000 <mss 1460>
   +0 > S. 0:0(0) ack 1 <mss {mss}>
"""


def test_the_projects_own_scripts_pass() -> None:
    results = [run_script(path) for path in find_scripts([SCRIPTS])]
    assert len(results) >= 60
    assert [result for result in results if result.outcome != "passed"] == []


def test_a_script_names_its_profile() -> None:
    path = SCRIPTS / "fast_retransmit" / "tahoe-starts-from-one-segment.pkt"
    assert run_script(path).profile == "tahoe"
    assert run_script(path, "newreno").outcome == "failed"


def test_a_failure_shows_both_sides_and_ends_with_1(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pkt"
    wrong.write_text(SYN.format(mss=1000))
    result = RUNNER.invoke(app, ["script", str(wrong)])
    assert result.exit_code == 1
    assert "the MSS option differs" in result.output
    assert "<mss 1000> |" in result.output
    assert "1 failed" in result.output


def test_json_has_one_entry_a_script(tmp_path: Path) -> None:
    (tmp_path / "a.pkt").write_text(SYN.format(mss=1460))
    (tmp_path / "b.pkt").write_text("0 frobnicate() = 0\n")
    (tmp_path / "c.pkt").write_text("now what\n")
    result = RUNNER.invoke(app, ["script", str(tmp_path), "--json"])
    assert result.exit_code == 1
    outcomes = {Path(one["path"]).name: one["outcome"] for one in json.loads(result.output)}
    assert outcomes == {"a.pkt": "passed", "b.pkt": "unsupported", "c.pkt": "unreadable"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["no/such/file.pkt"], "no such file or folder"),
        ([str(SCRIPTS), "--profile", "solaris"], "expected one of"),
    ],
)
def test_bad_input_ends_with_2(arguments: list[str], expected: str) -> None:
    result = RUNNER.invoke(app, ["script", *arguments])
    assert result.exit_code == 2
    assert expected in " ".join(result.output.split())


def test_profiles_have_summaries() -> None:
    assert {"linux", "linux-reno", "linux-bbr", "linux-2.4", "ns2-newreno"} <= profiles().keys()
