#!/usr/bin/env python3
"""Judges first sentences on captures of another TCP over other links: ns-3's.

    tests/captures/other_stack.py FOLDER --json docs/measurements/diagnose.json

Kinds of which the corpus has one capture a half have another here, from `benches/ns3/faults.cc`,
with its own stack, queues and 802.11; those kept aside are of downloads, with the sender as the end
that accepts. A capture takes some seconds, and is not made again where FOLDER has it. Needs ns-3
(Debian: libns3-dev) and a compiler.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benches"))

import peers
from answers import KINDS, judged

from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture

PROGRAM = peers.ROOT / "benches" / "ns3" / "faults.cc"


@dataclass(frozen=True)
class Case:
    """A capture of ns-3."""

    kind: str
    """A kind of `answers.KINDS`."""
    half: str
    """`development`, or `kept` aside: looked at only once the diagnosis was done."""
    fault: str
    download: bool = False
    options: dict[str, object] = field(default_factory=dict)
    """Of the program."""

    @property
    def name(self) -> str:
        """The capture's name."""
        return f"{self.fault}-{self.half}"


OCEAN = {"rate": 20, "delay": 50, "queue": 300}
WLAN = {"delay": 5, "seconds": 24}


def _pair(
    kind: str, fault: str, developed: dict[str, object], kept: dict[str, object], other: str = ""
) -> tuple[Case, Case]:
    """An upload with CUBIC, and a download with another congestion control."""
    control = {"control": f"ns3::Tcp{other}"} if other else {}
    return (
        Case(kind, "development", fault, options=developed),
        Case(kind, "kept", fault, download=True, options=kept | control),
    )


CASES = (
    *_pair(
        "send buffer",
        "send-buffer",
        OCEAN | {"bytes": 65_536},
        {"rate": 12, "delay": 80, "queue": 300, "bytes": 98_304},
        "HighSpeed",
    ),
    *_pair(
        "small writes",
        "small-writes",
        {"writes": "40,200", "delay": 4},
        {"writes": "100,60,900", "delay": 12, "delack": 100},
    ),
    *_pair(
        "MTU hole",
        "mtu-hole",
        {"bytes": 1400, "delay": 20},
        {"bytes": 1452, "delay": 8},
        "NewReno",
    ),
    *_pair(
        "receive window",
        "receive-window",
        OCEAN | {"bytes": 32_768},
        OCEAN | {"bytes": 49_152},
        "Veno",
    ),
    *_pair(
        "scans",
        "scans",
        WLAN | {"every": 6, "length": 1.2},
        {"delay": 15, "seconds": 24, "every": 4, "length": 0.7},
        "NewReno",
    ),
    Case("contention", "development", "busy-channel", options={"every": 0.2, "length": 0.05}),
    Case(
        "contention",
        "kept",
        "hidden-neighbours",
        options={"every": 0.3, "length": 0.04, "neighbours": 3},
    ),
    *_pair("peer gone", "peer-gone", {"after": 5}, {"after": 3.5, "rate": 20}, "Bic"),
)


def main() -> None:
    """Makes the captures that are missing, and judges all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = peers.ns3_program(PROGRAM.stem)
    halves: dict[str, Any] = {"development": [], "kept": []}
    for case in CASES:
        if all(word in case.name for word in options.only):
            halves[case.half].append(_judged(case, _captured(case, program, options.folder)))
            print(json.dumps(halves[case.half][-1]), flush=True)
    if options.json:
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        found["other_stack"] = halves | {"program": digest()}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


def digest() -> str:
    """Of the program that made the captures."""
    return hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:16]


def _captured(case: Case, program: Path, folder: Path) -> Path:
    """The capture at the sender."""
    path = folder / f"{case.name}-n0-i1.pcap"
    if not path.exists():
        words = [f"--{key}={value}" for key, value in case.options.items()]
        words += ["--download"] if case.download else []
        out = f"--out={folder / case.name}"
        subprocess.run([program, f"--fault={case.fault}", out, *words], check=True)
    return path


def _judged(case: Case, capture: Path) -> dict[str, Any]:
    sentence = diagnosed(read_capture(capture, None, None), None).headline
    judgement = judged(sentence, KINDS[case.kind])
    due = {"right": int(judgement.was_due), "of": 1} if judgement.is_refusal else {}
    return {
        "case": case.name,
        "kind": case.kind,
        "names_it": {"right": int(judgement.names_it), "of": 1},
        "not_wrong": {"right": int(not judgement.is_wrong), "of": 1},
        "due": due or {"right": 0, "of": 0},
        "notes": [f"{judgement.said}: {sentence}"] if judgement.said else [],
        "sentence": sentence,
    }


if __name__ == "__main__":
    main()
