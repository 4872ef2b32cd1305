"""Marks tables in the pages that an earlier engine made.

    python pages/write_provenance.py            # after a change of the engine
    python pages/write_provenance.py --check    # only reports errors; status 1 if there are any

Tables are listed with their sources in docs/provenance.toml.
"""

import argparse
import sys
from pathlib import Path

from airtcp.pages.provenance import admit, faults

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Checks, or writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    if parser.parse_args().check:
        found = faults(ROOT)
        sys.stdout.writelines(f"{fault}\n" for fault in found)
        raise SystemExit(1 if found else 0)
    for mark in admit(ROOT):
        sys.stdout.write(f"{mark}: made with an earlier engine\n")


if __name__ == "__main__":
    main()
