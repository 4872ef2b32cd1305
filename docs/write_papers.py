"""Writes what a full run of the papers gave into docs/papers.md and papers/*/README.md.

    make papers-docs        # runs `airtcp papers --png --seed-sets 3`, then this

The data behind the texts are kept beside them in docs/papers.json, so that a test can tell whether
a table is that of the run.
"""

import argparse
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airtcp.report.marked import put
from airtcp.report.provenance import stamp

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "papers.json"
IMAGES = ROOT / "docs" / "images"
PICTURES = {"verdicts.png": "papers.png", "cross.png": "cross.png"}
"""What a run calls its pictures, and what the documentation does."""


def verdict_table(run: Mapping[str, Any]) -> str:
    """Papers down, verdicts across, the claims by their ids."""
    verdicts = list(run["counts"])
    lines = ["| paper | " + " | ".join(verdicts) + " |", "|---|" + "---|" * len(verdicts)]
    for paper in run["papers"]:
        cells = [
            " ".join(claim["id"] for claim in paper["claims"] if claim["verdict"] == verdict) or "-"
            for verdict in verdicts
        ]
        title = f"{paper['number']} {paper['short']}"
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    counts = [str(count) for count in run["counts"].values()]
    claims = sum(len(paper["claims"]) for paper in run["papers"])
    return "\n".join([*lines, f"| all {claims} | " + " | ".join(counts) + " |"])


def readings_table(run: Mapping[str, Any]) -> str:
    """Of each paper the joint reading that serves it best, and the claims that none gives."""
    lines = [
        "| paper | readings run | serves it best | claims its way, default → best "
        "| none of those run gives |",
        "|---|---:|---|---|---|",
    ]
    for paper in run["papers"]:
        readings = paper["readings"]
        best = readings["serves_best"]
        run_of = f"{readings['run']} of {readings['admissible']}"
        count = f"{best['under_default']} → {best['papers_way']} of {len(paper['claims'])}"
        reading = ", ".join(best["reading"]) or "the default"
        never = " ".join(readings["never"]) or "-"
        lines.append(f"| {paper['number']} | {run_of} | {reading} | {count} | {never} |")
    return "\n".join(lines)


def choices_table(run: Mapping[str, Any]) -> str:
    """Of each paper how near the default is, and the reading that is nearest."""
    lines = [
        "| paper | readings: scanned, run | without a vote | error of the default, held out "
        "| nearest | its error, held out |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for paper in run["papers"]:
        found = paper["readings"].get("chosen_by")
        if found is None:
            continue
        default = next(row for row in found["field"] if not row["reading"])
        near = next((row for row in found["field"][1:]), default)
        if near["error"] >= default["error"] and len(near["breaks"]) >= len(default["breaks"]):
            near = default
        words = ", ".join(near["reading"]) or "the default"
        if found["default_is_among_nearest"] and near is not default:
            words += " (alike)"
        lines.append(
            f"| {paper['number']} | {found['scanned']}, {found['run']} | {found['without_vote']} "
            f"| {default['error']:.2f}, {default['held_out']:.2f} | {words} "
            f"| {near['error']:.2f}, {near['held_out']:.2f} |"
        )
    return "\n".join(lines)


def facts_table(run: Mapping[str, Any]) -> str:
    """The facts of the texts, and which readings break them."""
    lines = [
        "| paper | the text says | the default | readings that break it |",
        "|---|---|---|---:|",
    ]
    lines += [
        f"| {paper['number']} | {fact['what']} "
        f"| {'keeps it' if fact['default_keeps'] else 'breaks it'} "
        f"| {fact['broken_by']} of {fact['of']} |"
        for paper in run["papers"]
        for fact in paper["readings"].get("facts", [])
    ]
    return "\n".join(lines)


def decisions_table(run: Mapping[str, Any]) -> str:
    """The claims that depend on the reading.

    What the default says, how many readings say what, which one said otherwise again with fresh
    seeds, and which point decides.
    """
    lines = ["| claim | default | readings | with fresh seeds | decides |", "|---|---|---|---|---|"]
    for paper in run["papers"]:
        for claim in paper["claims"]:
            if claim["verdict"] != "depends on the reading":
                continue
            told = ", ".join(
                f"{count} {verdict}" for verdict, count in claim["readings"]["by_verdict"].items()
            )
            rows = claim["readings"]["decision"]
            decision = "; ".join(
                f"{row['value']}: {row['papers_way']} of "
                f"{row['papers_way'] + row['not_shown'] + row['contradicted']}"
                for row in rows
            )
            point = claim["readings"]["decided_by"]
            decides = f"{point} ({decision} the paper's way)" if point else "no point alone"
            other = claim["readings"]["disagrees"]
            again = f"{', '.join(other['reading'])}: {other['verdict']}"
            default = claim["under_default"]
            lines.append(f"| {claim['id']} | {default} | {told} | {again} | {decides} |")
    return "\n".join(lines)


def seeds_table(run: Mapping[str, Any]) -> str:
    """The claims of which other sets of seeds say something else, and what each set says."""
    claims = [claim for paper in run["papers"] for claim in paper["claims"]]
    sets = 1 + max(len(claim.get("verdicts_of_other_seeds", [])) for claim in claims)
    if sets == 1:
        return "Other sets of seeds were not judged."
    unsteady = [claim for claim in claims if claim["id"] in run["unsteady"]]
    head = f"{sets} disjoint sets of seeds give the same verdict for {len(claims) - len(unsteady)} "
    lines = [f"{head}of {len(claims)} claims."]
    if unsteady:
        names = [f"set {number}" for number in range(1, sets + 1)]
        lines += ["", "| claim | " + " | ".join(names) + " |", "|---" * (sets + 1) + "|"]
        lines += [
            f"| {claim['id']} | "
            + " | ".join([claim["verdict"], *claim["verdicts_of_other_seeds"]])
            + " |"
            for claim in unsteady
        ]
    return "\n".join(lines)


def today_list(run: Mapping[str, Any]) -> str:
    """What a practitioner takes from each paper."""
    return "\n".join(
        f"- **{paper['number']}, {paper['short']}.** {' '.join(paper['today'].split())}"
        for paper in run["papers"]
    )


def sensitivity_tables(paper: Mapping[str, Any]) -> str:
    """What other settings change, as the report shows it."""
    blocks = []
    for table in paper["sensitivities"]:
        head = "| " + " | ".join(table["columns"]) + " |"
        rule = "|---|" + "---:|" * (len(table["columns"]) - 1)
        rows = ["| " + " | ".join(row) + " |" for row in table["rows"]]
        blocks.append("\n".join([f"{table['title']}:\n", head, rule, *rows]))
    return "\n\n".join(blocks)


def written(run: Mapping[str, Any]) -> dict[Path, str]:
    """Every page that has something of the run, as it must be."""
    page = ROOT / "docs" / "papers.md"
    pages = {page: page.read_text("utf-8")}
    for mark, table in (
        ("verdicts", verdict_table(run)),
        ("serves-best", readings_table(run)),
        ("decisions", decisions_table(run)),
        ("choices", choices_table(run)),
        ("facts", facts_table(run)),
        ("seeds", seeds_table(run)),
        ("today", today_list(run)),
    ):
        pages[page] = put(pages[page], mark, table)
    for paper in run["papers"]:
        path = ROOT / "papers" / paper["name"] / "README.md"
        if paper["sensitivities"]:
            text = path.read_text("utf-8")
            pages[path] = put(text, "sensitivities", sensitivity_tables(paper))
    return pages


def picture_digests() -> dict[str, str]:
    """SHA-256 of each picture of the documentation, which ties it to the data of its run."""
    return {
        name: hashlib.sha256((IMAGES / name).read_bytes()).hexdigest() for name in PICTURES.values()
    }


def main() -> None:
    """Copies the run's data and pictures, and writes the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder that airtcp papers --png wrote")
    folder = parser.parse_args().run
    run = json.loads((folder / "papers.json").read_text("utf-8"))
    if run["quick"]:
        raise SystemExit(f"{folder}: a quick run; the documentation shows a full one")
    for picture, name in PICTURES.items():
        shutil.copy(folder / picture, IMAGES / name)
    run["pictures"] = picture_digests()
    DATA.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, text in written(run).items():
        path.write_text(text, encoding="utf-8")
    marks = ["verdicts", "decisions", "serves-best", "today", "rules", "seeds", "injection"]
    stamp(ROOT, *marks)


if __name__ == "__main__":
    main()
