#!/usr/bin/env python3
"""Deploys the remedies of the ends on the kernel, over the links that were captured.

    tests/captures/remedied.py FOLDER --out out/remedied --json docs/measurements/diagnose.json
    tests/captures/remedied.py FOLDER --out out/remedied --kernel 6.12    in virtual time

A case of a hole, small writes or a small buffer is recorded again with the remedy that its finding
names. The finding's forecast is listed with both recordings: the time of a message, or the goodput
of a transfer, at most the link's. A recording takes half a minute, and is kept in --out.
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from cases import Case, Sender, cases
from record import folder_of, is_in_time, record_case
from truth import Truth

from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.kernel.guests.catalogue import MACHINE

ATTEMPTS = 3
MESSAGE = re.compile(r"without these waits ([0-9.]+) ms")
"""The forecast of a finding of small writes."""


@dataclass(frozen=True)
class Remedied:
    """A case, and what the remedy changes of its ends."""

    case: str
    remedy: str
    """In the catalogue's notation."""
    changes: dict[str, object]
    """Fields of `Sender`."""


CHOSEN = (
    Remedied("writes of 40 and 200 over 4 ms", "nodelay", {"nodelay": True}),
    Remedied("writes of 300 and 300 and 100 over 30 ms", "nodelay", {"nodelay": True}),
    Remedied("packets over 1400 vanish", "mss-clamp:bytes=1360", {"clamp": 1360}),
    Remedied("packets over 1400 vanish", "mtu-probing", {"mtu_probing": True}),
    Remedied("packets over 1280 vanish", "mss-clamp:bytes=1240", {"clamp": 1240}),
    Remedied("send buffer 64 kB cubic", "send-buffer", {"send_buffer": 0}),
    Remedied("send buffer 128 kB bbr", "send-buffer", {"send_buffer": 0}),
    Remedied("receive buffer 32 kB", "receive-buffer", {"receive_buffer": 0}),
    Remedied("receive buffer 64 kB", "receive-buffer", {"receive_buffer": 0}),
)


def main() -> None:
    """Records what is missing, and compares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    by_name = {case.name: case for case in cases()}
    rows = []
    for one in CHOSEN:
        if all(word in one.case for word in options.only):
            rows.append(_row(by_name[one.case], one, options.folder, options.out, options.kernel))
            print(rows[-1], flush=True)
    if options.json:
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        found["remedied"] = rows
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def _row(case: Case, one: Remedied, corpus: Path, out: Path, kernel: str) -> dict[str, object]:
    before = Truth(case, folder_of(corpus, case))
    found = diagnosed(read_capture(before.sender_side, None, None), None)
    row: dict[str, object] = {"case": case.name, "remedy": one.remedy}
    named = [remedy.partition(":")[0] for each in found.findings for remedy in each.remedies]
    if one.remedy.partition(":")[0] not in named:
        return row | {"not_named": found.headline}
    sender = replace(case.sender, **one.changes)  # type: ignore[arg-type]
    after = _recorded(replace(case, name=f"{case.name} {one.remedy}", sender=sender), out, kernel)
    if after is None:
        return row | {"not_run": True}
    measure = _message_s if case.sender.writes else _goodput_bps
    return row | {
        "measure": "message" if case.sender.writes else "goodput",
        "before": measure(before, case.sender),
        "forecast": _forecast(found),
        "after": measure(after, sender),
    }


def _recorded(case: Case, out: Path, kernel: str) -> Truth | None:
    if not is_in_time(folder_of(out, case)) and record_case(out, case, ATTEMPTS, kernel):
        return None
    return Truth(case, folder_of(out, case))


def _forecast(found: Diagnosis) -> float | None:
    """Seconds of a message, or the most goodput that the link allows; None without either."""
    said = MESSAGE.search(" ".join(found.sentences))
    if said:
        return float(said[1]) / 1e3
    return None if found.ceiling is None else found.ceiling.most_bps


def _delivered(truth: Truth, sender: Sender) -> tuple[int, float]:
    """Payload that arrived, and the seconds from the first packet of the data to the last."""
    capture = read_capture(truth.sender_side, None, None)
    acked = capture.segments.filter(~capture.segments["acked_ns"].is_null())
    if acked.is_empty():
        return 0, 0.0
    seconds = (capture.segments["acked_ns"].max() - capture.segments["time_ns"].min()) / 1e9  # type: ignore[operator]
    return int(acked["end"].max()), float(seconds)  # type: ignore[arg-type]


def _message_s(truth: Truth, sender: Sender) -> float:
    payload, seconds = _delivered(truth, sender)
    return seconds * sum(sender.writes) / payload


def _goodput_bps(truth: Truth, sender: Sender) -> float:
    payload, seconds = _delivered(truth, sender)
    return 8.0 * payload / seconds if seconds else 0.0


if __name__ == "__main__":
    sys.exit(main())
