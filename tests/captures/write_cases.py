"""Writes the page of cases: symptoms in people's words, with what `airtcp diagnose` says of them.

    python tests/captures/write_cases.py           # recordings, sentences, pictures, the page
    python tests/captures/write_cases.py --page    # the page from docs/guides/cases.json alone
    python tests/captures/write_cases.py --only NAME

The recordings are those of symptoms.py. Remedies over a fitted link are tried as the
command tries them, which takes some minutes of processor time.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symptoms import GROUPS, Symptom, symptoms

from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.ping_findings import find, said
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.sockets import parsed
from airtcp.diagnosis.trying import Effort
from airtcp.pages.diagnosis import pictures_of_capture, pictures_of_ping
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guides" / "cases.md"
FOUND = ROOT / "docs" / "guides" / "cases.json"
IMAGES = ROOT / "docs" / "images" / "cases"
DPI = 80
EFFORT = Effort(max_cpu_s=20.0)


def main() -> None:
    """Makes what is asked for, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--page", action="store_true", help="from what was found before")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    options = parser.parse_args()
    found: dict[str, Any] = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    if not options.page:
        IMAGES.mkdir(parents=True, exist_ok=True)
        for one in symptoms():
            if not options.only or one.name in options.only:
                found[one.name] = answer(one, draws=True)
                print(f"{one.name}: {found[one.name]['sentence']}", flush=True)
        found = {one.name: found[one.name] for one in symptoms() if one.name in found}
        FOUND.write_text(json.dumps(found, indent=1) + "\n")
    PAGE.write_text(put(PAGE.read_text(), "cases", written(symptoms(), found)))
    if not options.page:
        stamp(ROOT, "cases")


def answer(symptom: Symptom, *, draws: bool = False) -> dict[str, Any]:
    """The first sentence on a symptom, what helps, and its picture where it is drawn."""
    with TemporaryDirectory(prefix="airtcp-") as name:
        path = symptom.write(Path(name))
        if symptom.is_ping:
            log = read_ping(path)
            events = find_events(log)
            first = find(log, events)[0]
            if draws:
                _draw(symptom, pictures_of_ping(log, events))
            return {
                "sentence": said(log, find(log, events))[0],
                "helps": [first.advice] if first.advice else [],
            }
        if symptom.sockets:
            return {"sentence": parsed(symptom.sockets, "ss.txt").headline, "helps": []}
        capture = read_capture(path, None, None)
        seen = diagnosed(capture, None)
        ranked = seen
        if draws and symptom.is_ranked and not seen.refusals:
            ranked = diagnosed(capture, "all", effort=EFFORT)
        if draws and symptom.is_drawn:
            _draw(symptom, pictures_of_capture(ranked))
        return {
            "seen": seen.headline,
            "sentence": ranked.headline,
            "helps": [*ranked.advice, *_deployment(ranked)],
        }


def _deployment(found: Diagnosis) -> list[str]:
    return [line for line in found.deployment if line.startswith("Deploying ")]


def _draw(symptom: Symptom, pictures: Sequence[Any]) -> None:
    """The first picture of the report."""
    if pictures:
        figure = pictures[0].figure()
        figure.savefig(
            IMAGES / f"{symptom.name}.png", format="png", dpi=DPI, metadata={"Software": None}
        )


def written(every: Sequence[Symptom], found: Mapping[str, Any]) -> str:
    """The cases, by where the fault is."""
    lines: list[str] = []
    for group, names in GROUPS.items():
        lines += [f"## {group}", ""]
        for one in (each for each in every if each.name in names and each.name in found):
            lines += _case(one, found[one.name])
    return "\n".join(lines).rstrip()


def _case(symptom: Symptom, answer: Mapping[str, Any]) -> list[str]:
    recording = symptom.recording[0].upper() + symptom.recording[1:]
    lines = [
        f"### {symptom.words}",
        "",
        f"{recording}: `{symptom.command}`",
        "",
        f"> {answer['sentence']}",
        "",
    ]
    if (IMAGES / f"{symptom.name}.png").exists():
        lines += [f"![{symptom.words}](../images/cases/{symptom.name}.png)", ""]
    for line in answer["helps"]:
        lines.append(f"- {line}")
    return [*lines, ""] if answer["helps"] else lines


if __name__ == "__main__":
    main()
