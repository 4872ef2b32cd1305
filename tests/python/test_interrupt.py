"""Ctrl-C: status 130 and one line, whatever the program is at."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

INTERRUPTED = 130

# Ctrl-C comes when a module is about to be imported: a moment that a clock would not hit.
_AT_IMPORT = """
import os, signal, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupter())
from airtcp.cli import main
sys.argv = ["airtcp", *{arguments!r}]
main()
"""


def assert_interrupted(status: int, said: str) -> None:
    assert status == INTERRUPTED, said
    assert said.strip().splitlines()[-1:] == ["airtcp: interrupted"]
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "module",
    ["typer", "airtcp.cli.commands", "airtcp._core", "airtcp.cli.compare", "numpy", "unicodedata"],
)
def test_while_modules_are_imported(lossy_file: Path, module: str) -> None:
    arguments = ["compare", str(lossy_file), "--remedy", "sack", "--seeds", "2"]
    program = _AT_IMPORT.format(module=module, arguments=arguments)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert_interrupted(done.returncode, done.stderr)
    assert done.stdout == ""


# An hour of virtual time at 10 Gbit/s: if Ctrl-C were ignored, the tests would not end.
_LONG = ["--set", "duration=24 h", "--set", "link.rate=10 Gbit/s"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "{file}", *_LONG],
        ["compare", "{file}", *_LONG, "--remedy", "sack", "--seeds", "2"],
        ["compare", "{file}", *_LONG, "--remedy", "sack", "--seeds", "2", "--out", "{folder}"],
        ["run", "-"],
        ["diagnose", "-"],
        ["diagnose", "{pipe}"],
    ],
    ids=" ".join,
)
def test_while_a_command_works_or_waits(
    lossy_file: Path, tmp_path: Path, arguments: list[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    places = {"file": lossy_file, "folder": tmp_path / "out", "pipe": tmp_path / "pipe"}
    program = subprocess.Popen(
        [sys.executable, "-m", "airtcp", *(word.format(**places) for word in arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until_imported(program.pid)
    program.send_signal(signal.SIGINT)
    out, said = program.communicate(timeout=60)
    assert_interrupted(program.returncode, said)
    assert out == ""


def wait_until_imported(pid: int) -> None:
    """Waits until the core is mapped, and then until the process reaches the stage to interrupt."""
    maps = Path(f"/proc/{pid}/maps")
    while "_core.abi3" not in maps.read_text():
        time.sleep(0.01)
    time.sleep(1.0)


@pytest.mark.parametrize("delay_ms", [50, 100, 200, 300])
def test_in_the_first_moments(lossy_file: Path, delay_ms: int) -> None:
    """Whatever stage that is on this machine; before `main` it is Python's."""
    program = subprocess.Popen(
        [sys.executable, "-c", _READY, "run", lossy_file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    time.sleep(delay_ms / 1000)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    # Ended by the signal itself is 130 to a shell, too.
    assert program.returncode in {0, INTERRUPTED, -signal.SIGINT}
    assert "Traceback" not in said


_READY = """
import signal, sys
import airtcp.cli
from airtcp.cli.stop import stop_at_once
signal.signal(signal.SIGINT, stop_at_once)
print("ready", flush=True)
airtcp.cli.main()
"""
