"""Measures against an iperf3 server, by its client: goodput, and round trips of handshakes.

An iperf3 server answers only its client while it is loaded, but its kernel still answers
handshakes: these are the probes under load. The sender's TCP round-trip estimate replaces probes of
the load itself (draft-ietf-ippm-responsiveness allows it).

The server's program must not see those handshakes. It takes the first accepted connection for a
client and reads a cookie from it until that one closes; and while it waits for a test's streams, it
reads a cookie from any accepted connection, and aborts the test if that connection was reset (iperf
3.12, `iperf_accept`, `iperf_tcp_accept`, `iperf_run_server`). On Linux a probe therefore ends
before its handshake is complete: the server's kernel forgets it, and nothing reaches the program.
Elsewhere handshakes are complete: they are only sent on the idle link, and a server still occupied
by one is asked once more.
"""

import contextlib
import json
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
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
# A server occupied by a probe is free as soon as it has read the probe's end, and listens a moment
# later: less than a second, unless its machine is overloaded.
_ATTEMPTS = 4
_PAUSE_S = 0.5
# iperf3's errors for a server that was not free, or that restarted while a client connected (iperf
# 3.12, `iperf_strerror`: IEACCESSDENIED, IERECVMESSAGE, IECTRLCLOSE, IECONNECT, IESTREAMCONNECT,
# IESENDCOOKIE, IESENDPARAMS).
_NOT_FREE = (
    "the server is busy",
    "unable to receive control message",
    "control socket has closed unexpectedly",
    "unable to connect to server",
    "unable to connect stream",
    "unable to send cookie",
    "unable to send parameters",
)


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
    """Round trips of the server's kernel, from the first packet of a handshake to its answer.

    Attributes:
        found: the round trips, in milliseconds.
        failed: number of handshakes refused, or not answered in five seconds.
    """

    # The kernel delays the third packet of such a connection by 200 ms, to send it with the first
    # data (Linux, tcp_rcv_synsent_state_process), and this one is reset long before.
    hides = hasattr(socket, "TCP_DEFER_ACCEPT")

    def __init__(self, host: str, port: int) -> None:
        """Starts immediately.

        Raises:
            OSError: there is no such host.
        """
        self.found: list[float] = []
        self.failed = 0
        self.ended = threading.Event()
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._family, self._address = found[0], found[4]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends them."""
        self.ended.set()
        self._thread.join(_LATE_S)

    def _run(self) -> None:
        while not self.ended.is_set():
            try:
                self.found.append(1e3 * self._round_trip())
            except OSError:
                self.failed += 1
            self.ended.wait(_HANDSHAKE_S)

    def _round_trip(self) -> float:
        with socket.socket(self._family, socket.SOCK_STREAM) as probe:
            probe.settimeout(5.0)
            if self.hides:
                probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
                # Closing sends a reset: the server's kernel drops the request (RFC 9293 §3.10.7.4).
                reset = struct.pack("ii", 1, 0)
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            begun = now()
            probe.connect(self._address)
            return now() - begun


def _loaded(
    program: str, host: str, port: int, way: Way, seconds: float, most_bytes: int
) -> tuple[Phase, int]:
    command = [program, "-c", host, "-p", str(port), "-J", "-P", "4"]
    command += ["-t", str(max(1, round(seconds)))]
    if way is Way.DOWN:
        command.append("-R")
    # iperf3 ends at the first of time and bytes only if its rate is bounded.
    rate = 8 * most_bytes / seconds
    command += ["-b", f"{max(1000, int(rate / 4))}"]
    for left in reversed(range(_ATTEMPTS)):
        out, err, handshakes = _run_client(command, host, port, seconds)
        if left == 0 or not was_not_free(out):
            break
        time.sleep(_PAUSE_S)
    return read_report(out, err, way, seconds, handshakes)


def _run_client(
    command: list[str], host: str, port: int, seconds: float
) -> tuple[str, str, list[float]]:
    """A client's stdout and stderr, and simultaneous handshake round trips in milliseconds."""
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    handshakes = None
    try:
        handshakes = Handshakes(host, port) if Handshakes.hides else None
        out, err = client.communicate(timeout=seconds + _LATE_S)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"iperf3 did not end within {seconds + _LATE_S:.0f} s; is {host} still there?"
        ) from error
    finally:
        if handshakes is not None:
            handshakes.end()
        if client.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                client.send_signal(signal.SIGTERM)
            try:
                client.wait(1.0)
            except subprocess.TimeoutExpired:
                client.kill()
                client.wait()
    return out, err, handshakes.found if handshakes is not None else []


def was_not_free(text: str) -> bool:
    """Whether an iperf3 client's JSON reports a busy server.

    Then nothing was measured, and the client may retry. A test that ended after it began does not
    count: its bytes are spent.
    """
    try:
        report = json.loads(text)
        error, intervals = report.get("error", ""), report.get("intervals")
    except (ValueError, AttributeError):
        return False
    return not intervals and any(words in error for words in _NOT_FREE)


def read_report(
    text: str, err: str, way: Way, seconds: float, handshakes: list[float]
) -> tuple[Phase, int]:
    """The results in an iperf3 client's JSON, and the bytes that it transferred.

    Raises:
        RunError: it is an error, or not JSON of iperf3.
    """
    try:
        report = json.loads(text)
        if "error" in report:
            raise RunError(f"iperf3: {report['error']}{_remedy(text)}")
        end = report["end"]
        received = end["sum_received"]
        senders = [stream["sender"] for stream in end["streams"]]
        goodput = float(received["bits_per_second"])
        count = int(received["bytes"])
    except (ValueError, KeyError, TypeError) as error:
        first = err.strip().splitlines()[0] if err.strip() else "no report"
        raise RunError(f"iperf3: {first}") from error
    # In microseconds; a receiver has no such field.
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


def _remedy(text: str) -> str:
    if not was_not_free(text):
        return ""
    return (
        f" (asked {_ATTEMPTS} times); another client has the server, or its port is closed: "
        "try again later, or start one of your own: iperf3 -s"
    )
