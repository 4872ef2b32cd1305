"""Bad input of every kind: one clear line, the exit status for it, and no leftovers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp.cli.compare_output import print_comparison
from airtcp.core.files import FileError, read_toml

BAD_INPUT = 2


def process(*arguments: str | Path | bytes, **options) -> subprocess.CompletedProcess[str]:
    """Runs a command in a separate process."""
    return subprocess.run(
        [sys.executable, "-m", "airtcp", *arguments],
        text=True,
        errors="backslashreplace",
        check=False,
        timeout=60,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def assert_one_error(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == BAD_INPUT, done.stderr
    assert "Traceback" not in done.stderr
    said = " ".join(done.stderr.replace("│", " ").split())
    for word in words:
        assert word in said


@pytest.mark.parametrize("command", ["compare", "run"])
def test_a_remedy_without_a_name(lossy_file: Path, command: str) -> None:
    assert_one_error(process(command, lossy_file, "--remedy", ""), 'remedy "": expected a name')


def test_a_setting_that_is_no_text(lossy_file: Path) -> None:
    done = process("run", lossy_file, "--set", b"duration=\xff2s")
    assert_one_error(done, "is no text (UTF-8)")


@pytest.mark.parametrize("command", ["compare", "study", "papers"])
def test_an_output_folder_without_a_name(tmp_path: Path, command: str) -> None:
    named = [] if command == "papers" else ["x.toml"]
    done = process(command, *named, "--out", "", cwd=tmp_path)
    assert_one_error(done, "--out", "is empty")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "option", ["--pcap", "--qlog", "--samples", "--events", "--frames", "--plot", "--rtt-log"]
)
def test_an_output_that_cannot_be_written_is_found_before_the_run(
    lossy_file: Path, option: str
) -> None:
    suffix = {"--plot": "svg", "--pcap": "pcapng", "--qlog": "sqlog"}.get(option, "csv")
    probes = ["--probe", "cwnd"] if option == "--samples" else []
    # A day of virtual time: if it were run first, the test would not end.
    long = ["--set", "duration=24 h", "--set", "link.rate=10 Gbit/s"]
    done = process("run", lossy_file, *long, *probes, option, f"/proc/output.{suffix}")
    assert_one_error(done, option, "cannot be written")


def test_a_folder_that_cannot_be_written_is_found_before_the_run(lossy_file: Path) -> None:
    long = ["--set", "duration=24 h", "--set", "link.rate=10 Gbit/s"]
    done = process("compare", lossy_file, *long, "--remedy", "sack", "--out", "/proc/report")
    assert_one_error(done, "--out /proc/report: cannot be written")


@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("list",),
        ("new", "--schema", "scenario"),
        ("run", "{file}", "--json"),
        ("run", "{file}"),
    ],
    ids=" ".join,
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_below_standard_output(lossy_file: Path, command: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = process(*(word.format(file=lossy_file) for word in command), stdout=full)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "standard output: No space left on device" in done.stderr


def test_standard_output_that_is_closed(lossy_file: Path) -> None:
    done = process("run", lossy_file, stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert done.stderr.startswith("airtcp: standard output is closed")


def test_standard_error_that_is_closed(lossy_file: Path) -> None:
    done = process("run", lossy_file, stderr=None, preexec_fn=lambda: os.close(2))
    assert done.returncode == 0
    assert "goodput" in done.stdout


def test_a_pipe_as_scenario(lossy_file: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    assert_one_error(process("run", pipe), "is a pipe that nobody writes to")
    # As `airtcp run <(cat FILE)`.
    read, write = os.pipe()
    os.write(write, lossy_file.read_bytes())
    os.close(write)
    done = process("run", f"/dev/fd/{read}", "--json", pass_fds=[read])
    assert done.returncode == 0, done.stderr
    assert airtcp.run(lossy_file).summary["digest"] in done.stdout


@pytest.mark.parametrize("command", ["study", "script", "run"])
def test_a_file_of_a_gigabyte(tmp_path: Path, command: str) -> None:
    file = tmp_path / "large.toml"
    with file.open("wb") as large:
        large.truncate(1 << 30)
    limit = ["-c", 'ulimit -v 4000000; exec "$@"', "sh", sys.executable, "-m", "airtcp"]
    done = subprocess.run(
        ["/bin/sh", *limit, command, file], capture_output=True, text=True, check=False
    )
    if command == "script":  # one of many, which the others do not wait for
        assert "1 unreadable" in done.stdout
        assert "larger than 1 MiB" in done.stdout
    else:
        assert_one_error(done, "larger than 1 MiB")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe", "is no text (UTF-8)"),
        (b"x = ", "Invalid value"),
    ],
    ids=["brackets", "bytes", "half a line"],
)
def test_a_study_that_cannot_be_read(tmp_path: Path, text: bytes, words: str) -> None:
    file = tmp_path / "study.toml"
    file.write_bytes(text)
    assert_one_error(process("study", file), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seeds = 99999999999\nremedies = []", "seeds = 99999999999: expected a number from 1"),
        ("seeds = true\nremedies = []", "seeds = True"),
        ("remedies = []\nlink = [1]", "expected at least one [[link]]"),
        ('remedies = []\n[[link]]\nname = "a"\nsettings = 1\nscenario = "x"', "expected a table"),
    ],
)
def test_a_study_that_asks_for_what_there_is_not(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    assert_one_error(process("study", file), words)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder"):
        read_toml(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError, match="is a pipe or a device"):
        read_toml(pipe)


@pytest.mark.parametrize("seeds", [0, 10**11, [], [-1], [2**64]])
def test_seeds_that_are_none(lossy_file: Path, seeds: int | list[int]) -> None:
    with pytest.raises(airtcp.ScenarioError, match="seed"):
        airtcp.compare(lossy_file, ["sack"], seeds=seeds)


def test_one_remedy_is_a_list_of_one(lossy_file: Path, tmp_path: Path) -> None:
    assert airtcp.run(lossy_file, remedies="sack") == airtcp.run(lossy_file, remedies=["sack"])
    assert airtcp.compare(lossy_file, "sack", seeds=1).remedies == ("baseline", "sack")
    axes = {"link.loss.rate": [0.0]}
    assert "sack" in airtcp.sweep(lossy_file, axes, "sack", seeds=1)["remedy"]
    one, several = (airtcp.load_scenario(lossy_file, remedies=it) for it in ("sack", ["sack"]))
    assert one == several


@pytest.mark.parametrize("remedies", [None, 3, [None], [""], "", ["sack", 3]])
def test_remedies_that_are_no_names(lossy_file: Path, remedies: object) -> None:
    with pytest.raises(airtcp.ScenarioError, match="reme"):
        airtcp.run(lossy_file, remedies=remedies)  # type: ignore[arg-type]


@pytest.mark.parametrize("scenario", [None, {"duration": "2 s"}, 3, b"ping"])
def test_a_scenario_that_is_none(scenario: object) -> None:
    asked: list[Any] = [airtcp.run, airtcp.compare, airtcp.load_scenario]
    for ask in asked:
        with pytest.raises(airtcp.ScenarioError, match="expected a file's path, a name"):
            ask(scenario)


def test_a_comparison_prints_as_its_table(lossy_file: Path) -> None:
    comparison = airtcp.compare(lossy_file, "sack", seeds=2)
    shown = repr(comparison)
    assert shown.startswith(comparison.verdict[0])
    assert [line.split()[0] for line in shown.splitlines()[-3:]] == ["remedy", "baseline", "sack"]


def test_scenarios_are_listed() -> None:
    listed = airtcp.scenarios()
    assert [entry["name"] for entry in listed] == sorted(airtcp.core.shipped.shipped("scenarios"))
    assert all(airtcp.load_scenario(entry["name"]) for entry in listed)


def test_two_processes_share_an_output_folder(lossy_file: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "airtcp", "compare", lossy_file, "--remedy", "sack"]
    running = [
        subprocess.Popen(
            [*command, "--seeds", "6", "--out", tmp_path / "out"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [one.communicate(timeout=100) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], said
    assert len({out for out, _ in said}) == 1
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"index.html", "comparison.csv", "cells"} <= names
    assert not [name for name in names if "partial" in name]


def test_a_narrow_terminal_drops_no_label(
    lossy_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.pages.columns.width", lambda: 40)
    comparison = airtcp.compare(lossy_file, ["rto-factor:factor=10", "sack"], seeds=2)
    print_comparison(comparison)
    lines = capsys.readouterr().out.splitlines()
    for words in ("baseline", "rto-factor:factor=10", "sack", "    timeouts 0", "    goodput"):
        assert [line for line in lines if line.startswith(words)], words
    assert all(len(line) <= 40 for line in lines if line.startswith("    "))


def test_no_colour_means_no_codes_at_all(lossy_file: Path) -> None:
    """On a terminal, which `script` makes."""
    command = f"{sys.executable} -m airtcp run {lossy_file}"
    done = subprocess.run(
        ["script", "--quiet", "--return", "--command", command, "/dev/null"],
        env=os.environ | {"NO_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "goodput" in done.stdout
    assert "\x1b[" not in done.stdout
