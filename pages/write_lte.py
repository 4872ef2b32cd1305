"""Compares a cell of LTE with ns-3's, and writes the tables and the picture in validation.md.

    python pages/write_lte.py

ns-3's runs are those in tests/oracles/ns3-lte.jsonl (benches/ns3/lte_cell.py makes them); ours are
simulated here.
"""

from pathlib import Path
from typing import Any

from lte_cell import DEFAULT_TARGET, Figures, cpu_s, error_rate, expected_ratio, lines, ours

from airtcp.pages.marked import put
from airtcp.pages.plot.overlaid import OverlaidDistributions, Panel
from airtcp.pages.plot.svg import svg_file, svg_of
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "validation.md"
PICTURE = ROOT / "docs" / "images" / "lte-delays.svg"

NS3_PERCENTS = ("1", "5", "10", "20", "25", "30", "40", "50", "60", "70", "75", "80", "90", "95")
LISTED_PERCENTS = ("5", "25", "50", "75", "95", "99")
LOADS = {
    ("light", False): "a datagram each 20.1 ms, standing",
    ("light", True): "a datagram each 20.1 ms, walking",
    ("tcp", False): "TCP, standing",
    ("tcp", True): "TCP, walking",
}


def case_name(line: dict[str, Any]) -> str:
    """Mode and direction."""
    return f"RLC {line['mode'].upper()}, {line['direction']}"


def walking_table() -> str:
    """Goodput, block errors and retransmissions of users who walk."""
    rows = [
        "| users | RLC | SNR | goodput | ours | ratio | by link adaptation | first blocks in error "
        "| ours | retransmissions a block | ours | with outer loop | to ns-3's errors |",
        "|---:|---|---:|" + "---:|" * 10,
    ]
    for line in lines(traffic="tcp", walking=True):
        mine = ours(line)
        looped, alike = ours(line, target=DEFAULT_TARGET), ours(line, target=error_rate(line))
        cells = [
            str(line["users"]),
            f"{line['mode'].upper()}, {line['direction']}",
            f"{line['snr']} dB",
            f"{line['goodput_bps'] / 1e6:.2f} Mbit/s",
            f"{mine.goodput_bps / 1e6:.2f} Mbit/s",
            f"{mine.goodput_bps / line['goodput_bps']:.2f}",
            f"{expected_ratio(line):.2f}",
            f"{error_rate(line):.1%}",
            f"{mine.blocks_failed / mine.blocks_sent:.1%}",
            f"{line['blocks_repeated'] / line['blocks_sent']:.3f}",
            f"{mine.blocks_repeated / mine.blocks_sent:.3f}",
            f"{looped.goodput_bps / 1e6:.2f} Mbit/s",
            f"{alike.goodput_bps / 1e6:.2f} Mbit/s",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def compared() -> list[tuple[dict[str, Any], Figures]]:
    """Runs of one user in 1.4 MHz whose delays are compared, and ours at ns-3's error rate."""
    found = []
    for traffic, is_walking in LOADS:
        snr = 15 if is_walking else 0
        wanted = {"traffic": traffic, "walking": is_walking, "snr": snr, "users": 1, "blocks": 6}
        for line in lines(**wanted):
            target = error_rate(line) if is_walking else None
            found.append((line, ours(line, target=target)))
    return found


def delays_table(runs: list[tuple[dict[str, Any], Figures]]) -> str:
    """Quantiles of one-way delay."""
    heads = " | ".join(f"{percent} % | ours" for percent in LISTED_PERCENTS)
    rows = [f"| traffic | RLC | {heads} |", "|---|---|" + "---:|---:|" * len(LISTED_PERCENTS)]
    for line, mine in runs:
        cells = [LOADS[line["traffic"], line["walking"]], case_name(line).removeprefix("RLC ")]
        for percent in LISTED_PERCENTS:
            both = (line["delay_ms"][percent], mine.delay_ms[percent])
            cells += [f"{delay:.1f} ms" for delay in both]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def picture(runs: list[tuple[dict[str, Any], Figures]]) -> OverlaidDistributions:
    """Distributions of one-way delay, ns-3's over ours."""
    panels = []
    for load, title in LOADS.items():
        cases = {}
        for line, mine in runs:
            if (line["traffic"], line["walking"]) == load:
                theirs = {float(percent): line["delay_ms"][percent] for percent in NS3_PERCENTS}
                here = {float(percent): delay for percent, delay in mine.delay_ms.items()}
                here = {percent: delay for percent, delay in here.items() if 1 <= percent <= 95}
                cases[case_name(line)] = (theirs, here)
        panels.append(Panel(title[0].upper() + title[1:], cases))
    return OverlaidDistributions("ns-3", "one-way delay (ms)", tuple(panels))


def speed_table() -> str:
    """Processor time of a simulated second."""
    rows = [
        "| resource blocks | users | ns-3 | airtcp | ratio |",
        "|---:|---:|---:|---:|---:|",
    ]
    for blocks in (6, 100):
        for users in (1, 5):
            wanted = {"blocks": blocks, "users": users, "mode": "am", "direction": "down"}
            (line,) = lines(traffic="tcp", snr=0, **wanted)
            theirs = line["cpu_s"] / line["simulated_s"]
            mine = min(cpu_s(line) for _ in range(3))
            cells = [str(blocks), str(users), f"{1e3 * theirs:.0f} ms", f"{1e3 * mine:.2f} ms"]
            rows.append(f"| {' | '.join(cells)} | {theirs / mine:.0f} |")
    return "\n".join(rows)


def main() -> None:
    """Writes the tables and the picture."""
    runs = compared()
    tables = {
        "lte-walking": walking_table(),
        "lte-delays": delays_table(runs),
        "lte-speed": speed_table(),
    }
    text = PAGE.read_text("utf-8")
    for mark, table in tables.items():
        text = put(text, mark, table)
    PAGE.write_text(text, "utf-8")
    PICTURE.write_bytes(svg_file(svg_of(picture(runs).figure(), PICTURE.stem)))
    stamp(ROOT, *tables)


if __name__ == "__main__":
    main()
