"""papers/c2tcp/README.md shows the runs that recordings.json holds."""

import json
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "papers" / "c2tcp"
WRITER = runpy.run_path(str(PAPER / "write_recordings.py"))
DATA: dict[str, Any] = json.loads((PAPER / "recordings.json").read_text("utf-8"))


def test_the_page_is_of_the_data() -> None:
    page = (PAPER / "README.md").read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, (
        "python papers/c2tcp/write_recordings.py writes it"
    )


def test_every_recording_has_every_sender() -> None:
    rows = {(row["recording"], row["way"], row["uplink"], row["sender"]) for row in DATA["rows"]}
    senders = [sender.name for sender in WRITER["SENDERS"]]
    assert rows == {
        (name, *reading, sender)
        for name in WRITER["RECORDINGS"]
        for reading in WRITER["READINGS"]
        for sender in senders
    }
    assert all(len(of.split()) == len(senders) for _, of in WRITER["RECORDINGS"].values())
