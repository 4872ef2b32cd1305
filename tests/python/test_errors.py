"""One style of error and one list of exit statuses, whoever finds the error."""

import gzip
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import airtcp
from airtcp.cli.commands import app
from airtcp.core.files import whole_folder, write_whole

ROOT = Path(__file__).resolve().parents[2]
BAD_INPUT = 2


def command(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run", "missing argument 'FILE': `airtcp run --help` shows what it takes"),
        ("run lossy-pipe --foo", "no such option: --foo"),
        ("frob", "no such command 'frob': `airtcp --help` shows what it takes"),
        ("run lossy-pipe --seed q", "invalid value for '--seed': 'q' is no whole number"),
        ("compare lossy-pipe --out", "'--out' requires an argument"),
        ("run no-such-file", 'neither a file nor a name that comes with airtcp: "no-such-file"'),
        ("run lossy-pipe --set link.loss.rate=7", 'scenario "lossy-pipe": link.loss.rate = 7'),
        ("run lossy-pipe --remedy nope", "remedies 'nope': unknown remedy"),
        ("compare lossy-pipe --dask local", "dask local: expected the address of a scheduler"),
        ("study no-such.toml", "study no-such.toml: cannot be read"),
        ("script no-such.pkt", "no-such.pkt: no such file or folder"),
        ("diagnose no-such.pcap", "no-such.pcap: cannot be read"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(line: str, words: str) -> None:
    done = command(*line.split())
    assert done.exit_code == BAD_INPUT
    assert done.stdout == ""
    assert done.stderr.startswith("airtcp: ")
    assert words.lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1


def test_an_empty_standard_input_is_said() -> None:
    done = command("run", "-", stdin="\n")
    assert done.exit_code == BAD_INPUT
    assert "standard input is empty" in done.stderr


def net_program() -> str:
    """airtcp-net, as installed with this Python."""
    from airtcp._core import AirtcpError
    from airtcp.core.net import find_program

    try:
        return find_program()
    except AirtcpError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("line", ["emulate --foo", "proxy --listen x", "deploy", "gateway --x"])
def test_commands_on_real_packets_speak_alike(line: str) -> None:
    net_program()
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", *line.split()], capture_output=True, text=True, check=False
    )
    assert done.returncode == BAD_INPUT
    assert done.stderr.startswith("airtcp: ")
    assert done.stderr.count("\n") == 1
    assert "airtcp-net" not in done.stderr
    usage = subprocess.run(
        [sys.executable, "-m", "airtcp", line.split()[0], "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Usage: airtcp " in usage.stdout


SEED_CAPTURE = ROOT / "fuzz" / "seeds" / "capture" / "raw.pcap"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; expected a capture (pcap, pcapng, also gzipped) or the log of a ping"),
        (bytes(range(1, 200)), "the file begins with 01 02 03 04: expected pcap"),
        (b"hello\n", "is no capture (pcap, pcapng); as a recording: no round-trip time in it"),
        (gzip.compress(b"x" * 99, mtime=0)[:12], "the gzip file is damaged"),
        (b"\x1f\x8b\x08", "the gzip file is damaged"),
    ],
    ids=["empty", "binary", "text", "cut gzip", "gzip's first bytes"],
)
def test_what_cannot_be_diagnosed_is_called_what_it_is(
    tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    done = command("diagnose", file)
    assert done.exit_code == BAD_INPUT
    assert words in done.stderr
    assert "link.rtt_log" not in done.stderr


def test_a_fault_in_a_recording_has_its_line_and_not_its_file_twice(tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    file.write_text("time_s,mbit_s\n0,5\n1,-5\n2,4\n")
    done = command("diagnose", file)
    assert done.exit_code == BAD_INPUT
    assert 'as a recording: line 3: found "1,-5": expected a time and a rate' in done.stderr
    assert done.stderr.count(str(file)) == 1


@pytest.mark.parametrize("name", ["empty.toml", "empty.txt"])
def test_an_empty_file_is_no_scenario(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.touch()
    done = command("run", file)
    assert done.exit_code == BAD_INPUT
    assert f'"{file}": is empty; expected TOML' in done.stderr


def test_a_capture_that_is_cut_is_said_to_be(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(SEED_CAPTURE.read_bytes()[:-5])
    done = command("diagnose", cut)
    assert done.exit_code == 0
    assert f"{cut}: ends in the middle of a packet" in done.stdout


def test_a_pipe_is_diagnosed_as_a_file_is(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "airtcp", "diagnose", "/dev/stdin"]
    with SEED_CAPTURE.open("rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=-1) as cat:
        done = subprocess.run(program, stdin=cat.stdout, capture_output=True, text=True, check=True)
    assert done.stdout == command("diagnose", SEED_CAPTURE).stdout


def test_a_full_disk_names_the_file_and_leaves_the_report_as_it_was(
    lossy_file: Path, tmp_path: Path
) -> None:
    """The disk is full where a file may be no larger: the figure does not fit, the table does."""
    out = tmp_path / "out"
    arguments = ["compare", lossy_file, "--set", "duration=2 s", "--remedy", "sack", "--out", out]
    assert command(*arguments, "--seeds", "2").exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", *arguments, "--seeds", "3"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"airtcp: {out}/")
    assert "File too large" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    assert not [path for path in out.iterdir() if "partial" in path.name]


def test_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    with (
        pytest.raises(OSError, match="No such file or directory"),
        whole_folder(folder, "index.html") as partial,
    ):
        (partial / "table.csv").write_bytes((tmp_path / "absent").read_bytes())
    assert list(folder.iterdir()) == []
    with whole_folder(folder, "index.html") as partial:
        write_whole(partial / "index.html", b"page")
        write_whole(partial / "table.csv", b"new")
    assert {path.name for path in folder.iterdir()} == {"index.html", "table.csv"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_device_is_written_as_such_and_named() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_whole(Path("/dev/full"), b"x" * 100_000)
    assert not Path("/dev/full").is_file()


def test_the_warning_of_a_fast_log_comes_before_the_runs(tmp_path: Path) -> None:
    log = tmp_path / "lo.csv"
    log.write_text("rtt_ms\n" + "0.02\n" * 40)
    setting = f"link.rtt_log.path={log}"
    # A remedy that is wrong ends the command where its runs would begin.
    done = command("compare", "ping", "--set", setting, "--remedy", "nope")
    assert "airtcp: warning: link.rtt_log: the median round trip is 20 us" in done.stderr
    # As many packets as Fast Ethernet carries in the time, and no more.
    run = airtcp.run("ping", settings={"link.rtt_log.path": log, "duration": "2 s"})
    assert 50e6 < run.summary["goodput_bps"] < 100e6
