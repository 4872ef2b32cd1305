"""`airtcp verify`: the kernel's runs compared with simulated ones, and what is said of them."""

import json
import stat
import sys
from pathlib import Path

import pytest

from airtcp._core import RunError, ScenarioError
from airtcp.kernel.verify import Verification, verify
from airtcp.pages.verification import latency_table

FAKE = """#!{python}
import json, pathlib, sys
arguments = sys.argv[1:]
log = pathlib.Path({log!r})
with log.open("a") as file:
    file.write(json.dumps(arguments) + "\\n")
value = lambda name, default: arguments[arguments.index(name) + 1] if name in arguments else default
remedy, seed = value("--remedy", ""), int(value("--seed", "0"))
if remedy == "fack":
    print('airtcp-net: remedy "fack": removed in version 4.15', file=sys.stderr)
    sys.exit(2)
calls = sum(json.loads(line) == arguments for line in log.read_text().splitlines())
late = {late} > calls
print(json.dumps({{
    "scenario": "steady", "congestion_control": "reno", "steps": ["a step"] if remedy else [],
    "instead": [], "goodput_bps": 5e6 + seed * 1e4 + (1e6 if remedy else 0),
    "retransmissions": seed, "timeouts": 1, "undos": 0,
    "verdicts": [], "srtt_ms": 50.0, "rttvar_ms": 3.0,
    "rtt_p50_ms": 71.0 + seed, "rtt_p95_ms": 93.0 if remedy else None,
    "late_median_ms": 0.02, "late_p99_ms": 0.1, "late_worst_ms": 0.9,
    "late_share": 0.5 if late else 0.0, "in_time": not late, "kernel": "6.1-test",
}}))
"""


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of airtcp-net that answers at once; returns the log of its calls."""
    return _install(tmp_path, monkeypatch, late=0)


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, late: int) -> Path:
    program, log = folder / "airtcp-net", folder / "calls"
    program.write_text(FAKE.format(python=sys.executable, log=str(log), late=late))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr("airtcp.kernel.runs.find_program", lambda: str(program))
    return log


def _calls(log: Path) -> list[list[str]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def _verified(file: Path, **options: object) -> Verification:
    return verify(file, ["rto-factor", "sack"], 2, {"duration": "2 s"}, **options)  # type: ignore[arg-type]


def test_runs_are_paired_by_seed_and_told_how_they_were_made(
    kernel: Path, steady_file: Path
) -> None:
    found = _verified(steady_file)
    assert found.kernel == "6.1-test"
    assert found.goodput("baseline") == [5.01e6, 5.02e6]
    assert found.differences["sack"].mean == pytest.approx(1e6)
    asked = [call for call in _calls(kernel) if "--check" not in call]
    assert all(call[:2] == ["measure", str(steady_file)] for call in asked)
    assert all(call[4:6] == ["--set", "duration=2 s"] for call in asked)
    # A factor of the deviation gets the one that the kernel's baseline has measured.
    with_deviation = [call for call in asked if "--deviation" in call]
    assert {call[call.index("--remedy") + 1] for call in with_deviation} == {"rto-factor"}
    assert {call[-1] for call in with_deviation} == {"3.000000"}


def test_what_is_stored_is_not_measured_again(
    kernel: Path, steady_file: Path, tmp_path: Path
) -> None:
    first = _verified(steady_file, out=tmp_path / "out")
    measured = [call for call in _calls(kernel) if "--check" not in call]
    second = _verified(steady_file, out=tmp_path / "out")
    assert [call for call in _calls(kernel) if "--check" not in call] == measured
    assert second.verdict == first.verdict


def test_a_remedy_without_a_way_is_refused_before_anything_runs(
    kernel: Path, steady_file: Path
) -> None:
    with pytest.raises(ScenarioError, match=r'remedy "fack": removed in version 4\.15'):
        verify(steady_file, ["sack", "fack"], 2)
    assert all("--check" in call for call in _calls(kernel))


def test_a_late_run_is_repeated_and_then_counts(
    tmp_path: Path, steady_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = _install(tmp_path, monkeypatch, late=2)
    found = verify(steady_file, ["sack"], 1, {"duration": "1 s"})
    assert found.measured["sack"][0]["in_time"]
    assert len([call for call in _calls(log) if "--check" not in call]) == 4


def test_runs_that_are_always_late_are_an_error(
    tmp_path: Path, steady_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _install(tmp_path, monkeypatch, late=99)
    with pytest.raises(RunError, match="did not keep up in 3 runs"):
        verify(steady_file, ["sack"], 1, {"duration": "1 s"})


def test_the_report_holds_both_and_the_steps(
    kernel: Path, steady_file: Path, tmp_path: Path
) -> None:
    page = _verified(steady_file).report(tmp_path / "out", "airtcp verify …").read_text()
    assert "a step" in page
    assert "6.1-test" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert (tmp_path / "out" / "verification.csv").read_text().count("\n") == 7


def test_latency_is_the_links_and_what_the_sender_believes_stands_apart(
    kernel: Path, steady_file: Path
) -> None:
    found = _verified(steady_file)
    table = latency_table(found)
    baseline, sack = (
        dict(zip(table.columns, row, strict=False)) for row in (table.rows[0], table.rows[-1])
    )
    assert baseline["round trip, median"] == "72.5 ms"
    assert baseline["SRTT, as the sender believes"] == "50.0 ms"
    # Not measured is no zero.
    assert (baseline["95th percentile"], sack["95th percentile"]) == ("", "93.0 ms")
    simulated = [run["flows"][0]["rtt_p50_ms"] for run in found.simulated.summaries["baseline"]]
    assert all(one is not None for one in simulated)
    assert table.rows[0][2] == f"{simulated[0]:.1f} ms"


@pytest.mark.needs("namespaces", "tun")
def test_a_real_kernel_is_beside_its_simulation(lossy_file: Path) -> None:
    """A short run of the real thing, where airtcp-net and namespaces are to be had."""
    try:
        found = verify(lossy_file, ["sack"], 2, {"duration": "3 s"})
    except RunError as error:
        if "did not keep up" not in str(error):
            raise
        pytest.skip(str(error))
    real, simulated = found.goodput("baseline"), found.simulated.values("baseline", "goodput_bps")
    assert all(0 < one <= 10e6 for one in real)
    # The first packets meet an empty queue on either side: a link of the same length.
    for field in ("rtt_p50_ms", "delay_p50_ms"):
        measured = found.mean_latency("baseline", field)
        expected = [run["flows"][0][field] for run in found.simulated.summaries["baseline"]]
        assert measured == pytest.approx(sum(expected) / 2, rel=1 / 3)
    # Three seconds with some twenty losses: the same channel, within a third of each other.
    assert sum(real) == pytest.approx(sum(simulated), rel=1 / 3)
