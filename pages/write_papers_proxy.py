"""Sends real packets with the papers' own senders, and writes the table of papers-real.md.

    python pages/write_papers_proxy.py  # runs papers-proxy.toml, resumably, then writes

Each sender is that of the scenario, with remedies: airtcp's endpoint in `airtcp proxy`, in the
namespace of an emulated station, where a program sends to the proxy by the kernel's TCP. The other
end of the link is the kernel. The same is simulated with the same seeds. A run with a late emulator
is repeated.
"""

import argparse
import hashlib
import json
import os
import platform
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

import airtcp
from airtcp import _core
from airtcp.core.net import find_program
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
GRID = ROOT / "docs" / "measurements" / "papers-proxy.toml"
DATA = ROOT / "docs" / "measurements" / "papers-proxy.json"
PAGE = ROOT / "docs" / "measurements" / "papers-real.md"
SINK_PORT, PROXY_PORT = 5001, 8080
#: The server of the first station's line.
SERVER = "100.64.0.1"
#: Runs of one seed before one that was late counts as missing.
ATTEMPTS = 3
#: More than any sender sends in its time.
ENDLESS = 1 << 40


def sink(folder: Path, connections: int, seconds: float | None) -> None:
    """The far end: reads each connection for so long, or to its end; writes the results."""
    # Every segment is acknowledged immediately, as the scenarios' receivers do.
    routes = subprocess.run(["ip", "-4", "route"], capture_output=True, text=True, check=True)
    for line in routes.stdout.splitlines():
        subprocess.run(["ip", "route", "change", *line.split(), "quickack", "1"], check=False)
    with socket.create_server(("", SINK_PORT), backlog=64) as listener:
        (folder / "listens").touch()
        readers = []
        for number in range(connections):
            connection, _ = listener.accept()
            reader = threading.Thread(
                target=_read, args=(connection, seconds, folder / f"{number}.json")
            )
            reader.start()
            readers.append(reader)
        for reader in readers:
            reader.join()


def _read(connection: socket.socket, seconds: float | None, result: Path) -> None:
    # The address contains the station's number; its clock is this one.
    station = connection.getpeername()[0].split(".")[2]
    start = float((result.parent / f"{station}.start").read_text())
    received, last = 0, 0.0
    connection.settimeout(1)
    while seconds is None or time.monotonic() - start < seconds:
        try:
            data = connection.recv(1 << 16)
        except TimeoutError:
            continue
        if not data:
            break
        received += len(data)
        last = time.monotonic() - start
    took = last if seconds is None else seconds
    result.write_text(json.dumps({"bytes": received, "seconds": took}))
    connection.close()


def source(folder: Path, stack: str, size: int | None, sessions: Path | None) -> None:
    """A station: the proxy with the paper's sender, and a program that sends to it."""
    while not (folder / "listens").exists():
        time.sleep(0.02)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    words = [
        *(find_program(), "proxy", "--listen", f"127.0.0.1:{PROXY_PORT}"),
        *("--to", f"{os.environ['AIRTCP_SERVER']}:{SINK_PORT}"),
        *("--mobile", "servers", "--mobile-stack", stack),
        *(["--sessions", str(sessions)] if sessions else []),
    ]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as proxy:
        assert proxy.stderr is not None
        for line in proxy.stderr:
            if line.endswith("ready\n"):
                break
        else:
            raise SystemExit("the proxy has ended")
        left = ENDLESS if size is None else size
        start = folder / f"{os.environ['AIRTCP_STATION']}.start"
        start.write_text(str(time.monotonic()))
        with socket.create_connection(("127.0.0.1", PROXY_PORT)) as connection:
            try:
                while left > 0:
                    left -= connection.send(b"x" * min(left, 1 << 16))
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
            except (BrokenPipeError, ConnectionResetError):
                # The far end has had its time.
                pass
        # The session is written down as the connection ends.
        time.sleep(0.2)
        proxy.send_signal(signal.SIGINT)


def on_real_packets(
    case: Mapping[str, Any], sender: str, seed: int, sessions: Path | None
) -> float:
    """Goodput of all flows in bit/s; NaN where every attempt was late."""
    stack = "+".join(filter(None, [str(ROOT / case["scenario"]), sender]))
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as folder:
            flows = case.get("flows", 1)
            me = shlex.join([sys.executable, __file__])
            seconds = f" --seconds {case['seconds']}" if "seconds" in case else ""
            far_end = f"{me} sink {folder} --connections {flows}{seconds}"
            size = f" --bytes {case['bytes']}" if "bytes" in case else ""
            past = f" --sessions {sessions}" if sessions else ""
            station = f"{me} source {folder} {shlex.quote(stack)}{size}{past}"
            words = [find_program(), "emulate", str(ROOT / case["scenario"]), "--seed", str(seed)]
            for key, value in settings(case).items():
                words += ["--set", f"{key}={value}"]
            words += ["--server", far_end, "--", "sh", "-c", station]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if "did not keep up" in done.stderr:
                print(f"{case['name']}: late, once more", file=sys.stderr)
                continue
            results = [json.loads(file.read_text()) for file in Path(folder).glob("*.json")]
            if len(results) != flows:
                raise SystemExit(f"{case['name']}, {sender}: {done.stderr}")
            return sum(8 * float(one["bytes"]) / float(one["seconds"]) for one in results)
    return float("nan")


def simulated(case: Mapping[str, Any], sender: str, seed: int) -> float:
    """The same goodput in simulation."""
    wanted = settings(case)
    if "bytes" in case:
        wanted["flows.bytes"] = str(case["bytes"])
    else:
        wanted |= {"flows.bytes": "unlimited", "duration": f"{case['seconds']} s"}
    run = airtcp.run(
        ROOT / case["scenario"], seed, settings=wanted, remedies=[sender] if sender else []
    )
    flows = run.summary["flows"]
    if "bytes" in case:
        size = 8 * float(case["bytes"])
        return sum(size / (flow["completed_s"] or float("nan")) for flow in flows)
    return sum(flow["goodput_bps"] for flow in flows)


def settings(case: Mapping[str, Any]) -> dict[str, object]:
    """The case's settings, as the command line takes them."""
    return dict(case["settings"])


def measure(case: Mapping[str, Any], seeds: int, kept: Path) -> list[dict[str, Any]]:
    """One row a sender; with sessions one row a session."""
    if "sessions" in case:
        return _sessions(case, seeds, kept)
    rows = []
    for sender in case["senders"]:
        runs = []
        for seed in range(1, seeds + 1):

            def once(sender: str = sender, seed: int = seed) -> list[dict[str, Any]]:
                real = on_real_packets(case, sender, seed, None)
                return [{"seed": seed, "real": real, "simulated": simulated(case, sender, seed)}]

            runs += _kept(kept, [case, sender, seed], once)
        rows.append({"sender": sender or "as the paper has it", "runs": runs})
    return rows


def _sessions(case: Mapping[str, Any], seeds: int, kept: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"sender": f"session {number + 1}", "runs": []} for number in range(case["sessions"])
    ]
    for seed in range(1, seeds + 1):

        def all_sessions(seed: int = seed) -> list[dict[str, Any]]:
            with tempfile.TemporaryDirectory() as folder:
                return [_session(case, seed, Path(folder) / "past") for _ in rows]

        for row, run in zip(rows, _kept(kept, [case, seed], all_sessions), strict=True):
            row["runs"].append(run)
    return rows


def _session(case: Mapping[str, Any], seed: int, past: Path) -> dict[str, Any]:
    window, _ = _core.session_window(past, SERVER, int(time.time()), 0)
    sender = f"wsc-best-start:window={window}" if window else ""
    real = on_real_packets(case, "", seed, past)
    modelled = simulated(case, sender, seed)
    return {"seed": seed, "real": real, "simulated": modelled, "window": window}


def _kept(
    folder: Path, what: object, measured: Callable[[], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """A measurement from its file, or made now."""
    name = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
    file = folder / f"{name}.json"
    if not file.exists():
        found = measured()
        print(json.dumps([what, found]), file=sys.stderr)
        file.write_text(json.dumps(found), encoding="utf-8")
    return list(json.loads(file.read_text(encoding="utf-8")))


def table(run: Mapping[str, Any]) -> str:
    """Senders down; goodput on real packets and simulated, and each one's effect."""
    lines = [
        "| paper | case | sender | through the proxy | simulated | ratio | effect on real packets "
        "| simulated |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for case in run["cases"]:
        first = case["rows"][0]["runs"]
        for row in case["rows"]:
            real, model = (_goodput(row["runs"], side) for side in ("real", "simulated"))
            effects = ["-", "-"]
            if row["runs"] is not first:
                effects = [_effect(row["runs"], first, side) for side in ("real", "simulated")]
            ratio = (
                f"{fmean(_all(row['runs'], 'real')) / fmean(_all(row['runs'], 'simulated')):.2f}"
            )
            cells = [case["paper"], case["name"], row["sender"], real, model, ratio, *effects]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _all(runs: Sequence[Mapping[str, Any]], side: str) -> list[float]:
    return [one[side] for one in runs if one["real"] == one["real"]]


def _goodput(runs: Sequence[Mapping[str, Any]], side: str) -> str:
    return f"{fmean(_all(runs, side)) * 1e-3:.0f} kbit/s"


def _effect(
    runs: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]], side: str
) -> str:
    ratios = [
        log(one[side] / other[side])
        for one, other in zip(runs, before, strict=True)
        if one["real"] == one["real"] and other["real"] == other["real"]
    ]
    return f"{100 * (exp(fmean(ratios)) - 1):+.1f} %"


def sentence(run: Mapping[str, Any]) -> str:
    """The table's kernel and number of runs."""
    return (
        f"Kernel {run['kernel']} at the far end, {run['seeds']} seeds; effects are paired by seed."
    )


def main() -> None:
    """The whole table, or one end of one run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command")
    far = commands.add_parser("sink")
    far.add_argument("folder", type=Path)
    far.add_argument("--connections", type=int, required=True)
    far.add_argument("--seconds", type=float)
    near = commands.add_parser("source")
    near.add_argument("folder", type=Path)
    near.add_argument("stack")
    near.add_argument("--bytes", type=int)
    near.add_argument("--sessions", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "sink":
        sink(arguments.folder, arguments.connections, arguments.seconds)
    elif arguments.command == "source":
        source(arguments.folder, arguments.stack, arguments.bytes, arguments.sessions)
    else:
        grid = tomllib.loads(GRID.read_text(encoding="utf-8"))
        kept = ROOT / "out" / "papers-proxy"
        kept.mkdir(parents=True, exist_ok=True)
        cases = [
            {
                "paper": case["paper"],
                "name": case["name"],
                "rows": measure(case, grid["seeds"], kept),
            }
            for case in grid["case"]
        ]
        run = {"kernel": platform.release(), "seeds": grid["seeds"], "cases": cases}
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        page = put(PAGE.read_text(encoding="utf-8"), "papers-proxy", table(run))
        page = put(page, "papers-proxy-sentence", sentence(run))
        PAGE.write_text(page, encoding="utf-8")
        stamp(ROOT, "papers-proxy", "papers-proxy-sentence")


if __name__ == "__main__":
    main()
