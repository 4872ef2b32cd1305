"""Links by their keys, with a ping's log of the same links, played by time."""

import csv
from pathlib import Path

from ping_kinds import PingedLink, Span, regular

SECONDS = 120.0
RATE = "12 Mbit/s"
FAR = regular(40, 2.0, SECONDS, 20)


def in_turns(at: float) -> float:
    return (0.05, 0.35)[int(at / 20) % 2]


def beacons(at: float) -> float:
    """A radio that wakes each 102.4 ms."""
    return 0.02 + 0.1024 - at % 0.1024


def jumps(at: float) -> float:
    """A delay that jumps by 250 ms each 6 s, and falls again within 1 s."""
    return 0.02 + 0.25 * max(1.0 - at % 6, 0.0)


def explicit(
    folder: Path,
    delays: list[tuple[float, float]],
    gaps: list[Span],
    more: str,
    rate: str = RATE,
) -> Path:
    """The link by its keys: round trips from their times on, and gaps."""
    changes = {at: (rtt, False) for at, rtt in delays}
    for start, length in gaps:
        changes |= {start: (delays[0][1], True), start + length: (delays[0][1], False)}
    with (folder / "truth.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("time_ms", "delay_ms", "loss"))
        for at in sorted(changes):
            rtt, is_lost = changes[at]
            rows.writerow((f"{1e3 * at:.3f}", f"{500 * rtt:.4f}", int(is_lost)))
    path = folder / "truth.toml"
    path.write_text(
        f'duration = "{SECONDS:g} s"\n'
        f'[link]\nrate = "{rate}"\nqueue.packets = 200\n'
        'recorded = { path = "truth.csv", order = "in-order" }\n'
        f'repeat = {{ every = "{SECONDS:g} s", start = "random" }}\n{more}'
        '[tcp]\nprofile = "linux"\n'
    )
    return path


def sampled(delay, every: float) -> list[tuple[float, float]]:  # type: ignore[no-untyped-def]
    return [(n * every, delay(n * every)) for n in range(round(SECONDS / every))]


KINDS: dict[str, tuple[PingedLink, list[tuple[float, float]], list[Span], str]] = {
    "scans": (
        PingedLink(lambda at, _: 0.02, stops=tuple(regular(34, 4.3, SECONDS))),
        [(0.0, 0.02)],
        [],
        'stops = { process = "periodic", every = "34 s", length = "4.3 s" }\n',
    ),
    "roaming gaps": (PingedLink(lambda at, _: 0.02, gaps=tuple(FAR)), [(0.0, 0.02)], FAR, ""),
    "an outage": (
        PingedLink(lambda at, _: 0.02, gaps=((50, 30),)),
        [(0.0, 0.02)],
        [(50.0, 30.0)],
        "",
    ),
    "steps of the base delay": (
        PingedLink(lambda at, _: in_turns(at)),
        sampled(in_turns, 20),
        [],
        "",
    ),
    "bursts": (PingedLink(lambda at, _: jumps(at)), sampled(jumps, 0.02), [], ""),
    "power save": (PingedLink(lambda at, _: beacons(at)), sampled(beacons, 0.0064), [], ""),
}
