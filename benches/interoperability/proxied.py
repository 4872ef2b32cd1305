"""Other programs' connections through a proxy with the endpoint on its far side."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from wire import sh

from interoperability.bench import PROGRAM

#: The machine's end of the device of a proxy's stack, and such a stack.
PROXYS, OWN_STACK = "192.0.0.1", "linux+rto-factor:factor=4"


def own_proxy(port: int) -> list[str]:
    """The words of a proxy with the endpoint on its far side, to a port of this namespace."""
    sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
    to = f"{PROXYS}:{port}"
    command = [PROGRAM, "proxy", "--listen", "127.0.0.1:8080", "--to", to, "--mobile", "servers"]
    return [*command, "--mobile-stack", OWN_STACK]


@contextmanager
def ending(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program during the block."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as program:
        try:
            yield program
        finally:
            program.send_signal(signal.SIGINT if "proxy" in command else signal.SIGTERM)
            program.wait(timeout=20)


def wait_for(port: int) -> None:
    """Waits until a program listens at a port of this namespace."""
    for _ in range(300):
        if sh("ss", "-Hltn", "sport", "=", f":{port}"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nobody listens at port {port}")
