"""`airtcp emulate` and `deploy` hand over to airtcp-net, which crates/net tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from airtcp._core import AirtcpError
from airtcp.core import net

ECHO = '#!/bin/sh\nprintf "%s|" "$@"\nexit 7\n'


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A folder with an airtcp-net that prints its arguments and ends with status 7."""
    program = tmp_path / net.PROGRAM
    program.write_text(ECHO)
    program.chmod(0o755)
    return tmp_path


def hand_over(folder: Path, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with `folder` in place of this Python's programs."""
    code = (
        "import sysconfig\n"
        f"sysconfig.get_path = lambda name: {str(folder)!r}\n"
        "from airtcp.cli import main\n"
        "main()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, command, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_argument_and_the_status_pass_through(echo: Path) -> None:
    done = hand_over(echo, "emulate", "a.toml", "--seed", "3", "--help", "--", "sh", "-c", "exit 1")
    assert done.stdout == "emulate|a.toml|--seed|3|--help|--|sh|-c|exit 1|"
    assert done.returncode == 7


@pytest.mark.parametrize("command", ["deploy", "deployed", "undeploy"])
def test_what_changes_the_machine_is_handed_over_too(echo: Path, command: str) -> None:
    done = hand_over(echo, command, "sack", "--all", "--share", "50%", "--help")
    assert done.stdout == f"{command}|sack|--all|--share|50%|--help|"
    assert done.returncode == 7


@pytest.mark.parametrize(("option", "command"), [("--list", "deployed"), ("--undo", "undeploy")])
def test_deploy_lists_and_undoes(option: str, command: str) -> None:
    program = net.find_program()
    said = [
        subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True)
        for words in (["deploy", option], [command])
    ]
    assert said[0].stdout == said[1].stdout
    assert said[0].stdout.startswith("Show" if option == "--list" else "Restore")


def test_an_absent_program_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(net.sysconfig, "get_path", lambda _name: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AirtcpError, match="make build"):
        net.find_program()


def test_other_systems_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net.sys, "platform", "darwin")
    with pytest.raises(AirtcpError, match="need Linux"):
        net.find_program()
