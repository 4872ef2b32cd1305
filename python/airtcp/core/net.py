"""Finds and runs airtcp-net, the program that carries real packets."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

from airtcp._core import AirtcpError
from airtcp.core.shipped import shipped

PROGRAM = "airtcp-net"


def hand_over(command: str) -> NoReturn:
    """Replaces this process by airtcp-net with a command and the rest of the command line.

    Raises:
        AirtcpError: it is missing, or the system is not Linux.
    """
    program = find_program()
    arguments = sys.argv[sys.argv.index(command) :]
    for place, word in enumerate(arguments[1:], start=1):
        if word == "--":
            break
        if word in shipped("scenarios") and not Path(word).exists():
            arguments[place] = str(shipped("scenarios")[word])
            break
    # The arguments as typed: a parser would consume a "--". Help and errors show the program name
    # that was typed.
    os.execv(program, ["airtcp", *arguments])


def find_program() -> str:
    """The path of airtcp-net: in the folder of this Python's programs, or else on the path.

    Raises:
        AirtcpError: it is missing, or the system is not Linux.
    """
    if sys.platform != "linux":
        raise AirtcpError(
            "real packets need Linux: its namespaces and TUN devices are the link; "
            "simulate with `airtcp run` and `airtcp compare`"
        )
    for path in (
        Path(sysconfig.get_path("scripts")) / PROGRAM,
        Path(__file__).resolve().parents[1] / "bin" / PROGRAM,
    ):
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which(PROGRAM)
    if found is None:
        raise AirtcpError(
            f"{PROGRAM} is not installed: in the source tree `make build` puts it next to airtcp, "
            "elsewhere `cargo install --path crates/net` does"
        )
    return found
