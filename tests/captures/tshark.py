"""tshark's labels of the same capture."""

import shutil
import subprocess
from pathlib import Path

FIELDS = (
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
)


def labels(capture: Path) -> dict[int, set[str]] | None:
    """Packet numbers and the last words of their analysis; None where tshark is not installed."""
    if shutil.which("tshark") is None:
        return None
    command = ["tshark", "-n", "-r", str(capture), "-Y", " || ".join(FIELDS)]
    command += ["-T", "fields", "-E", "separator=,", "-e", "frame.number"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found = {}
    for line in done.stdout.splitlines():
        number, *values = line.split(",")
        found[int(number)] = {
            field.rpartition(".")[2] for field, value in zip(FIELDS, values, strict=True) if value
        }
    return found
