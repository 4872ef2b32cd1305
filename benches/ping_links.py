"""Links rebuilt from a ping log, compared with a kernel over the original links.

    python benches/ping_links.py --kernel 6.12 [--out out/pings] [--seeds 4]
    python pages/write_sentences.py --pings out/pings    # the table from the results

Six kinds of fault are written twice: as the keys of a scenario, over which a kernel in virtual time
sends, and as a log of ping five times a second, from which airtcp derives a link. Finished
cells are kept in `--out`.
"""

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from airtcp._core import RunError
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.statistics import PairedDifference
from airtcp.core.catalogue import BASELINE
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.link import played_link
from airtcp.core.recordings.log import read_ping
from airtcp.kernel.verify import verify

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))
from ping_truth import KINDS, RATE, SECONDS, explicit

RATES = (RATE, "4 Mbit/s")
"""The second where a guest in virtual time is too slow for bursts at the first."""
REMEDY = "bbr"
"""It takes no loss or delay for a full queue, so that each kind of fault changes its gain."""


@dataclass(frozen=True)
class Side:
    """Goodput over one of the two links, and the change by the remedy."""

    goodput_bps: float
    gain: float
    """In per cent."""
    half: float | None
    """Half its interval."""


@dataclass(frozen=True)
class Pinged:
    """A kind of link, by a kernel over its keys and simulated from its log."""

    kind: str
    rate: str
    remedy: str
    seeds: int
    kernel: str
    by_keys: Side
    """The kernel's."""
    by_log: Side
    """Simulated from the log."""


def main() -> None:
    """Runs each kind, and keeps it."""
    asked = _arguments()
    os.nice(10)
    for kind in asked.only.split(",") if asked.only else KINDS:
        folder = asked.out / kind.replace(" ", "-")
        kept = folder / "found.json"
        if kept.exists():
            continue
        found = at_a_rate(kind, folder, asked.kernel, asked.seeds)
        kept.write_text(json.dumps(asdict(found), indent=1))
        print(
            f"{kind}: {found.by_keys.goodput_bps / 1e6:.2f} Mbit/s on Linux {found.kernel}, "
            f"{found.by_log.goodput_bps / 1e6:.2f} from the log; {REMEDY} "
            f"{found.by_keys.gain:+.1f} % and {found.by_log.gain:+.1f} %",
            flush=True,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/pings"))
    parser.add_argument("--only", default="", help="kinds, with commas")
    parser.add_argument("--kernel", required=True, help="a name of `airtcp kernels`")
    parser.add_argument("--seeds", type=int, default=4)
    return parser.parse_args()


def at_a_rate(kind: str, folder: Path, kernel: str, seeds: int) -> Pinged:
    """One kind of link at the first rate at which the kernel can be run.

    Raises:
        RunError: it cannot be run at any of them.
    """
    for rate in RATES[:-1]:
        try:
            return of_kind(kind, rate, folder / rate.replace("/", "-"), kernel, seeds)
        except RunError as error:
            print(f"{kind} at {rate}: {error}", flush=True)
    return of_kind(kind, RATES[-1], folder / RATES[-1].replace("/", "-"), kernel, seeds)


def of_kind(kind: str, rate: str, folder: Path, kernel: str, seeds: int) -> Pinged:
    """One kind of link both ways."""
    link, delays, gaps, more = KINDS[kind]
    for name in ("keys", "log"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    keys = explicit(folder / "keys", delays, gaps, more, rate)
    log = read_ping(link.write(folder / "x.ping", SECONDS))
    played = played_link(log, find_events(log), rate, seconds=SECONDS).write(folder / "log")
    real = verify(keys, [REMEDY], seeds, kernel=kernel, out=folder / "keys", jobs=1)
    settings = {"link.queue.packets": 200}
    simulated = run_comparison(
        played, [REMEDY], seeds, settings=settings, out=folder / "log", jobs=1
    )
    return Pinged(
        kind,
        rate,
        REMEDY,
        seeds,
        kernel,
        side(real.goodput(BASELINE), real.differences[REMEDY]),
        side(
            simulated.values(BASELINE, "goodput_bps"), simulated.differences[REMEDY]["goodput_bps"]
        ),
    )


def side(goodputs: list[float], by: PairedDifference) -> Side:
    """The mean of some runs and a difference, as they are kept."""
    return Side(sum(goodputs) / len(goodputs), by.mean_percent or 0.0, by.half_width_percent)


def found_in(out: Path) -> list[dict[str, object]]:
    """The kinds that are finished, in their order."""
    paths = (out / kind.replace(" ", "-") / "found.json" for kind in KINDS)
    return [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]


if __name__ == "__main__":
    main()
