"""The endpoint over a wire that loses, repeats, delays and damages, and across interruptions."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import time

from wire import FAR, Faults, Wire, sh

from interoperability.bench import (
    ENDPOINT,
    KERNEL,
    MIB,
    PROGRAM,
    Bench,
    Receiver,
    file_hash,
    pattern,
    send,
    serving,
)


def over_wire(
    bench: Bench, name: str, faults: Faults, size: int, *options: str, mtu: int = 1500
) -> None:
    """Both directions over a wire with faults, to a namespace beyond it."""
    expected = pattern(size, bench.folder / "wire")

    def both() -> str:
        wire = Wire(faults, mtu)
        try:
            sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
            receiver = wire.there(lambda: Receiver(FAR))
            assert isinstance(receiver, Receiver)
            captured = bench.capture(f"wire-{name}".replace(" ", "-"))
            done = send(bench.folder / "wire", f"{FAR}:{receiver.port}", *captured, *options)
            assert done.returncode == 0, done.stderr
            assert receiver.result() == expected, "what was sent differs"
            with serving(bench.folder):
                fetched = wire.there(lambda: fetch(ENDPOINT, "/wire"))
            assert fetched == expected, "what was served differs"
            return done.stderr.strip().split(": ")[-1]
        finally:
            wire.close()

    bench.case(f"{name}, both ways", size, both)


def changing_mtu(bench: Bench, size: int) -> None:
    """The next link takes smaller packets, and larger ones again, in the middle of a transfer."""
    expected = pattern(size, bench.folder / "wire")

    def run() -> str:
        wire = Wire(Faults())
        try:
            sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
            receiver = wire.there(lambda: Receiver(FAR))
            assert isinstance(receiver, Receiver)
            command = [PROGRAM, "send", str(bench.folder / "wire"), f"{FAR}:{receiver.port}"]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as sender:
                changes = 0
                for mtu in (1000, 1500, 1300, 600, 1500) * 20:
                    time.sleep(0.1)
                    if sender.poll() is not None:
                        break
                    sh("ip", "link", "set", "bent0", "mtu", str(mtu))
                    changes += 1
                assert sender.wait(timeout=300) == 0, "send failed"
            assert receiver.result() == expected, "what was sent differs"
            assert changes >= 3, f"only {changes} changes"
            return f"{changes} changes"
        finally:
            wire.close()

    bench.case("the next link's MTU changes between 600 and 1500", size, run)


def fetch(host: str, path: str) -> str:
    """The hash of a file by HTTP."""
    digest = hashlib.sha256()
    with socket.create_connection((host, 8000), timeout=120) as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += peer.recv(65536)
        digest.update(answer.split(b"\r\n\r\n", 1)[1])
        while piece := peer.recv(1 << 18):
            digest.update(piece)
    return digest.hexdigest()


def interrupted(bench: Bench) -> None:
    """The device goes down and comes up in the middle of a transfer; a peer is killed."""
    expected = pattern(256 * MIB, bench.folder / "long")

    def interrupt() -> None:
        sh("ip", "link", "set", "airtcp0", "down")
        time.sleep(1.0)
        sh("ip", "link", "set", "airtcp0", "up")

    def down_and_up() -> str:
        receiver = Receiver()
        target = f"{KERNEL}:{receiver.port}"
        command = [PROGRAM, "send", str(bench.folder / "long"), target]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as sender:
            while receiver.got < MIB:
                time.sleep(0.001)
            interrupt()
            _, errors = sender.communicate(timeout=120)
        assert sender.returncode == 0, errors
        assert receiver.result() == expected, "the hash differs"
        return ""

    bench.case("the device is down for a second, send", 256 * MIB, down_and_up)

    def upload() -> str:
        stored = bench.folder / "stored"
        stored.unlink(missing_ok=True)
        with serving(bench.folder):
            url = f"http://{ENDPOINT}:8000/stored"
            command = ["curl", "-sf", "-m", "120", "-T", str(bench.folder / "long"), url]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as curl:
                while not stored.exists() or stored.stat().st_size < MIB:
                    time.sleep(0.001)
                interrupt()
                assert curl.wait(timeout=120) == 0, "curl failed"
        assert file_hash(stored) == expected, "the hash differs"
        return ""

    bench.case("the device is down for a second, curl puts", 256 * MIB, upload)

    def killed() -> str:
        receiver = Receiver(stop_after=MIB)
        done = send(bench.folder / "long", f"{KERNEL}:{receiver.port}")
        assert done.returncode != 0, "it went on"
        assert "reset" in done.stderr, done.stderr
        return done.stderr.strip().split(": ")[-1]

    bench.case("the peer is killed: send says so", 0, killed)

    def nobody() -> str:
        done = send(bench.folder / "long", f"{KERNEL}:9")
        assert done.returncode != 0, "it went on"
        assert "refused" in done.stderr, done.stderr
        return done.stderr.strip().split(": ")[-1]

    bench.case("nobody listens: send says so", 0, nobody)
