"""Verifies the best remedy of a comparison on this machine's kernel, in about ten seconds.

    python benches/verify_best.py out/demo/upload scenarios/wlan-upload.toml --set KEY=VALUE …

`make demo` ends with it. Where the machine has no network namespaces, or the remedy no way on this
kernel, it is skipped, and says so by name.
"""

import argparse
import csv
import subprocess
from pathlib import Path

from airtcp._core import AirtcpError
from airtcp.net import find_program
from airtcp.scenarios import parse_setting
from airtcp.verification import verify

#: All seeds at once, the baseline and then the remedy.
RUN = {"duration": "5 s"}
SEEDS = 4


def best_remedy(table: Path) -> str:
    """The remedy with the highest mean goodput, among those shown to raise it if any is."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["remedy"] != "baseline"]
    shown = [row for row in rows if row["outcome"] == "higher"]
    return max(shown or rows, key=lambda row: float(row["goodput_bps"]))["remedy"]


def refusal(scenario: Path) -> str | None:
    """Why no link can be emulated here; None if one can."""
    try:
        program = find_program()
    except AirtcpError as error:
        return str(error)
    command = [program, "emulate", "--quiet", "--server", "true", str(scenario), "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def main() -> None:
    """Verifies, or says what is skipped and why."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("comparison", type=Path, help="the folder that airtcp compare wrote")
    parser.add_argument("scenario", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    remedy = best_remedy(arguments.comparison / "comparison.csv")
    reason = refusal(arguments.scenario)
    if reason is None:
        settings = dict(parse_setting(text) for text in arguments.set)
        try:
            found = verify(arguments.scenario, [remedy], SEEDS, settings | RUN, jobs=SEEDS)
        except AirtcpError as error:
            # The remedy has no way here, or the machine is too busy to keep the link's time.
            reason = str(error)
        else:
            print("\n".join(found.verdict))
            return
    print(f"skipped: the verification of {remedy} on this machine's kernel: {reason}")


if __name__ == "__main__":
    main()
