"""One end of a captured connection: listens or connects, sends or receives, counts, and ends.

    traffic.py CASE RESULT.json listen|connect send|receive

CASE is JSON. Run in the network of `airtcp emulate`, whose $AIRTCP_SERVER is the listening end. The
sender leaves the kernel's counters in RESULT.json.
"""

import ctypes
import json
import os
import socket
import struct
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Thread
from typing import Any

PORT = 5001
CHUNK = bytes(65_536)
IP_HEADER = 20
SO_ATTACH_FILTER = 26
SO_MAX_PACING_RATE = 47
TCP_REPAIR = 19
TICK_S = 0.01
PATIENCE_S = 20.0
UNANSWERED_S = 3.0
"""The same for a peer that is gone."""
BESIDE_AFTER_S = 1.0
"""Other connections begin as much later."""


def main() -> None:
    """Runs the command line's part of the traffic."""
    asked, result_file, role, part = sys.argv[1:]
    case = json.loads(asked)
    sender = case["sender"]
    for key in ("sack", "timestamps", "ecn"):
        Path(f"/proc/sys/net/ipv4/tcp_{key}").write_text("1" if sender[key] else "0")
    if part == "send" and sender["mtu_probing"]:
        Path("/proc/sys/net/ipv4/tcp_mtu_probing").write_text("1")
    before = _counters()
    with _listening(role, part, sender) as server, _connection(server, part, sender) as connection:
        for number in range(1, sender["flows"]):
            Thread(target=_beside, args=(server, number, part, sender), daemon=True).start()
        if sender["is_two_way"]:
            other = "receive" if part == "send" else "send"
            Thread(target=_beside, args=(server, 1, other, sender), daemon=True).start()
        if part == "send":
            if sender["writes"]:
                _ask(connection, sender["writes"], case["seconds"])
            else:
                _send(connection, sender, case["seconds"])
            counted = {name: value - before.get(name, 0) for name, value in _counters().items()}
            # Whole or not at all: the other end waits for it.
            written = Path(result_file).with_suffix(".new")
            written.write_text(json.dumps(counted, indent=1))
            written.rename(result_file)
        elif sender["writes"]:
            _answer(connection, sum(sender["writes"]))
        else:
            _receive(connection, sender["read_bps"], sender["gone_after_s"])
            if sender["gone_after_s"]:
                _wait_for(Path(result_file))
                # A socket in repair mode is closed without a word.
                connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    if part == "receive":
        _wait_for(Path(result_file))


def _listening(
    role: str, part: str, sender: dict[str, Any]
) -> AbstractContextManager[socket.socket | None]:
    """The socket that accepts, at the end that listens."""
    if role == "connect":
        return nullcontext()
    server = _socket(part, sender)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("", PORT))
    server.listen(sender["flows"] + sender["is_two_way"])
    return server


def _connection(server: socket.socket | None, part: str, sender: dict[str, Any]) -> socket.socket:
    if server is not None:
        return server.accept()[0]
    deadline = time.monotonic() + PATIENCE_S
    while True:
        # A socket that was refused once is of no more use.
        plain = _socket(part, sender)
        try:
            plain.connect((os.environ["AIRTCP_SERVER"], PORT))
        except ConnectionRefusedError:
            plain.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
            continue
        return plain


def _beside(server: socket.socket | None, number: int, part: str, sender: dict[str, Any]) -> None:
    """Another connection of the same kind, which ends with the program."""
    if server is None:
        time.sleep(number * BESIDE_AFTER_S)
    connection = _connection(server, part, sender)
    connection.settimeout(None)
    while connection.send(CHUNK) if part == "send" else connection.recv(len(CHUNK)):
        pass


def _socket(part: str, sender: dict[str, Any]) -> socket.socket:
    plain = socket.socket()
    plain.settimeout(PATIENCE_S)
    if part == "receive" and sender["receive_buffer"]:
        # Before the handshake, which decides on the scale of the window.
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, sender["receive_buffer"])
    if part == "receive" and sender["clamp"]:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, sender["clamp"])
    if part == "receive" and sender["longest"]:
        # Accepted sockets inherit it.
        _drop_longer(plain, sender["longest"] - IP_HEADER)
    if part == "send" and sender["send_buffer"]:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sender["send_buffer"])
    if part == "send" and sender["pacing_bps"]:
        plain.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, sender["pacing_bps"] // 8)
    if part == "send":
        control = sender["control"].encode()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(sender["nodelay"]))
    return plain


def _drop_longer(plain: socket.socket, most: int) -> None:
    """Has the kernel drop longer segments of this socket, header included, and say nothing.

    A socket's filter is run before TCP sees the segment (Linux, `tcp_filter`), whose length it
    loads, compares, and takes whole or not at all (linux/filter.h).
    """
    program = ((0x80, 0, 0, 0), (0x25, 1, 0, most), (0x06, 0, 0, 0xFFFF_FFFF), (0x06, 0, 0, 0))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    attached = struct.pack("HP", len(program), ctypes.addressof(code))
    plain.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, attached)


def _send(connection: socket.socket, sender: dict[str, Any], seconds: float) -> None:
    """Sends for as long as is asked, then waits until all of it has arrived."""
    begun = time.monotonic()
    connection.settimeout(0.2)
    written = 0
    while (passed := time.monotonic() - begun) < seconds:
        if sender["burst_bytes"]:
            allowed = (int(passed / sender["pause_s"]) + 1) * sender["burst_bytes"]
        elif sender["rate_bps"]:
            allowed = int(passed * sender["rate_bps"] / 8)
        else:
            allowed = written + len(CHUNK)
        if allowed <= written:
            time.sleep(TICK_S)
            continue
        try:
            written += connection.send(CHUNK[: allowed - written])
        except TimeoutError:
            continue
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(UNANSWERED_S if sender["gone_after_s"] else PATIENCE_S)
    try:
        connection.recv(1)  # the receiver closes when it has all
    except OSError as error:
        print(f"traffic: {error}", file=sys.stderr)


ANSWER = bytes(120)


def _ask(connection: socket.socket, writes: list[int], seconds: float) -> None:
    """Sends messages in several writes, each after the answer to the one before."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        for length in writes:
            connection.sendall(CHUNK[:length])
        connection.recv(len(ANSWER), socket.MSG_WAITALL)
    connection.shutdown(socket.SHUT_WR)


def _answer(connection: socket.socket, length: int) -> None:
    """Answers each message once it is there as a whole."""
    while connection.recv(length, socket.MSG_WAITALL):
        connection.sendall(ANSWER)


def _receive(connection: socket.socket, read_bps: int, gone_after_s: float) -> None:
    begun = time.monotonic()
    read = 0
    while True:
        if gone_after_s and time.monotonic() - begun > gone_after_s:
            _drop_longer(connection, 0)
            return
        if read_bps and read > (time.monotonic() - begun) * read_bps / 8:
            time.sleep(TICK_S)
            continue
        chunk = connection.recv(16_384 if read_bps else 262_144)
        if not chunk:
            return
        read += len(chunk)


def _wait_for(result: Path) -> None:
    """The emulator ends the listening end with the connecting one: not before it has counted."""
    deadline = time.monotonic() + PATIENCE_S
    while not result.exists() and time.monotonic() < deadline:
        time.sleep(TICK_S)


def _counters() -> dict[str, int]:
    """The TCP counters of this network, by nstat's names."""
    found: dict[str, int] = {}
    for name in ("snmp", "netstat"):
        lines = Path(f"/proc/self/net/{name}").read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, _, names = names.partition(": ")
            if group not in ("Tcp", "TcpExt"):
                continue
            for key, value in zip(names.split(), values.split()[1:], strict=True):
                found[group + key] = int(value)
    return found


if __name__ == "__main__":
    main()
