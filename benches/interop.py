#!/usr/bin/env python3
"""airtcp's TCP against this machine's kernel: does every byte arrive, whatever happens?

    benches/interop.py                  the short part, under a minute
    benches/interop.py --all            with GiBs, a thousand connections and emulated scenarios
    benches/interop.py --write          also writes the table into docs/measurements/real.md

Everything happens in private network namespaces, which vanish with it (root, or a system that lets
users make namespaces). A transfer counts if the received data has the hash of the sent data. Every
packet at the endpoint's device is captured, and tshark must find no malformed packet, and no wrong
checksum in packets from the endpoint.

``airtcp-net`` is taken from AIRTCP_NET, or from target/local.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interoperability.bench import ENDPOINT, MIB, PROGRAM, ROOT, Bench, Row
from interoperability.emulated import at_server, at_station, scenarios
from interoperability.faults import changing_mtu, interrupted, over_wire
from interoperability.programs import iperf3, many, nginx, python_server, socat
from wire import Faults, sh

DOCUMENT = ROOT / "docs" / "measurements" / "real.md"
START, END = "<!-- generated: interoperability -->\n", "<!-- end -->"


def judge_captures(bench: Bench) -> None:
    """All captures under tshark: every packet that the endpoint sent."""

    def run() -> str:
        packets = 0
        fields = ("_ws.malformed", "tcp.checksum.status", "ip.checksum.status")
        wanted = [word for name in fields for word in ("-e", name)]
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        for path in bench.captures:
            if not path.exists():
                continue
            ours = ["-Y", f"ip.src == {ENDPOINT}", "-T", "fields", *wanted]
            for line in sh("tshark", "-n", "-r", str(path), *checks, *ours).splitlines():
                packets += 1
                # Good is 1 (epan/proto.h, PROTO_CHECKSUM_E_GOOD).
                assert line.split("\t") == ["", "1", "1"], f"{path.name}: {line!r}"
        assert packets > 0, "nothing was captured"
        return f"{packets} packets in {len(bench.captures)} captures"

    bench.case("tshark: nothing malformed, no wrong checksum", 0, run)


def run(everything: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        bench = Bench(Path(folder))
        sh("ip", "link", "set", "lo", "up")
        for size in (1, 1447, 1448, 1449, 100_000, 10 * MIB):
            bench.download(size)
            bench.upload(size)
            bench.sent(size)
        many(bench, 1000 if everything else 100)
        python_server(bench)
        nginx(bench)
        socat(bench)
        iperf3(bench, 5 if everything else 1)
        size = 4 * MIB if everything else 500_000
        over_wire(bench, "no faults", Faults(), size)
        over_wire(bench, "2 % lost", Faults(lost=0.02), size)
        over_wire(bench, "5 % duplicated", Faults(duplicated=0.05), size)
        over_wire(bench, "10 % late by up to 20 ms", Faults(late=0.1), size)
        over_wire(bench, "2 % damaged", Faults(damaged=0.02), size)
        over_wire(bench, "all of these", Faults(0.02, 0.05, 0.02, 0.1), size)
        over_wire(bench, "a link of 1000 bytes behind", Faults(), size, mtu=1000)
        over_wire(bench, "BBR, 2 % lost", Faults(lost=0.02), size, "--remedy", "bbr")
        changing_mtu(bench, 50 * size)
        interrupted(bench)
        if everything:
            scenarios(bench, 300_000)
            for options in ((), ("--offload",)):
                bench.sent(1 << 30, *options, pcap=False)
                bench.download(1 << 30, *options, pcap=False)
                bench.upload(1 << 30, *options, pcap=False)
            bench.sent(5 << 30, "--offload", pcap=False)
            bench.download(5 << 30, "--offload", pcap=False)
        judge_captures(bench)
        return bench.rows


def table(rows: list[Row]) -> str:
    lines = ["| Case | Bytes | Seconds | Outcome |", "|---|---:|---:|---|"]
    for row in rows:
        outcome = ("hash equal" if row.size else "as expected") if row.good else "**failed**"
        note = f"; {row.note}" if row.note else ""
        lines.append(f"| {row.name} | {row.size} | {row.seconds:.2f} | {outcome}{note} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="airtcp's TCP against this machine's kernel.")
    parser.add_argument("--all", action="store_true", help="GiBs, a thousand connections")
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--json", type=Path, help="write the rows into a file")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--at", nargs=3, metavar=("END", "FILE", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.at:
        end, file, results = given.at
        if end == "server":
            at_server(Path(results))
        at_station(Path(file), Path(results))
        return 0
    if not given.inside:
        unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        return subprocess.call([*unshare, sys.executable, __file__, "--inside", *sys.argv[1:]])
    missing = [
        name
        for name in ("curl", "ip", "iperf3", "nginx", "socat", "ss", "tshark")
        if shutil.which(name) is None
    ]
    if missing or not Path(PROGRAM).exists():
        print(
            f"needed: {', '.join(missing) or PROGRAM}; make build, or AIRTCP_NET", file=sys.stderr
        )
        return 2
    rows = run(given.all)
    if given.json:
        given.json.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n")
    if given.write:
        page = DOCUMENT.read_text(encoding="utf-8")
        before, rest = page.split(START)
        DOCUMENT.write_text(
            before + START + table(rows) + rest[rest.index(END) :], encoding="utf-8"
        )
    return int(not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
