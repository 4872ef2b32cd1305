"""The endpoint at both ends of every emulated scenario."""

from __future__ import annotations

import hashlib
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from interoperability.bench import PROGRAM, ROOT, Bench, pattern
from interoperability.proxied import OWN_STACK, ending, wait_for


def scenarios(bench: Bench, size: int) -> None:
    """Every emulated scenario: each station to the server through the proxy's stack, and back.

    The server echoes the data.
    """
    expected = pattern(size, bench.folder / "over")
    for scenario in sorted((ROOT / "scenarios").glob("*.toml")):

        def run(scenario: Path = scenario) -> str:
            results = bench.folder / f"results-{scenario.stem}"
            results.mkdir()
            me = [sys.executable, str(ROOT / "benches" / "interop.py"), "--at"]
            station = [*me, "station", str(bench.folder / "over"), str(results)]
            server = shlex.join([*me, "server", "-", str(results)])
            command = [PROGRAM, "emulate", str(scenario), "--server", server, "--", *station]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            assert done.returncode == 0, done.stderr[-300:]
            stations = sorted(results.glob("*.hash"))
            assert stations, done.stderr[-300:]
            for one in stations:
                assert one.read_text() == expected, f"the hash differs at station {one.stem}"
            return f"{len(stations)} stations" if len(stations) > 1 else ""

        bench.case(f"scenario {scenario.stem}, both ways", size, run)


def at_station(file: Path, results: Path) -> None:
    """A station: sends a file by a proxy with the endpoint, and hashes the echo."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    while not (results / "listens").exists():
        time.sleep(0.05)
    far = f"{os.environ['AIRTCP_SERVER']}:5001"
    command = ["proxy", "--listen", "127.0.0.1:8080", "--to", far, "--mobile", "servers"]
    digest = hashlib.sha256()
    with ending([PROGRAM, *command, "--mobile-stack", OWN_STACK]):
        wait_for(8080)
        with socket.create_connection(("127.0.0.1", 8080), timeout=600) as peer:

            def pour() -> None:
                with file.open("rb") as source:
                    peer.sendfile(source)
                peer.shutdown(socket.SHUT_WR)

            writer = threading.Thread(target=pour)
            writer.start()
            while piece := peer.recv(1 << 16):
                digest.update(piece)
            writer.join()
    (results / f"{os.environ['AIRTCP_STATION']}.hash").write_text(digest.hexdigest())


def at_server(results: Path) -> None:
    """The far end: echoes the data of each station."""
    with socket.create_server(("", 5001), backlog=64) as listener:
        (results / "listens").touch()
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=give_back, args=(peer,), daemon=True).start()


def give_back(peer: socket.socket) -> None:
    """Reads all of it, then writes it."""
    with peer, suppress(OSError):
        got = b""
        while piece := peer.recv(1 << 16):
            got += piece
        peer.sendall(got)
