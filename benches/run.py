#!/usr/bin/env python3
"""``make bench``: the speed of airtcp, compared with ns-3 and ns-2 where they are installed.

    benches/run.py [--repetitions N] [--docs]

Every figure is a median over repetitions in which the programs take turns, so that other load on
the machine affects all alike. Peers that are not installed are left out with a message. airtcp is
built with a profile, as the wheels' core is, or else without one, which is said. ``--docs``
writes the tables to performance.md in docs/measurements, and the figures to performance.json there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spent_instructions
import upload
from peers import ROOT, AbsentError, Airtcp, Case, Ns2, Ns3, printed_text
from tables import Table, verdict

PIPE_CASES = [Case(loss=loss, delack=delack) for loss in (0.0, 0.01) for delack in (1, 2)]
# About a million packets each, so that one flow is timed as long as a thousand.
FLOW_CASES = [
    Case(flows=1, seconds=1200),
    Case(flows=10, seconds=120),
    Case(flows=100, seconds=12),
    Case(flows=1000, seconds=6),
    # Nine round trips of ten segments each, so that it is flows that fill the memory.
    Case(flows=100_000, seconds=0.5, max_window=10),
]
# How many times the cost at one flow a packet may cost, by the number of flows.
FLOW_TARGETS = {1000: 2.0, 100_000: 3.0}
MEMORY_TARGET = 2048.0
# Each flow has 100 kbit/s and one place in the queue: memory of flows is measured, not of packets
# on the link, each of which adds 96 bytes.
MEMORY_CASE = Case(flows=100_000, seconds=5, rate_per_flow_bps=100_000, queue_per_flow=1)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def rate(result: dict[str, Any]) -> float:
    """Delivered data packets per wall second of the event loop."""
    return float(result["delivered_packets"] / result["wall_s"])


def progress(text: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def find_peers() -> dict[str, Airtcp | Ns3 | Ns2]:
    """airtcp, and the other peers that are installed."""
    peers: dict[str, Airtcp | Ns3 | Ns2] = {}
    kinds: list[Callable[[], Airtcp | Ns3 | Ns2]] = [Airtcp, Ns3, Ns2]
    for kind, name in zip(kinds, ("airtcp", "ns-3", "ns-2"), strict=True):
        progress(f"building {name}")
        try:
            peers[name] = kind()
        except AbsentError as reason:
            progress("")
            print(f"bench: {name} is left out: {reason}", file=sys.stderr)
    progress("")
    return peers


def measure_pipe(peers: dict[str, Any], repetitions: int) -> tuple[list[Table], dict[str, Any]]:
    """Packets a second on the lossy pipe, and the ratio to the bare loop."""
    airtcp = peers["airtcp"]
    rates: dict[tuple[Case, str], list[float]] = {}
    bare: dict[Case, list[float]] = {}
    goodputs: dict[tuple[Case, str], list[float]] = {}
    for repetition in range(repetitions):
        for case in PIPE_CASES:
            for name, peer in peers.items():
                progress(f"lossy pipe: round {repetition + 1} of {repetitions}, {name}")
                seeded = Case(loss=case.loss, delack=case.delack, seed=repetition + 1)
                if name == "airtcp":
                    result = airtcp.run(seeded, count_acknowledgments=True)
                else:
                    result = peer.run(seeded)
                rates.setdefault((case, name), []).append(rate(result))
                goodputs.setdefault((case, name), []).append(result["goodput_bps"])
                if name == "airtcp":
                    empty = airtcp.run_bare(seeded, result)
                    cost = result["wall_s"] / result["segments_sent"]
                    bare_cost = empty["wall_s"] / empty["delivered_packets"]
                    bare.setdefault(case, []).append(cost / bare_cost)
    progress("")
    speed = Table(
        "Delivered data packets per wall second of the event loop",
        [
            *("loss", "delack"),
            *(f"{peer.name}, 1000/s" for peer in peers.values()),
            *(f"over {name}" for name in peers if name != "airtcp"),
            "target",
        ],
    )
    goodput = Table(
        "Goodput in these runs, Mbit/s",
        ["loss", "delack", *(peer.name for peer in peers.values())],
    )
    loop = Table(
        "Cost of a packet over that in a bare event loop",
        ["loss", "delack", "ratio", "target"],
    )
    figures: dict[str, Any] = {"packets_per_second": [], "bare_loop_ratio": []}
    targets = {"ns-3": 100.0, "ns-2": 6.0}
    for case in PIPE_CASES:
        medians = {name: statistics.median(rates[case, name]) for name in peers}
        ratios = {name: medians["airtcp"] / medians[name] for name in peers if name != "airtcp"}
        # The targets are for the pipe without losses.
        judged = [verdict(ratios[n], targets[n], at_least=True) for n in ratios if not case.loss]
        setting = [f"{case.loss:.0%}", str(case.delack)]
        speed.rows.append(
            [
                *setting,
                *(f"{medians[name] / 1e3:,.0f}" for name in peers),
                *(f"{ratio:.1f}" for ratio in ratios.values()),
                "; ".join(judged) or "-",
            ]
        )
        means = {name: statistics.fmean(goodputs[case, name]) for name in peers}
        goodput.rows.append([*setting, *(f"{mean / 1e6:.2f}" for mean in means.values())])
        ratio = statistics.median(bare[case])
        loop.rows.append([*setting, f"{ratio:.2f}", verdict(ratio, 4, at_least=False)])
        named = {"loss": case.loss, "delack": case.delack}
        figures["packets_per_second"].append(
            {
                **named,
                "median": medians,
                "goodput_bps": means,
            }
        )
        figures["bare_loop_ratio"].append({**named, "median": ratio})
    return [speed, goodput, loop], figures


def measure_flows(airtcp: Airtcp, repetitions: int) -> tuple[list[Table], dict[str, Any]]:
    """Cost of a packet when many flows share the pipe."""
    costs: dict[int, list[float]] = {}
    for repetition in range(repetitions):
        for case in FLOW_CASES:
            progress(f"flows: round {repetition + 1} of {repetitions}, {case.flows}")
            costs.setdefault(case.flows, []).append(1e9 / rate(airtcp.run(case)))
    progress("")
    table = Table(
        "Cost of a delivered packet, no losses",
        ["flows", "ns a packet", "over one flow", "target"],
    )
    medians = {flows: statistics.median(values) for flows, values in costs.items()}
    for flows, cost in medians.items():
        ratio = cost / medians[1]
        most = FLOW_TARGETS.get(flows)
        target = "-" if most is None else verdict(ratio, most, at_least=False)
        table.rows.append([f"{flows:,}", f"{cost:.0f}", f"{ratio:.2f}", target])
    return [table], {"nanoseconds_per_packet": {str(n): cost for n, cost in medians.items()}}


def measure_upload(peers: dict[str, Any], repetitions: int) -> tuple[list[Table], dict[str, Any]]:
    """Packets a second over 802.11b, and how the cost grows with the number of stations."""
    measured = upload.measure(peers, repetitions, progress)
    others = [name for name in peers if name != "airtcp"]
    speed = Table(
        "802.11b upload: delivered data packets per wall second of the event loop",
        [
            "stations",
            *(f"{peer.name}, 1000/s" for peer in peers.values()),
            *(f"over {name}" for name in others),
            "target",
        ],
    )
    growth = Table(
        "802.11b upload: cost of a packet over that with one station",
        ["stations", *(peer.name for peer in peers.values()), "target"],
    )
    goodput = Table(
        "802.11b upload: goodput in these runs, Mbit/s",
        ["stations", *(peer.name for peer in peers.values())],
    )
    for stations in upload.STATIONS:
        rates = {name: measured[name][stations]["packets_per_second"] for name in peers}
        ratios = {name: rates["airtcp"] / rates[name] for name in others}
        judged = [verdict(ratios[n], upload.TARGETS[n], at_least=True) for n in others]
        speed.rows.append(
            [
                str(stations),
                *(f"{rates[name] / 1e3:,.1f}" for name in peers),
                *(f"{ratio:.1f}" for ratio in ratios.values()),
                "; ".join(judged) or "-",
            ]
        )
        costs = {name: measured[name][1]["packets_per_second"] / rates[name] for name in peers}
        slower = costs["airtcp"] <= costs.get("ns-2", float("inf"))
        target = "no more than ns-2: " + ("held" if slower else "MISSED")
        growth.rows.append(
            [
                str(stations),
                *(f"{costs[name]:.2f}" for name in peers),
                target if stations > 1 and "ns-2" in peers else "-",
            ]
        )
        means = [measured[name][stations]["goodput_bps"] / 1e6 for name in peers]
        goodput.rows.append([str(stations), *(f"{mean:.2f}" for mean in means)])
    return [speed, growth, goodput], {"upload": measured}


def measure_memory(airtcp: Airtcp) -> tuple[list[Table], dict[str, Any]]:
    """Memory of a flow when 100 000 run at once."""
    progress("memory of 100 000 flows")
    result = airtcp.run(MEMORY_CASE)
    progress("")
    if result["peak_resident_growth_bytes"] is None:
        print("bench: memory is left out: no /proc/self/status here", file=sys.stderr)
        return [], {}
    a_flow = result["peak_resident_growth_bytes"] / result["flows"]
    table = Table(
        "Memory of a flow, 100 000 at once: growth of the peak resident set",
        ["flows", "bytes a flow", "target"],
        [
            [
                f"{result['flows']:,}",
                f"{a_flow:,.0f}",
                verdict(a_flow, MEMORY_TARGET, at_least=False),
            ]
        ],
    )
    return [table], {"bytes_per_flow": a_flow}


def machine(peers: dict[str, Any], airtcp: Airtcp) -> dict[str, str]:
    """The machine and the programs' versions."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].split(":", 1)[1].strip() if names else cpu
    commit = printed_text(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"])
    load = os.getloadavg()[0]
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "rustc": printed_text(["rustc", "--version"]),
        "peers": ", ".join(peer.name for peer in peers.values()),
        "commit": commit,
        "load_at_end": f"{load:.1f}",
        "profile": "with" if airtcp.is_guided else "without",
    }


def write_docs(tables: list[Table], figures: dict[str, Any]) -> None:
    """Puts the tables between the marks of docs/measurements/performance.md."""
    about = figures["machine"]
    place = (
        f"Measured on {about['cpu']} ({about['cores']} cores, load {about['load_at_end']}), "
        f"{about['system']}, {about['rustc']}, at commit {about['commit']}; medians of "
        f"{figures['repetitions']} rounds; airtcp is built {about['profile']} a profile of its "
        "training, which the core of a wheel is built with. The same figures as data: "
        "[performance.json](performance.json)."
    )
    measured = "\n\n".join([place, *(table.markdown() for table in tables)])
    page = ROOT / "docs" / "measurements" / "performance.md"
    before, _, rest = page.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{measured}\n{END}{after}")
    data = ROOT / "docs" / "measurements" / "performance.json"
    data.write_text(json.dumps(figures, indent=2) + "\n")


def main() -> None:
    """Measures, prints, and with ``--docs`` writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repetitions", type=int, default=7, help="rounds (default 7)")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/measurements/performance.md"
    )
    arguments = parser.parse_args()
    peers = find_peers()
    airtcp = peers.get("airtcp")
    if not isinstance(airtcp, Airtcp):
        sys.exit(1)
    tables: list[Table] = []
    figures: dict[str, Any] = {"repetitions": arguments.repetitions}
    for more, data in (
        measure_pipe(peers, arguments.repetitions),
        measure_flows(airtcp, arguments.repetitions),
        measure_upload(peers, arguments.repetitions),
        measure_memory(airtcp),
        spent_instructions.measure(progress),
    ):
        for table in more:
            table.show()
        tables += more
        figures |= data
    figures["machine"] = machine(peers, airtcp)
    if arguments.docs:
        write_docs(tables, figures)


if __name__ == "__main__":
    main()
