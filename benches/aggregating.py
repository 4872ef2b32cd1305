#!/usr/bin/env python3
"""Counts the instructions of a delivered packet over aggregating Wi-Fi, here and in ns-3.

    benches/aggregating.py            prints the table
    benches/aggregating.py --write    and writes it into docs/measurements/performance.md
    benches/aggregating.py --ours     counts only airtcp, and takes ns-3's counts from the page

TCP uploads by one and by twenty stations over 802.11n, ac and ax, in modes that `tests/oracles`
compares. The wire is short, so that 300 segments keep the fastest channel busy in both programs.
Callgrind counts instructions inside both event loops, independently of other load on the machine.
Those of ns-3 before the first packet, for the association, are counted in a run that ends there and
subtracted. Runs under callgrind are short, so the goodputs are those of longer runs without it.
Debian's ns-3 is built with -O2 and without assertions. Its counts take half an hour.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import instructions
import parts
import peers
import scale_page
from tables import verdict

MARK = "aggregating"
SCENARIO = "benches/aggregating.toml"
SEGMENTS = 300
"""Of all flows together in flight: less than a queue holds."""
DELAY_MS = 1
"""Of the wire, each way."""
STATIONS = (1, 20)
AIM, AIM_AX_ALONE = 100.0, 150.0
MAX_SHARES = 5
"""Crates that the sentence below the table names."""
GOODPUT_S = 3
"""Simulated seconds of the runs for the goodput: the start is a small part."""
IDLE_S = 0.001
"""The measured time of ns-3's run that ends with the association."""


@dataclass(frozen=True)
class Mode:
    """A standard and its fastest mode of one stream."""

    standard: str
    """As ns-3's program has it: n, ac or ax."""
    prefix: str
    """Of the mode's name in ns-3."""
    mcs: int
    width_mhz: int
    window: int
    """Frames of an aggregate at most."""
    seconds: float
    """Enough for some ten thousand packets."""


MODES = (
    Mode("n", "Ht", 7, 20, 64, 2.0),
    Mode("ac", "Vht", 8, 80, 64, 0.5),
    Mode("ax", "He", 11, 80, 256, 0.4),
)


@dataclass(frozen=True)
class Counted:
    """Both programs' instructions per delivered packet and goodput in a setting."""

    standard: str
    stations: int
    airtcp: float
    ns3: float
    airtcp_mbps: float
    ns3_mbps: float
    ns3_flags: list[str]
    """The settings of ns-3's run."""
    crates: dict[str, float]
    """airtcp's instructions per delivered packet, by the crate of the source line."""

    @property
    def ratio(self) -> float:
        """Of ns-3's instructions to airtcp's."""
        return self.ns3 / self.airtcp

    @property
    def aim(self) -> float:
        """The least ratio that is aimed at."""
        return AIM_AX_ALONE if (self.standard, self.stations) == ("ax", 1) else AIM


def count(function: str, command: Sequence[str]) -> tuple[Counter[str], dict[str, Any]]:
    """Instructions inside a function by part, and the program's output."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--toggle-collect={function}"]
        result = peers.printed([*valgrind, f"--callgrind-out-file={out}", *command])
        counted = parts.spent(out)
    if counted.total() == 0:
        raise SystemExit(f"aggregating: nothing was counted: is {function} still its name?")
    return counted, result


def settings(mode: Mode, stations: int) -> dict[str, object]:
    """Changes to the scenario for this setting."""
    return {
        "duration": f"{round(1000 * mode.seconds)} ms",
        "wlan.standard": f"802.11{mode.standard}",
        "wlan.mcs": mode.mcs,
        "wlan.channel_width": f"{mode.width_mhz} MHz",
        "wlan.aggregation.window": mode.window,
        "wired.delay": f"{DELAY_MS} ms",
        "flows.count": stations,
        "tcp.max_window": SEGMENTS // stations,
    }


def ours(binaries: Path, mode: Mode, stations: int) -> tuple[dict[str, float], float]:
    """This engine's instructions per delivered packet by crate, and its goodput in Mbit/s."""
    command = [str(binaries / instructions.PROGRAM), f"--scenario={SCENARIO}"]
    command += [f"--set={key}={value}" for key, value in settings(mode, stations).items()]
    counted, result = count(instructions.FUNCTION, command)
    longer = peers.printed([*command, f"--set=duration={GOODPUT_S} s"])
    crates: Counter[str] = Counter()
    for part, each in counted.items():
        crates[part.partition("/")[0]] += each
    packets = result["delivered_packets"]
    each_crate = {name: each / packets for name, each in crates.most_common()}
    return each_crate, longer["goodput_bps"] / 1e6


def ns3_flags(mode: Mode, stations: int) -> list[str]:
    """The same setting for ns-3's program."""
    flags = {
        "traffic": "tcp",
        "direction": "up",
        "standard": mode.standard,
        "mode": f"{mode.prefix}Mcs{mode.mcs}",
        "width": mode.width_mhz,
        "window": mode.window,
        "delay": DELAY_MS,
        "stations": stations,
        "segments": SEGMENTS // stations,
        "seconds": mode.seconds,
    }
    return [f"--{key}={value}" for key, value in flags.items()]


def theirs(program: Path, flags: Sequence[str]) -> tuple[float, float]:
    """ns-3's instructions per delivered packet, and its goodput in Mbit/s."""
    function = "ns3::Simulator::Run()"
    # The last of a flag's values holds.
    idle, _ = count(function, [str(program), *flags, f"--seconds={IDLE_S}"])
    counted, result = count(function, [str(program), *flags])
    total = counted.total() - idle.total()
    longer = peers.printed([str(program), *flags, f"--seconds={GOODPUT_S}"])
    return total / result["delivered_packets"], longer["goodput_bps"] / 1e6


def written(flags: Sequence[str]) -> tuple[float, float]:
    """The same as the page has it, from a run with these flags."""
    for one in (scale_page.figures(MARK) or {"counted": []})["counted"]:
        if one["ns3_flags"] == list(flags):
            return one["ns3"], one["ns3_mbps"]
    raise SystemExit(f"aggregating: no written count of ns-3 with {' '.join(flags)}: omit --ours")


def table(figures: dict[str, Any]) -> str:
    """The page's table of the figures."""
    rows = [Counted(**one) for one in figures["counted"]]
    return "\n".join(
        [
            "| standard | stations | airtcp, instructions a packet | ns-3.37 | over airtcp "
            "| airtcp, goodput, Mbit/s | ns-3.37 | target |",
            "|---|---:|---:|---:|---:|---:|---:|---|",
            *(
                f"| 802.11{one.standard} | {one.stations} | {one.airtcp:,.0f} | {one.ns3:,.0f} "
                f"| {one.ratio:.0f} | {one.airtcp_mbps:.1f} | {one.ns3_mbps:.1f} "
                f"| {verdict(one.ratio, one.aim, at_least=True)} |"
                for one in rows
            ),
            "",
            spent(rows),
        ]
    )


def spent(rows: Sequence[Counted]) -> str:
    """A sentence on the crates in which a packet's instructions are spent."""
    (one,) = (row for row in rows if (row.standard, row.stations) == ("ax", 1))
    shares = [
        f"{name.partition(',')[0]} {each / one.airtcp:.0%}" for name, each in one.crates.items()
    ]
    return (
        "Instructions of one station of 802.11ax by the place of the source line: "
        + ", ".join(shares[:MAX_SHARES])
        + f". With {one.aim:g} times fewer than ns-3, a packet would take {one.ns3 / one.aim:,.0f}."
    )


def measured(*, is_ours_alone: bool) -> dict[str, Any]:
    """Counts in all settings.

    Raises:
        AbsentError: a program is missing.
    """
    if shutil.which("valgrind") is None:
        raise instructions.AbsentError("no valgrind: apt install valgrind")
    binaries = instructions.build(peers.ROOT)
    program = None if is_ours_alone else peers.ns3_program("wlan_aggregating")
    counted = []
    for mode in MODES:
        for stations in STATIONS:
            crates, own_mbps = ours(binaries, mode, stations)
            flags = ns3_flags(mode, stations)
            other, other_mbps = theirs(program, flags) if program else written(flags)
            own = sum(crates.values())
            setting = (mode.standard, stations)
            one = Counted(*setting, own, other, own_mbps, other_mbps, flags, crates)
            print(one, file=sys.stderr, flush=True)
            counted.append(one)
    return {"counted": [asdict(one) for one in counted], "rustc": instructions.compiler()}


def main() -> None:
    """Counts, prints, and writes with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--ours", action="store_true", help="use the written counts of ns-3")
    arguments = parser.parse_args()
    figures = measured(is_ours_alone=arguments.ours)
    text = table(figures)
    print(text)
    if arguments.write:
        scale_page.write(MARK, figures, text)


if __name__ == "__main__":
    try:
        main()
    except (instructions.AbsentError, peers.AbsentError) as reason:
        sys.exit(f"aggregating: SKIPPED: {reason}")
    except (subprocess.CalledProcessError, json.JSONDecodeError) as reason:
        sys.exit(f"aggregating: {reason}")
