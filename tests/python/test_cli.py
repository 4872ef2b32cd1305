"""The command line: its output and streams, and the exit status that scripts rely on."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import airtcp
from airtcp import _core
from airtcp.cli.commands import app
from airtcp.core.catalogue import remedies


def airtcp_command(*arguments: str | Path, stdin: str | None = None) -> Result:
    """Runs a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def process(*arguments: str | Path, **options) -> subprocess.CompletedProcess[str]:
    """Runs a command in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "airtcp", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


def test_run_prints_one_json_object_and_nothing_else(lossy_file: Path) -> None:
    done = process("run", lossy_file, "--seed", "3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == airtcp.run(lossy_file, seed=3).summary
    assert done.stdout.count("\n") == 1


def test_run_prints_a_table(lossy_file: Path) -> None:
    done = airtcp_command("run", lossy_file, "--remedy", "sack", "--remedy", "rto-factor:factor=2")
    assert done.exit_code == 0
    for words in ("lossy", "sack", "rto-factor", "goodput", "of these spurious", "digest"):
        assert words in done.stdout


def test_run_says_that_a_connection_never_opened(lossy_file: Path) -> None:
    settings = ("--set", "link.loss.rate=1", "--set", "duration=20 s")
    done = airtcp_command("run", lossy_file, *settings)
    assert done.exit_code == 0
    assert "flow 0 never got past its handshake" in done.stdout
    (flow,) = airtcp.run(lossy_file, settings={"link.loss.rate": "1"}).summary["flows"]
    assert not flow["opened"]
    assert "handshake" not in airtcp_command("run", lossy_file).stdout


def test_run_counts_the_marks_of_queues(lossy_file: Path) -> None:
    marking = {
        "tcp.profile": "linux",
        "tcp.ecn": "request",
        "link.aqm.discipline": "codel",
        "link.aqm.ecn": "true",
    }
    (flow,) = airtcp.run(lossy_file, settings=marking).summary["flows"]
    assert flow["opened"]
    assert flow["segments_marked"] > 0
    settings = [word for key, value in marking.items() for word in ("--set", f"{key}={value}")]
    assert "marked by queues" in airtcp_command("run", lossy_file, *settings).stdout
    assert "marked by queues" not in airtcp_command("run", lossy_file).stdout


def test_run_of_many_flows_shows_some_and_the_sum(lossy_file: Path) -> None:
    done = airtcp_command("run", lossy_file, "--set", "flows.count=6")
    assert "flow 3" in done.stdout
    assert "flow 4" not in done.stdout
    assert "6 flows (the first 4 shown)" in done.stdout


def test_set_is_applied(lossy_file: Path) -> None:
    done = airtcp_command("run", lossy_file, "--set", "duration=2 s", "--json")
    assert json.loads(done.stdout)["duration_s"] == 2


def test_probes_come_as_columns(lossy_file: Path, tmp_path: Path) -> None:
    samples = tmp_path / "samples.parquet"
    done = airtcp_command(
        "run", lossy_file, "--json", "--probe", "cwnd", "--probe", "rto", "--samples", samples
    )
    columns = json.loads(done.stdout)["samples"]
    assert columns.keys() == {"time_s", "flow", "cwnd_bytes", "rto_ms"}
    assert pl.read_parquet(samples).to_dict(as_series=False) == columns


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_run_draws(lossy_file: Path, tmp_path: Path, suffix: str) -> None:
    figure = tmp_path / f"timeline.{suffix}"
    done = airtcp_command("run", lossy_file, "--plot", figure)
    assert done.exit_code == 0, done.stderr
    assert figure.stat().st_size > 1000
    assert str(figure) in done.stderr


def test_standard_input_is_a_scenario(lossy: str) -> None:
    done = process("run", "-", "--json", input=lossy)
    assert json.loads(done.stdout)["scenario"] == "lossy"


def test_compare_prints_one_json_object(lossy_file: Path, tmp_path: Path) -> None:
    done = process(
        "compare", lossy_file, "--remedy", "sack", "--seeds", "3", "--json", "--out", tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    comparison = json.loads(done.stdout)
    assert comparison.keys() == {
        "scenario",
        "scenario_hash",
        "engine_version",
        "seeds",
        "metric",
        "can",
        "smallest_percent",
        "decided",
        "stopped",
        "ranking",
        "link_and_sender",
        "verdict",
        "refused",
        "deployment",
        "remedies",
        "aims",
        "sized",
        "front",
        "cells",
        "report",
    }
    assert [row["remedy"] for row in comparison["remedies"]] == ["baseline", "sack"]
    assert comparison["remedies"][1].keys() == {
        "remedy",
        "n",
        "difference_bps",
        "ci95_low_bps",
        "ci95_high_bps",
        "difference_percent",
        "ci95_low_percent",
        "ci95_high_percent",
        "outcome",
        "state",
        "seeds_to_decide",
        "same_as",
        "harm_percent",
        "harm_ci95_low_percent",
        "harm_ci95_high_percent",
        "goodput_bps",
        "retransmitted_share",
        "timeouts",
        "timeouts_spurious",
        "fast_retransmits",
        *(f"{what}_p{part}" for what in ("rtt", "ping", "exchange") for part in (50, 95, 99)),
        *("rpm", "rpm_foreign", "rpm_own", "call", "short_flow", "page", "power"),
    }
    assert len(comparison["cells"]) == 6
    assert comparison["report"] == str(tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert f"airtcp compare {lossy_file} --remedy sack --seeds 3 --json --out {tmp_path}" in page


def test_compare_prints_verdict_and_table(lossy_file: Path) -> None:
    done = airtcp_command("compare", lossy_file, "--remedy", "sack", "--seeds", "3")
    assert done.exit_code == 0
    assert done.stdout.startswith("sack")
    assert "n=3" in done.stdout
    assert "difference, 95 %" in done.stdout


def test_remedies_lists_shows_and_prints_json() -> None:
    listed = airtcp_command("list", "remedies")
    for remedy in airtcp.remedies():
        assert remedy["name"] in listed.stdout
    shown = airtcp_command("list", "remedies", "rto-factor")
    assert "--remedy rto-factor:factor=" in shown.stdout
    assert (
        json.loads(airtcp_command("list", "remedies", "--json").stdout)["remedies"]
        == airtcp.remedies()
    )
    one = json.loads(airtcp_command("list", "remedies", "sack", "--json").stdout)
    assert one["name"] == "sack"


@pytest.mark.parametrize("remedy", airtcp.remedies(), ids=lambda remedy: remedy["name"])
def test_every_remedy_runs_by_its_name(wlan_file: Path, remedy: airtcp.Remedy) -> None:
    # An access point's queues and scheduler are features of 802.11n and later.
    queues = {"codel", "fq-codel", "pie", "dualpi2", "cake", "abc", "ack-filter", "station-queues"}
    limits = {"airtime-fairness", "aql", "ampdu-limit", "txop"}
    is_of_today = remedy["name"] in queues | limits
    link = ("laptop-download", "--set", "duration=1 s") if is_of_today else (wlan_file,)
    if remedy["name"] in ("autorate", "fec"):
        # A shaper needs a link with a rate after it, and no radio leaves repairs to packets.
        link = ("lossy-pipe", "--set", "duration=1 s")
    done = airtcp_command("run", *link, "--remedy", remedy["name"])
    if done.exit_code == 2:
        assert f'"{remedy["name"]}" would change nothing here: ' in done.stderr
        return
    assert done.exit_code == 0, done.stderr


def test_schema_is_a_json_schema() -> None:
    schema = json.loads(airtcp_command("new", "--schema", "scenario").stdout)
    assert "properties" in schema


@pytest.mark.parametrize(
    ("former", "now"),
    [
        (("remedies",), ("list", "remedies")),
        (("remedies", "sack", "--json"), ("list", "remedies", "sack", "--json")),
        (("scenarios", "--json"), ("list", "scenarios", "--json")),
        (("schema",), ("new", "--schema", "scenario")),
        (("schema", "claims"), ("new", "--schema", "claims")),
    ],
)
def test_former_names_work_and_are_not_listed(
    former: tuple[str, ...], now: tuple[str, ...]
) -> None:
    assert airtcp_command(*former).stdout == airtcp_command(*now).stdout != ""
    assert f"  {former[0]} " not in airtcp_command("--help").stdout


def test_only_remedies_are_listed_one_by_one() -> None:
    done = airtcp_command("list", "scenarios", "ping")
    assert done.exit_code == 2
    assert "list scenarios ping: expected `airtcp list remedies NAME`" in done.stderr
    everything = json.loads(airtcp_command("list", "--json").stdout)
    assert everything.keys() == {"scenarios", "studies", "remedies"}


def test_version() -> None:
    assert airtcp_command("--version").stdout == f"airtcp {airtcp.__version__}\n"


@pytest.mark.parametrize("command", [[], ["run"], ["compare"], ["list"], ["new"]])
def test_every_command_explains_itself(command: list[str]) -> None:
    done = airtcp_command(*command, "--help")
    assert done.exit_code == 0
    if command:
        assert "xample" in done.stdout


BAD = {
    "missing file": (["run", "no-such.toml"], "no-such.toml"),
    "a folder": (["run", "."], '"."'),
    "set without =": (["run", "FILE", "--set", "foo"], '"foo": expected key=value'),
    "set of an unknown key": (["run", "FILE", "--set", "link.rat=1 Mbit/s"], "rat"),
    "set of a wrong unit": (["run", "FILE", "--set", "duration=5 parsecs"], "5 parsecs"),
    "set of a negative": (["run", "FILE", "--set", "link.rate=-1 Mbit/s"], "-1 Mbit/s"),
    "unknown remedy": (["run", "FILE", "--remedy", "sackk"], "sackk"),
    "unknown remedy compared": (["compare", "FILE", "--remedy", "sackk"], "sackk"),
    "unknown metric": (["compare", "FILE", "--metric", "speed"], "expected one of goodput"),
    "remedy not in the catalogue": (["list", "remedies", "sackk"], 'did you mean "sack"'),
    "unknown probe": (["run", "FILE", "--probe", "cwmd"], "cwmd"),
    "plot of a wrong kind": (["run", "FILE", "--plot", "a.docx"], ".png or .svg"),
    "plot into no folder": (["run", "FILE", "--plot", "/no/such/a.png"], "/no/such"),
    "capture into no folder": (["run", "FILE", "--pcap", "/no/such/a.pcapng"], "/no/such"),
    "samples of nothing": (["run", "FILE", "--samples", "a.csv"], "--probe cwnd"),
    "seeds of none": (["compare", "FILE", "--remedy", "sack", "--seeds", "0"], "--seeds"),
    "negative seed": (["run", "FILE", "--seed", "-1"], "--seed"),
    "seed beyond 64 bits": (["run", "FILE", "--seed", str(2**64)], "--seed"),
    "unknown option": (["run", "FILE", "--frobnicate"], "--frobnicate"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_clear_error_and_status_2(
    lossy_file: Path, arguments: list[str], words: str
) -> None:
    done = airtcp_command(*(lossy_file if word == "FILE" else word for word in arguments))
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert done.stdout == ""
    if done.stderr.startswith("airtcp: "):
        assert done.stderr.count("\n") == 1


FILES = {
    "not TOML": b"[link\n",
    "not text": bytes(range(256)),
    "zeros": bytes(2_000_000),
    "a number": b"42",
    "a missing trace": b'[link.trace]\ndown = "no-such.down"\n',
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES.keys())
def test_files_that_are_no_scenario(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    done = airtcp_command("run", path)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(f'airtcp: scenario "{path}": ')
    assert done.stderr.count("\n") == 1


def test_an_endless_file_is_refused_at_once() -> None:
    done = process("run", "/dev/zero")
    assert done.returncode == 2
    assert "is a pipe or a device" in done.stderr


def test_a_folder_that_cannot_be_written_is_bad_input(lossy_file: Path) -> None:
    done = airtcp_command("compare", lossy_file, "--remedy", "sack", "--out", "/dev/null/out")
    assert done.exit_code == 2
    assert done.stderr.startswith("airtcp: --out /dev/null/out: cannot be written")
    assert "Traceback" not in done.stderr


def test_no_traceback_when_the_reader_leaves(lossy_file: Path) -> None:
    command = f"{sys.executable} -m airtcp run {lossy_file} --json --probe cwnd | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""


def _interrupted(*arguments: str | Path, once: Path) -> tuple[int, str, float]:
    """Exit status, standard error, and the processor time from Ctrl-C, `once` a file is there.

    Processor time: however busy the machine is, a program that goes on with its runs uses it up.
    """
    before = _processor_time_of_children()
    with subprocess.Popen(
        [sys.executable, "-m", "airtcp", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while not any(once.parent.glob(once.name)):
            assert running.poll() is None, "it ended before it could be interrupted"
            time.sleep(0.02)
        used = _processor_time(running.pid)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate()
    spent = _processor_time_of_children() - before - used
    return running.returncode, errors, spent


def _processor_time(pid: int) -> float:
    """Seconds of user and system time so far (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _processor_time_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_ctrl_c_ends_a_run_at_once(lossy_file: Path, tmp_path: Path) -> None:
    # The file of past sessions is made just before the run begins.
    sessions = tmp_path / "sessions.db"
    status, errors, seconds = _interrupted(
        "run", lossy_file, "--set", "duration=480 h", "--sessions", sessions, once=sessions
    )
    # A line about the window of past sessions may come before.
    assert (status, errors.splitlines()[-1]) == (130, "airtcp: interrupted")
    assert seconds < 1


def test_ctrl_c_leaves_the_finished_cells_and_says_how_to_go_on(
    lossy_file: Path, tmp_path: Path
) -> None:
    arguments = ["compare", lossy_file, "--remedy", "sack", "--seeds", "3000"]
    status, errors, seconds = _interrupted(
        *arguments,
        "--set",
        "duration=60 s",
        "--out",
        tmp_path,
        once=tmp_path / "cells" / "*.parquet",
    )
    assert status == 130
    assert "of 6000 runs are finished and kept in" in errors
    assert "the same command goes on from there" in errors
    assert "Traceback" not in errors
    assert seconds < 1
    finished = int(errors.split()[0])
    assert 0 < finished == len(pl.read_parquet(tmp_path / "cells" / "*.parquet"))


def test_progress_is_shown_on_a_terminal_only(lossy_file: Path) -> None:
    done = process("run", lossy_file, "--set", "duration=2 h", "--json")
    assert done.stderr == ""


def test_the_program_is_installed() -> None:
    program = Path(sys.executable).parent / "airtcp"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"airtcp {airtcp.__version__}\n"
    assert os.access(program, os.X_OK)


def test_escape_sequences_of_a_scenario_do_not_reach_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        'name = "red\\u001b[31m"\ndescription = "cleared\\u001b[2J\\u009b2J"\nduration = "1 s"\n'
        'link.rate = "10 Mbit/s"\nlink.delay = "10 ms"\n'
    )
    for command in (
        ("run", file),
        ("run", file, "--set", "tcp.profile=\x1b[31m"),
        ("compare", file, "--remedy", "sack", "--seeds", "2"),
        ("compare", file, "--remedy", "\x1b]0;title\x07", "--seeds", "2"),
    ):
        done = airtcp_command(*command)
        said = done.stdout + done.stderr
        assert "31m" in said or "title" in said
        assert not set(said) & {"\x1b", "\x9b", "\x07"}


def test_the_example_of_a_remedy_is_accepted_and_mostly_not_the_default() -> None:
    same = []
    for entry in remedies():
        if entry["parameters"]:
            shown = (
                airtcp_command("list", "remedies", entry["name"])
                .stdout.split("--remedy ")[-1]
                .strip()
            )
            _core.deployments(shown)
            parameter = entry["parameters"][0]
            if shown.endswith(f"={parameter['default']}"):
                same.append(entry["name"])
    assert len(same) <= 4, same
