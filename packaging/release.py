"""Makes all parts of a release, and tries each in a clean root without network.

    python packaging/release.py [--only NAME] [--out dist/release]

A part that was made of the same sources is not made again, and a trial that passed with the same
files and commands is not repeated (`release.json` in the folder). A part is refused if one that it
needs was made of other sources. SHA256SUMS lists the files. The status is 1 if a part could not be
made, is not whole, or failed in its trial; what cannot be tried here is listed with the reason.
Needs root, debootstrap, clang and the programs of requirements/wheel.txt; for other processors
qemu-user-static and binfmt-support. rustup adds Rust's standard libraries for the targets. Cores of
wheels are guided by a profile where rustup's llvm-tools are installed; parts without are listed.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from artefact import Artefact, Workshop
from artefacts import ARTEFACTS
from debian import version
from sources import digest_of, git
from targets import TARGETS
from trials import FailedError, walk

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("bpf", "crates", "packaging", "papers", "python", "recordings", "scenarios", "studies")
SOURCES += ("Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md")
SOURCES += ("pyproject.toml",)
"""Files that enter the parts."""
SUMS = "SHA256SUMS"
STATE = "release.json"


def commit() -> str:
    """The checkout's commit; with "-dirty" if files differ from it."""
    return git(ROOT, "describe", "--always", "--abbrev=12", "--dirty", "--exclude", "*")


def sources() -> str:
    """The digest of the files that enter the parts."""
    return digest_of(ROOT, SOURCES)


def digest(file: Path) -> str:
    """SHA-256 of a file's content."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def described(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of each file."""
    return [{"name": one.name, "bytes": one.stat().st_size, "sha256": digest(one)} for one in files]


def sums(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The lines that `sha256sum --check` reads, by name."""
    files = (one for part in parts.values() for one in part.get("files", []))
    lines = sorted((one["name"], one["sha256"]) for one in files)
    return "".join(f"{sha256}  {name}\n" for name, sha256 in lines)


def is_current(part: Artefact, place: Workshop, made: Mapping[str, Any], now: str) -> bool:
    """Whether a part was made of the sources with the digest `now` as it would be made now.

    Args:
        part: the part.
        place: the folders.
        made: its description; empty if it was not made.
        now: as of `sources()`.
    """
    files = [place.dist / name for name in part.files()]
    is_made = made.get("sources") == now and made.get("shortfall") == part.shortfall()
    return is_made and all(file.exists() for file in files) and described(files) == made["files"]


def make(part: Artefact, place: Workshop, state: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Makes a part unless it was made of the same sources.

    Args:
        part: what to make.
        place: the folders.
        state: descriptions of parts by name, of this call or an earlier one.

    Raises:
        FailedError: it was not made, or is not whole, or one that it needs is of other sources.
    """
    try:
        return _made(part, place, state)
    except (subprocess.CalledProcessError, OSError, ValueError) as error:
        raise FailedError(f"cannot be made: {error}") from error


def _made(
    part: Artefact, place: Workshop, state: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    now, before = sources(), state.get(part.name, {})
    old = [
        one.name for one in part.needs if not is_current(one, place, state.get(one.name, {}), now)
    ]
    if old:
        raise FailedError(f"needs {', '.join(old)}, not made of these sources: make it first")
    if is_current(part, place, before, now):
        return dict(before)
    if shortfall := part.shortfall():
        print(f"{part.name}: {shortfall}", flush=True)
    begun = time.monotonic()
    part.make(place)
    seconds = time.monotonic() - begun
    if problems := part.problems(place):
        raise FailedError("; ".join(problems))
    return {
        "sources": now,
        "commit": commit(),
        "seconds": round(seconds, 1),
        "files": described([place.dist / name for name in part.files()]),
        **({"shortfall": shortfall} if shortfall else {}),
    }


def attempt(part: Artefact, place: Workshop) -> dict[str, Any]:
    """Tries a part in its clean root: its state, and the seconds of each command."""
    found: dict[str, Any] = {"root": part.root.name, "untried": dict(part.untried)}
    if reason := part.obstacle():
        return found | {"state": "skipped", "reason": reason}
    try:
        with part.enter(place) as inside:
            for key, commands in (("installing", part.installing()), ("using", part.using())):
                found[key] = [
                    [step.command, round(step.seconds, 1)]
                    for step in walk(commands, inside.run, lambda step: print(step, flush=True))
                ]
    except (FailedError, subprocess.CalledProcessError, OSError, ValueError) as error:
        return found | {"state": "failed", "reason": str(error)}
    return found | {"state": "passed"}


def tried_before(part: Artefact, before: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """Whether a trial passed with the same files, root and commands."""
    trial = before.get("trial", {})
    walked = [command for key in ("installing", "using") for command, _ in trial.get(key, [])]
    return (
        trial.get("state") == "passed"
        and trial["root"] == part.root.name
        and before["files"] == made["files"]
        and walked == [*part.installing(), *part.using()]
    )


def released(
    part: Artefact, place: Workshop, state: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Makes and tries one part; its description."""
    before = state.get(part.name, {})
    try:
        made = make(part, place, state)
    except FailedError as error:
        return {"error": str(error)}
    if not tried_before(part, before, made):
        made["trial"] = attempt(part, place)
    else:
        made["trial"] = before["trial"] | {"untried": dict(part.untried)}
    return made


def faults(parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each part that could not be made or failed in its trial."""
    found = [f"{name}: {one['error']}" for name, one in parts.items() if "error" in one]
    for name, one in parts.items():
        if one.get("trial", {}).get("state") == "failed":
            found.append(f"{name} in {one['trial']['root']}: {one['trial']['reason']}")
    return found


def skipped(parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each thing that was not tried."""
    found = []
    for name, one in parts.items():
        if "left_out" in one:
            found.append(f"{name}: left out {one['left_out']}")
        trial = one.get("trial", {})
        if trial.get("state") == "skipped":
            found.append(f"{name}: {trial['reason']}")
        found += [f"{name}, {what}: {why}" for what, why in trial.get("untried", {}).items()]
    return found


def shortfalls(parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each part that lacks something."""
    return [f"{name}: {one['shortfall']}" for name, one in parts.items() if "shortfall" in one]


def add_standard_libraries() -> None:
    """Has rustup add Rust's standard library for each target; without rustup, they are expected."""
    if shutil.which("rustup"):
        subprocess.run(
            ["rustup", "--quiet", "target", "add", *(one.triple for one in TARGETS)], check=True
        )


def release(
    parts: Sequence[Artefact], place: Workshop, state: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Makes and tries parts, and writes their state and checksums after each.

    Args:
        parts: in an order in which each comes after those it needs.
        place: the folders.
        state: descriptions of an earlier call, which are brought up to date.
    """
    for part in parts:
        print(f"{part.name} …", flush=True)
        state[part.name] = released(part, place, state)
        about = {
            "version": version(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "parts": state,
        }
        (place.dist / STATE).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        (place.dist / SUMS).write_text(sums(state), encoding="utf-8")
    return state


def main() -> None:
    """Makes a release; status 1 if a part of it failed."""
    names = [one.name for one in ARTEFACTS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="a part")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "release", help="a folder")
    options = parser.parse_args()
    dist = options.out.resolve()
    dist.mkdir(parents=True, exist_ok=True)
    kept = ROOT / "out" / "release"
    place = Workshop(dist, kept / "roots", kept / "wheels")
    file = dist / STATE
    state = json.loads(file.read_text("utf-8"))["parts"] if file.exists() else {}
    wanted = [one for one in ARTEFACTS if not options.only or one.name in options.only]
    left_out = {"left_out": "by --only"}
    add_standard_libraries()
    state = release(wanted, place, {name: state.get(name, left_out) for name in names})
    sys.stdout.writelines(f"not tried: {line}\n" for line in skipped(state))
    sys.stdout.writelines(f"SHORT OF THE BEST: {line}\n" for line in shortfalls(state))
    found = faults(state)
    sys.stdout.writelines(f"FAILED: {line}\n" for line in found)
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
