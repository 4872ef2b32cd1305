"""`airtcp run --sessions`: the window that past sessions ended with."""

import json
from pathlib import Path

from typer.testing import CliRunner

from airtcp import _core
from airtcp.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = str(ROOT / "scenarios" / "lossy-pipe.toml")
RUNNER = CliRunner()


def run(file: Path, *more: str) -> tuple[dict[str, object], str]:
    """A short transfer; its first flow, and what was said."""
    arguments = ["run", SCENARIO, "--set", "flows.bytes=100 kB", "--sessions", str(file), *more]
    result = RUNNER.invoke(app, [*arguments, "--set", "link.loss.rate=0", "--json"])
    assert result.exit_code == 0, result.output
    start = result.output.index("{")
    summary = json.loads(result.output[start:])
    summary = summary.get("summary", summary)
    return summary["flows"][0], result.output[:start]


def test_after_three_sessions_a_short_transfer_starts_larger_and_ends_sooner(
    tmp_path: Path,
) -> None:
    file = tmp_path / "sessions"
    flows = [run(file)[0] for _ in range(4)]
    assert flows[0]["completed_s"] == flows[2]["completed_s"]
    assert float(str(flows[3]["completed_s"])) < float(str(flows[0]["completed_s"]))
    other, _ = run(file, "--peer", "unknown")
    assert other["completed_s"] == flows[0]["completed_s"]


def test_a_damaged_file_is_told_of_and_does_not_stop_the_run(tmp_path: Path) -> None:
    file = tmp_path / "sessions"
    run(file)
    with file.open("ab") as more:
        more.write(b"x\n")
    _, said = run(file)
    assert "set aside" in " ".join(said.split())
    assert (tmp_path / "sessions.corrupt-1").exists()


def test_a_file_of_something_else_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("my notes\n" * 200)
    _, said = run(file)
    assert "kept in memory only" in " ".join(said.split())
    assert file.read_text() == "my notes\n" * 200
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_core_answers_none_for_strangers(tmp_path: Path) -> None:
    assert _core.session_window(tmp_path / "s", "nobody", 0, 0) == (None, [])


def test_it_says_what_it_begins_with_and_what_it_keeps(tmp_path: Path) -> None:
    file = tmp_path / "sessions"
    told = [" ".join(run(file)[1].split()) for _ in range(4)]
    assert all("too few past sessions with 'default'" in said for said in told[:3])
    assert "begins with" in told[3]
    assert all("kept" in said for said in told)
