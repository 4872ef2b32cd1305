#!/usr/bin/env python3
"""Deploys the advised remedies on the kernel, over the links that were captured.

    tests/captures/forecast.py FOLDER --out out/forecast --json docs/measurements/diagnose.json
    tests/captures/forecast.py FOLDER --out out/forecast --kernel 6.12    in virtual time

For each chosen case the capture is diagnosed, and where a remedy is advised `verify` runs the
kernel over the link of the case, as it was and with that remedy, paired by seed. The forecast gain
is listed with the real one. Finished runs are kept in --out: missing runs are made by the next
call. All cases take some twenty minutes.
"""

import argparse
import json
import sys
from pathlib import Path

from cases import Case, cases
from record import folder_of
from truth import Truth

from airtcp._core import RunError, ScenarioError
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.verify import verify

CHOSEN = (
    "iid half a percent reno",
    "iid one percent cubic",
    "iid two percent reno",
    "iid slow cubic",
    "bursts short reno",
    "bursts long cubic",
    "stops and losses cubic",
    "no timestamps losses cubic",
    "no sack losses cubic",
    "queue 50 and losses reno",
    "iid two percent cubic",
    "iid short cubic",
    "bursts short cubic",
    "arq download cubic",
    "jitter 5 ms in-order",
)
SECONDS = 15
SEEDS = 3
PLACES = "sender,receiver"
PROFILES = {"reno": "linux-reno", "cubic": "linux", "bbr": "linux-bbr"}


def main() -> None:
    """Forecasts, deploys and compares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    chosen = [case for case in cases() if case.name in CHOSEN]
    rows = []
    for case in (one for one in chosen if all(word in one.name for word in options.only)):
        rows.append(_row(case, options.folder, options.out, options.kernel))
        print(rows[-1], flush=True)
    if options.json:
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        before = {row["case"]: row for row in found.get("forecasts", [])}
        renewed = before | {row["case"]: row for row in rows}
        found["forecasts"] = [renewed[one.name] for one in chosen if one.name in renewed]
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def _row(case: Case, corpus: Path, out: Path, kernel: str) -> dict[str, object]:
    truth = Truth(case, folder_of(corpus, case))
    found = diagnosed(read_capture(truth.sender_side, None, None), PLACES)
    row: dict[str, object] = {"case": case.name, "headline": found.headline}
    best = found.trials.winner if found.trials else None
    if best is None:
        return row
    row |= {
        "remedy": best.remedy,
        "forecast_percent": best.effect.percent,
        "forecast_interval": [best.effect.low, best.effect.high],
    }
    try:
        return row | _real(case, best.remedy, out, kernel)
    except (RunError, ScenarioError) as error:
        return row | {"not_run": str(error)}


def _real(case: Case, remedy: str, out: Path, kernel: str) -> dict[str, object]:
    """The kernel's gain, with its interval."""
    out.mkdir(parents=True, exist_ok=True)
    scenario = out / f"{folder_of(out, case).name}.toml"
    scenario.write_text(f'name = "{case.name}"\nduration = "{SECONDS} s"\n')
    settings = dict(case.settings) | {"tcp.profile": PROFILES[case.sender.control]}
    if not case.sender.sack:
        settings |= {"tcp.sack": "false", "tcp.dsack": "false", "tcp.tail_loss_probe": "false"}
        settings |= {"tcp.loss_detection": "duplicate-acks", "tcp.dsack_undo": "false"}
    if not case.sender.timestamps:
        settings |= {"tcp.timestamps": "false", "tcp.eifel": "false"}
    verified = verify(scenario, [remedy], SEEDS, settings, kernel=kernel, out=out / "cells")
    real = verified.differences[remedy]
    return {"real_percent": real.mean_percent, "real_interval": real.interval_percent}


if __name__ == "__main__":
    sys.exit(main())
