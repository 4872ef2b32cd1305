"""The same against an iperf3 server, by its client: goodput, and round trips of handshakes.

An iperf3 server answers nothing but its own client while it is loaded, but its kernel still
completes handshakes: they are the probes beside the load. What the sender's TCP says of its round
trips stands in for probes of the load's own (draft-ietf-ippm-responsiveness allows it).
"""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable

from airtcp._core import RunError
from airtcp.measure.bounds import now
from airtcp.measure.load import Way
from airtcp.measure.measurement import IDLE_SHARE, Measurement
from airtcp.measure.phase import Phase, Times, times
from airtcp.measure.responsiveness import own_rpm

PORT = 5201
_HANDSHAKE_S = 0.2
_LATE_S = 10.0


def measure_with_iperf3(
    host: str,
    port: int,
    *,
    seconds: float,
    most_bytes: int,
    ways: tuple[Way, ...] = (Way.DOWN, Way.UP),
    progress: Callable[[float, str], object] = lambda share, words: None,
) -> Measurement:
    """Measures the link to an iperf3 server.

    Raises:
        RunError: iperf3 is not installed, or failed.
        OSError: the server cannot be reached.
    """
    program = shutil.which("iperf3")
    if program is None:
        raise RunError(
            "--iperf3: there is no program iperf3 here; install it (apt install iperf3), or run "
            "`airtcp serve --measure` at the other end and leave --iperf3 out"
        )
    idle_s = IDLE_SHARE * seconds
    each_s = (seconds - idle_s) / len(ways)
    handshakes = Handshakes(host, port)
    begun = now()
    try:
        while (passed := now() - begun) < idle_s:
            progress(IDLE_SHARE * passed / idle_s, "idle")
            if handshakes.ended.wait(0.1):
                break
    finally:
        handshakes.end()
    if not handshakes.found:
        raise RunError(f"{host} port {port}: no iperf3 server answers; start one: iperf3 -s")
    none = times([])
    first = Phase("idle", idle_s, none, None, times(handshakes.found), none, handshakes.failed)
    phases, spent = [], 0
    for number, way in enumerate(ways):
        part = (most_bytes - spent) // (len(ways) - number)
        progress(IDLE_SHARE + (1 - IDLE_SHARE) * number / len(ways), f"loaded {way} by iperf3")
        phase, count = _loaded(program, host, port, way, each_s, part)
        phases.append(phase)
        spent += count
    return Measurement(first, tuple(phases), spent, spent >= most_bytes)


class Handshakes:
    """Connections that are opened and closed at once."""

    def __init__(self, host: str, port: int) -> None:
        """Begins at once."""
        self.found: list[float] = []
        self.failed = 0
        self.ended = threading.Event()
        self._address = (host, port)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends them."""
        self.ended.set()
        self._thread.join(_LATE_S)

    def _run(self) -> None:
        while not self.ended.is_set():
            begun = now()
            try:
                with socket.create_connection(self._address, timeout=5.0):
                    self.found.append(1e3 * (now() - begun))
            except OSError:
                self.failed += 1
            self.ended.wait(_HANDSHAKE_S)


def _loaded(
    program: str, host: str, port: int, way: Way, seconds: float, most_bytes: int
) -> tuple[Phase, int]:
    command = [program, "-c", host, "-p", str(port), "-J", "-P", "4"]
    command += ["-t", str(max(1, round(seconds)))]
    if way is Way.DOWN:
        command.append("-R")
    # iperf3 ends at the first of time and bytes only where its rate is bounded.
    rate = 8 * most_bytes / seconds
    command += ["-b", f"{max(1000, int(rate / 4))}"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    handshakes = Handshakes(host, port)
    try:
        out, err = client.communicate(timeout=seconds + _LATE_S)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"iperf3 did not end within {seconds + _LATE_S:.0f} s; is {host} still there?"
        ) from error
    finally:
        handshakes.end()
        if client.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                client.send_signal(signal.SIGTERM)
            client.wait()
    return read_report(out, err, way, seconds, handshakes.found)


def read_report(
    text: str, err: str, way: Way, seconds: float, handshakes: list[float]
) -> tuple[Phase, int]:
    """What an iperf3 client's JSON says, and the bytes that it moved.

    Raises:
        RunError: it is an error, or no JSON of iperf3.
    """
    try:
        report = json.loads(text)
        if "error" in report:
            raise RunError(f"iperf3: {report['error']}")
        end = report["end"]
        received = end["sum_received"]
        senders = [stream["sender"] for stream in end["streams"]]
        goodput = float(received["bits_per_second"])
        count = int(received["bytes"])
    except (ValueError, KeyError, TypeError) as error:
        first = err.strip().splitlines()[0] if err.strip() else "no report"
        raise RunError(f"iperf3: {first}") from error
    # Microseconds; a receiver has none.
    means = [one["mean_rtt"] / 1e3 for one in senders if one.get("mean_rtt")]
    largest = [one["max_rtt"] / 1e3 for one in senders if one.get("max_rtt")]
    own = None
    if means:
        mean = sum(means) / len(means)
        own = Times(len(means), mean, max(largest, default=mean), None, min(means))
    none = times([])
    phase = Phase(
        way.value,
        seconds,
        none,
        None,
        times(handshakes),
        none,
        0,
        goodput_bps=goodput,
        connections=len(senders),
        own=own,
        rpm_foreign=own_rpm(handshakes),
        rpm_own=own_rpm(means),
        confidence="medium",
    )
    return phase, count
