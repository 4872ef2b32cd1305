"""Writes the parts of a release, and how they were tried, in docs/measurements/release.md.

python pages/write_release.py dist/release   # after packaging/release.py
python pages/write_release.py                # only the tables, from docs/measurements/release.json
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "release.md"
DATA = PAGE.with_name("release.json")
STATES = {"passed": "passed", "failed": "**failed**", "skipped": "not tried here"}


def kept(release: Mapping[str, Any]) -> dict[str, Any]:
    """A release's description without checksums, which another build of it changes."""
    parts = json.loads(json.dumps(release["parts"]))
    for part in parts.values():
        for file in part.get("files", []):
            del file["sha256"]
    return {**release, "parts": parts}


def made(release: Mapping[str, Any]) -> str:
    """Files with their sizes, and the time to make them."""
    lines = ["| Part | File | MB | Made in |", "|---|---|---:|---:|"]
    for name, part in release["parts"].items():
        if "error" in part:
            lines.append(f"| {name} | **not made**: {part['error'].splitlines()[0]} | | |")
        if "left_out" in part:
            lines.append(f"| {name} | not made: left out {part['left_out']} | | |")
        for place, file in enumerate(part.get("files", [])):
            first = (name, f"{part['seconds']:.0f} s") if place == 0 else ("", "")
            size = f"{file['bytes'] / 1e6:.1f}"
            lines.append(f"| {first[0]} | `{file['name']}` | {size} | {first[1]} |")
    missing = (
        f"- {name}: {one['shortfall']}."
        for name, one in release["parts"].items()
        if "shortfall" in one
    )
    lines += [line for note in missing for line in ("", note)]
    commits = sorted({part["commit"] for part in release["parts"].values() if "commit" in part})
    made_of = f"commit {', '.join(commits)}, " if commits else ""
    cores = f"on {release['cores']} cores of {release['processor']}"
    lines += ["", f"airtcp {release['version']}, {made_of}{cores}."]
    return "\n".join(lines)


def tried(release: Mapping[str, Any]) -> str:
    """Each part's clean root, result, and time to install and to the first answer after it."""
    lines = ["| Part | Clean root | Result | Installed in | First answer in |"]
    lines.append("|---|---|---|---:|---:|")
    for name, part in release["parts"].items():
        trial = part.get("trial")
        if trial is None:
            continue
        result = STATES[trial["state"]]
        if trial["state"] == "passed" and trial["untried"]:
            result = "passed in part"
        cells = [name, trial["root"], result]
        installing, using = (trial.get(key, []) for key in ("installing", "using"))
        cells.append(_sum(installing))
        # The comparison; a part without one answers with its first command.
        found = [step for step in using if step[0].startswith("airtcp compare")]
        cells.append(_sum(found or using[:1]))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _sum(steps: list[list[Any]]) -> str:
    return f"{sum(seconds for _, seconds in steps):.1f} s" if steps else ""


def commands(release: Mapping[str, Any]) -> str:
    """Every command of every trial with its time."""
    return "\n".join(_commands(release))


def _commands(release: Mapping[str, Any]) -> Iterator[str]:
    for name, part in release["parts"].items():
        trial = part.get("trial", {})
        steps = [*trial.get("installing", []), *trial.get("using", [])]
        if steps:
            yield f"- {name}: " + ", ".join(f"`{line}` ({took} s)" for line, took in steps)


def untried(release: Mapping[str, Any]) -> str:
    """What was not tried, or failed, with the reason."""
    reasons: dict[str, list[str]] = {}
    for name, part in release["parts"].items():
        trial = part.get("trial", {})
        if trial.get("state") in ("skipped", "failed"):
            reasons.setdefault(trial["reason"].splitlines()[0], []).append(name)
        if "left_out" in part:
            reasons.setdefault(f"left out {part['left_out']}", []).append(name)
        for thing, why in trial.get("untried", {}).items():
            reasons.setdefault(f"{thing}: {why}", []).append(name)
    return "\n".join(f"- {', '.join(names)}: {why}." for why, names in reasons.items())


TABLES = {
    "release-made": made,
    "release-tried": tried,
    "release-commands": commands,
    "release-untried": untried,
}


def page(text: str, release: Mapping[str, Any]) -> str:
    """The page with its tables."""
    for mark, table in TABLES.items():
        text = put(text, mark, table(release))
    return text


def main() -> None:
    """Keeps the data of a release, and writes the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where packaging/release.py wrote")
    folder = parser.parse_args().folder
    if folder is not None:
        release = kept(json.loads((folder / "release.json").read_text("utf-8")))
        DATA.write_text(json.dumps(release, indent=1) + "\n", encoding="utf-8")
    release = json.loads(DATA.read_text("utf-8"))
    PAGE.write_text(page(PAGE.read_text("utf-8"), release), encoding="utf-8")
    stamp(ROOT, *TABLES)


if __name__ == "__main__":
    main()
