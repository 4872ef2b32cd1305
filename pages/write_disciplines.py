"""Runs queue disciplines of a kernel in virtual time, and writes their tables in validation.md.

    python pages/write_disciplines.py            # all three tables
    python pages/write_disciplines.py --part l4s
    python pages/write_disciplines.py --again    # kernel: runs that are there, too

`kernel` puts each discipline of a kernel in front of the kernel's sender and reads its counters;
the runs are kept in disciplines.json. `ns3` compares the recorded runs of
benches/ns3/disciplines.cc with ours. `l4s` is only simulated: shares of Prague against CUBIC and
Reno over DualPI2, by rate and round trip, compared with a closed form.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

import airtcp
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docs" / "measurements"
PAGE = HERE / "validation.md"
DATA = HERE / "disciplines.json"
PIPE = ROOT / "scenarios" / "lossy-pipe.toml"
PAIR = ROOT / "scenarios" / "dumbbell.toml"
NS3 = ROOT / "tests" / "oracles" / "ns3-disciplines.jsonl"

KERNEL = "6.12"
BASE = {
    "duration": "15 s",
    "tcp.profile": "linux",
    "link.loss.rate": "0",
    "link.queue.packets": "10000",
    "flows.under_load": '["ping", "exchange"]',
}
DISCIPLINES: dict[str, dict[str, Any]] = {
    "codel": {
        "words": "codel limit 10000",
        "settings": {"link.aqm": '{ discipline = "codel" }'},
    },
    "codel, 20 ms": {
        "words": "codel limit 10000",
        "settings": {"link.aqm": '{ discipline = "codel" }', "link.delay": "10 ms"},
    },
    "fq_codel": {
        "words": "fq_codel limit 10000 noecn",
        "settings": {
            "link.aqm": '{ discipline = "fq-codel", ecn = false }',
        },
    },
    "pie": {"words": "pie limit 10000", "settings": {"link.aqm": '{ discipline = "pie" }'}},
    "cake": {
        "words": "cake besteffort",
        "settings": {
            "link.aqm": '{ discipline = "cake", tins = "besteffort", ack_filter = "off" }',
        },
    },
    "cake ack-filter": {
        "ack_words": "cake besteffort ack-filter",
        "settings": {
            "flows.under_load": "[]",
            "link.rate": "5 Mbit/s",
            "link.queue.packets": "100",
            "link.reverse.rate": "50 kbit/s",
            "link.reverse.queue.packets": "10000",
            "link.reverse.aqm": ('{ discipline = "cake", tins = "besteffort", ack_filter = "on" }'),
        },
    },
}
"""The kernel's words, and the scenario with ours; 10 Mbit/s and 50 ms where nothing is said."""
SEEDS = 10
"""Of ours, where it draws: the kernel's random numbers are others."""

RATES = (4, 12, 40, 120, 200)
ROUND_TRIPS = (5, 10, 20, 40, 100)
PRAGUE = (
    '{ congestion_control = "prague", ecn = "accurate", slow_start = "standard", pacing = true, '
    "pacing_shift = 12 }"
)
CLASSIC = {"CUBIC": "{}", "Reno": '{ congestion_control = "reno", slow_start = "standard" }'}
WARM_UP_S, DURATION_S = 20, 60


def main() -> None:
    """Runs the requested parts, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=("kernel", "ns3", "l4s"))
    parser.add_argument("--again", action="store_true", help="run the kernel anew")
    parser.add_argument("--only", help="of the kernel's runs this one")
    given = parser.parse_args()
    parts = [given.part] if given.part else ["kernel", "ns3", "l4s"]
    if "kernel" in parts:
        for name, one in DISCIPLINES.items():
            if given.only in (None, name) and (given.again or name not in kept()):
                found = measured(one)
                # Read again: another process may have written results meanwhile.
                made = kept() | {name: found}
                ordered = {known: made[known] for known in DISCIPLINES if known in made}
                DATA.write_text(json.dumps(ordered, indent=1) + "\n")
    text = PAGE.read_text()
    tables = {
        "kernel": lambda: kernel_table(kept()),
        "ns3": ns3_table,
        "l4s": lambda: f"{l4s_table('CUBIC')}\n{l4s_table('Reno')}",
    }
    for part in parts:
        text = put(text, f"disciplines-{part}", tables[part]())
    PAGE.write_text(text)
    stamp(ROOT, *(f"disciplines-{part}" for part in parts))


def kept() -> dict[str, Any]:
    """The kernel's runs that are there."""
    return json.loads(DATA.read_text()) if DATA.exists() else {}


def measured(one: Mapping[str, Any]) -> dict[str, Any]:
    """A run of the kernel: its counts, its round trips, and the others' share."""
    from airtcp.kernel.guests import Guest, the_kernel
    from airtcp.kernel.guests.protocol import Job
    from airtcp.kernel.under_load import probes_of

    words = ["--discipline", one["words"]] if "words" in one else []
    if "ack_words" in one:
        words += ["--ack-discipline", one["ack_words"]]
    for key, value in (BASE | one["settings"]).items():
        words += ["--set", f"{key}={value}"]
    guest = Guest.of(the_kernel(KERNEL))
    (done,) = guest.run(
        [Job(("", "measure", "/pipe.toml", *words))], {"/pipe.toml": PIPE.read_bytes()}
    )
    if done.status != 0:
        raise SystemExit(f"write_disciplines: {done.err}")
    run = json.loads(done.out)
    if not run["in_time"]:
        raise SystemExit("write_disciplines: the guest was late")
    return {
        "kernel": run["kernel"],
        "counted": run.get("counted") or run["ack_counted"],
        "goodput_bps": run["goodput_bps"],
        "retransmissions": run["retransmissions"],
        "under_load": probes_of(run),
    }


def simulated(name: str) -> dict[str, Any]:
    """The same of ours, means over seeds."""
    settings = BASE | DISCIPLINES[name]["settings"]
    found = []
    for seed in range(1, 1 + SEEDS):
        run = airtcp.run(PIPE, seed, settings, packets=True)
        flow, probes = run.summary["flows"][0], run.summary["under_load"]
        assert run.packets is not None
        found.append(
            {
                "dropped": flow["segments_dropped_queue"],
                # As the sender meets them: after the filter.
                "acks": pl.DataFrame(run.packets)["is_data"].not_().sum(),
                "goodput_bps": flow["goodput_bps"],
                "ping_p50_ms": probes["ping_p50_ms"],
                "exchange_p50_ms": probes["exchange_p50_ms"],
            }
        )
    return {
        key: fmean(one[key] for one in found) if found[0][key] is not None else None
        for key in found[0]
    }


def kernel_table(made: Mapping[str, Any]) -> str:
    """Drops, round trips and goodput, the kernel's and ours."""
    rows = [
        "| discipline | packets dropped | ours | goodput | ours | ping under load, median | ours | "
        "exchange, median | ours |",
        "|---|" + "---:|" * 8,
    ]
    for name, real in made.items():
        ours = simulated(name)
        is_filter = "ack_words" in DISCIPLINES[name]
        cells = [
            str(real["counted"]["passed" if is_filter else "dropped"]),
            whole(ours.get("acks" if is_filter else "dropped")),
            megabits(real["goodput_bps"]),
            megabits(ours.get("goodput_bps")),
        ]
        for key in ("ping_p50_ms", "exchange_p50_ms"):
            cells += [
                milliseconds((real["under_load"] or {}).get(key)),
                milliseconds(ours.get(key)),
            ]
        head = f"{name}: acknowledgments left" if is_filter else name
        rows.append(f"| {head} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


AQM = {
    "codel": '{ discipline = "codel" }',
    "fq-codel": '{ discipline = "fq-codel", ecn = false }',
    "pie": '{ discipline = "pie" }',
    "cobalt": '{ discipline = "cake", tins = "besteffort", ack_filter = "off" }',
}


def ns3_settings(line: Mapping[str, Any]) -> dict[str, object]:
    """Our settings for a run of benches/ns3/disciplines.cc."""
    settings: dict[str, object] = {
        "duration": f"{line['simulated_s']} s",
        "link.rate": "10 Mbit/s",
        "link.delay": f"{line['delay_ms']} ms",
        "link.queue.packets": 10_000,
        "link.aqm": AQM[line["discipline"]],
        "flows.count": 2,
        "flows.access_delay": ["0 ms"],
        "flows.ping": '{ interval = "100 ms", size = "172 B" }',
    }
    if line["traffic"] == "udp":
        rate = round(line["rate_mbps"] * 1e6 * 1472 / 1500)
        settings["flows.kind"] = ["udp", "ping"]
        settings["flows.udp"] = f'{{ rate = "{rate} bit/s", size = "1472 B" }}'
    else:
        settings["flows.kind"] = ["tcp", "ping"]
        settings["tcp"] = (
            '{ profile = "sack", mss = 1448, initial_window = 10, window_growth = '
            '"acknowledgments", min_rto = "200 ms", delayed_ack = { segments = 1 } }'
        )
    return settings


def ns3_ours(line: Mapping[str, Any]) -> dict[str, float]:
    """One of our runs in these settings, in the terms of the program."""
    flows = airtcp.run(PAIR, line["seed"], ns3_settings(line)).summary["flows"]
    bulk, sparse = flows
    packet_ms, small_ms = 1500 * 8 / 1e4, 200 * 8 / 1e4
    assert bulk["delay_p50_ms"] is not None
    assert sparse["rtt_p50_ms"] is not None
    return {
        "dropped": sum(one["segments_dropped_queue"] + one["datagrams_lost"] for one in flows),
        "wait_p50_ms": bulk["delay_p50_ms"] - line["delay_ms"] - packet_ms,
        "sparse_wait_p50_ms": sparse["rtt_p50_ms"] - 2 * (line["delay_ms"] + small_ms),
        "goodput_bps": bulk["goodput_bps"],
    }


def ns3_cases() -> list[list[dict[str, Any]]]:
    """The recorded runs, grouped if they differ only in their seed."""
    cases: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for text in NS3.read_text().splitlines():
        line = json.loads(text)
        key = tuple(line[name] for name in ("discipline", "traffic", "rate_mbps", "delay_ms"))
        cases.setdefault(key, []).append(line)
    return list(cases.values())


def ns3_table() -> str:
    """Drops, waiting and goodput, ns-3's and ours."""
    rows = [
        "| discipline | load | dropped | ours | wait, median | ours | sparse, median | ours | "
        "goodput | ours |",
        "|---|---|" + "---:|" * 8,
    ]
    for lines in ns3_cases():
        one, ours = lines[0], [ns3_ours(line) for line in lines]
        is_udp = one["traffic"] == "udp"
        load = f"{one['rate_mbps']:g} Mbit/s" if is_udp else f"TCP, {2 * one['delay_ms']:g} ms"
        cells = []
        for key, form in (
            ("dropped", whole),
            ("wait_p50_ms", milliseconds),
            ("sparse_wait_p50_ms", milliseconds),
            ("goodput_bps", megabits),
        ):
            cells += [form(fmean(run[key] for run in runs)) for runs in (lines, ours)]
        rows.append(f"| {one['discipline']} | {load} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def share(classic: str, rate_mbps: float, rtt_ms: float, pairs: int = 1, seed: int = 1) -> float:
    """Prague's rate as a multiple of the other's over DualPI2, from the twentieth second on."""
    settings: dict[str, object] = {
        "link.rate": f"{rate_mbps} Mbit/s",
        "link.delay": f"{rtt_ms / 2} ms",
        "link.queue.packets": 10_000,
        "link.aqm": '{ discipline = "dualpi2" }',
        "flows.count": 2 * pairs,
        "flows.access_delay": ["0 ms"],
        "flows.start_spread": "1 s",
        "flows.tcp": f"[{CLASSIC[classic]}, {PRAGUE}]",
    }

    def delivered(seconds: int) -> list[int]:
        flows = airtcp.run(PAIR, seed, settings | {"duration": f"{seconds} s"}).summary["flows"]
        bytes_of = [one["delivered_bytes"] for one in flows]
        return [sum(bytes_of[0::2]), sum(bytes_of[1::2])]

    theirs, ours = (
        late - early
        for early, late in zip(delivered(WARM_UP_S), delivered(DURATION_S), strict=True)
    )
    return ours / theirs


def closed_form(rtt_ms: float) -> float:
    """The share that follows from both senders' steady states, whatever the rate.

    Of a window of W segments a share p of drops leaves Reno, and CUBIC where it is as fast as Reno,
    W = 1.22/√p (Mathis et al.). Prague meets marks with 2√p (RFC 9332 §2.1), m = p·W of them in its
    round trip of 25 ms at least; a reduction by p/2 waits for the first mark after one, 1 + 1/m
    round trips in the mean, and takes the growth until then: m²/2 = m + 1.
    """
    marks = 1 + 3**0.5
    classic_ms, low_ms = rtt_ms + 15 + 0.5, max(rtt_ms + 0.5, 25)
    return marks / 2 / 1.5**0.5 * classic_ms / low_ms


def l4s_table(classic: str) -> str:
    """Shares by rate and round trip, one of each, five of each, and the closed form for both."""
    heads = " | ".join(f"{rtt} ms" for rtt in ROUND_TRIPS)
    rows = [f"| Prague's share of {classic}'s | {heads} |", "|---|" + "---:|" * len(ROUND_TRIPS)]
    for rate in RATES:
        cells = [f"{share(classic, rate, rtt):.2f}" for rtt in ROUND_TRIPS]
        rows.append(f"| {rate} Mbit/s, one of each | " + " | ".join(cells) + " |")
    cells = [f"{share(classic, 100, rtt, 5):.2f}" for rtt in ROUND_TRIPS]
    rows.append("| 100 Mbit/s, five of each | " + " | ".join(cells) + " |")
    cells = [f"{closed_form(rtt):.2f}" for rtt in ROUND_TRIPS]
    rows.append("| *closed form* | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def whole(value: float | None) -> str:
    """A count; n/a without one."""
    return "n/a" if value is None else f"{value:.0f}"


def milliseconds(value: float | None) -> str:
    """A time; n/a without one."""
    return "n/a" if value is None else f"{value:.1f} ms"


def megabits(value: float | None) -> str:
    """A rate; n/a without one."""
    return "n/a" if value is None else f"{value / 1e6:.2f} Mbit/s"


if __name__ == "__main__":
    main()
