"""Writes the results of a full run of the papers into papers.md and papers/*/README.md.

    make papers-docs  # runs `airtcp papers --png --seed-sets 3`, then this
    python pages/write_papers.py out/some  # only some papers: the others stay

The data of the texts are kept in papers.json, so that a test can check whether a table is that of
the run.
"""

import argparse
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.plot.svg import png_of
from airtcp.pages.plot.verdicts import VerdictTiles
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "measurements" / "papers.json"
IMAGES = ROOT / "docs" / "images"
PICTURES = {"verdicts.png": "papers.png", "cross.png": "cross.png"}
"""Names of pictures in a run, and in the documentation; figures of papers are named after their
paper."""
FUTURE = "§V"
"""The section in which both papers that ask for more ask for it; titles of their tables name it."""
FEW = 4
"""So many comparisons of a claim are shown one by one."""


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
    """The reading that serves each paper best, and the claims that no reading confirms."""
    lines = [
        "| paper | readings run | serves it best | claims its way, default → best "
        "| given by none |",
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


def facts_table(run: Mapping[str, Any]) -> str:
    """The facts of the texts, and which readings break them."""
    lines = [
        "| paper | statement | default | readings that contradict it |",
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

    The verdict of the default, the number of readings with each verdict, and the readings that turn
    it, with their verdicts on fresh seeds.
    """
    lines = ["| claim | default | readings | turned by |", "|---|---|---|---|"]
    for paper in run["papers"]:
        for claim in paper["claims"]:
            turning = claim["readings"]["turned_by"]
            if not turning:
                continue
            told = ", ".join(
                f"{count} {verdict}" for verdict, count in claim["readings"]["by_verdict"].items()
            )
            turned = "; ".join(f"{', '.join(one['reading'])}: {one['verdict']}" for one in turning)
            lines.append(f"| {claim['id']} | {claim['under_default']} | {told} | {turned} |")
    return "\n".join(lines)


def seeds_table(run: Mapping[str, Any]) -> str:
    """The claims that change their verdict with other sets of seeds, and each set's verdict."""
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


def paper_sections(run: Mapping[str, Any]) -> str:
    """Each paper: its lesson for a practitioner, its figure, and its claims compared with ours."""
    return "\n\n".join(_section(paper) for paper in run["papers"])


def _section(paper: Mapping[str, Any]) -> str:
    first, _, rest = " ".join(paper["today"].split()).partition(". ")
    head = [
        f"### {paper['number']}, {paper['short']}",
        "",
        f"**{first.rstrip('.')}.** {rest}".rstrip(),
    ]
    if figure := paper.get("figure"):
        name = f"{figure['name']}.png"
        head += ["", f"![{figure['title']}](../images/{picture_name(name)})", ""]
        head += [f"*{figure['title']}.* {' '.join(figure['caption'].split())}".rstrip()]
    lines = ["", "| claim | the paper | ours, under the default | verdict |", "|---|---|---|---|"]
    for claim in paper["claims"]:
        what = f"{claim['id']} {claim['what']}"
        lines.append(f"| {what} | {claim['paper']} | {_ours(claim)} | {claim['verdict']} |")
    return "\n".join([*head, *lines])


def asked_tables(run: Mapping[str, Any]) -> str:
    """The authors' future work (§V of papers 2 and 4), run: tables marked as such."""
    blocks = []
    for paper in run["papers"]:
        for table in paper["sensitivities"]:
            whole = FUTURE in table["title"]
            kept = [
                index
                for index, column in enumerate(table["columns"])
                if whole or not index or FUTURE in column
            ]
            if len(kept) > 1:
                rows = [[row[index] for index in kept] for row in table["rows"]]
                rows = [row for row in rows if row[0] != "the paper"]
                columns = [table["columns"][index] for index in kept]
                title = f"Paper {paper['number']}. {table['title']}"
                blocks.append(_table(title, columns, rows))
    if not blocks:
        return "The runs above have no such tables; `airtcp papers 2 4` has them."
    return "\n\n".join(blocks)


def calibration_table(run: Mapping[str, Any]) -> str:
    """Calibrations on facts of several kinds: whether one place gives them all.

    Ours over the paper's, of each kind, at the place chosen and where another kind fits best.
    """
    rows = []
    for paper in run["papers"]:
        for found in paper.get("calibrations", []):
            measures = list(found["places"][0]["ours_over_the_papers"])
            if len(measures) < 2 or any(not _ratios(found, one) for one in measures):
                continue
            what = found["what"].rpartition(": ")[2]
            places = [("chosen", _at(found, found["chosen"]))]
            for measure in measures:
                best = min(_ratios(found, measure), key=lambda at: abs(log(_of(at, measure))))
                places.append((f"nearest in {measure.partition('_')[0]}", best))
            for why, at in places:
                told = [f"{_of(at, measure):.2f}" for measure in measures]
                words = f"{paper['number']}: {what}, {why}"
                rows.append([words, f"{at['place']}", *told])
    if not rows:
        return "The runs above have no such table; `airtcp papers 4` has it."
    columns = ["paper, reading", "place", "goodput, ours over the paper's", "retransmitted"]
    return _table("", columns, rows)


def _ratios(found: Mapping[str, Any], measure: str) -> list[Mapping[str, Any]]:
    return [at for at in found["places"] if _of(at, measure) > 0]


def _at(found: Mapping[str, Any], place: object) -> Mapping[str, Any]:
    return next(at for at in found["places"] if at["place"] == place)


def _of(at: Mapping[str, Any], measure: str) -> float:
    return float(at["ours_over_the_papers"][measure])


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = [f"{title}:\n"] if title else []
    lines = ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) - 1)]
    return "\n".join([*head, *lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _ours(claim: Mapping[str, Any]) -> str:
    """The measurement for a claim; for many comparisons, the number of each verdict."""
    parts = [part for part in claim["parts"] if part.get("counts", True)]
    if len(parts) <= FEW:
        return "; ".join(f"{part['label']}: {part['ours']}".removeprefix(": ") for part in parts)
    counts = Counter(part["verdict"] for part in parts)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(parts)} comparisons: {told}"


def picture_name(name: str) -> str:
    """The documentation's name for a picture of a run."""
    return PICTURES.get(name, f"papers-{name}")


def pictures(run: Mapping[str, Any]) -> list[str]:
    """The pictures of a run that the documentation shows, as the run calls them."""
    figures = [paper["figure"] for paper in run["papers"] if paper.get("figure")]
    return [*PICTURES, *(f"{figure['name']}.png" for figure in figures)]


def sensitivity_tables(paper: Mapping[str, Any]) -> str:
    """Effects of other settings, as the report shows them."""
    return "\n\n".join(
        _table(table["title"], table["columns"], table["rows"]) for table in paper["sensitivities"]
    )


def written(run: Mapping[str, Any]) -> dict[Path, str]:
    """Every page that has something of the run, as it must be."""
    page = ROOT / "docs" / "measurements" / "papers.md"
    pages = {page: page.read_text("utf-8")}
    for mark, table in (
        ("verdicts", verdict_table(run)),
        ("serves-best", readings_table(run)),
        ("decisions", decisions_table(run)),
        ("facts", facts_table(run)),
        ("seeds", seeds_table(run)),
        ("papers", paper_sections(run)),
        ("calibrations", calibration_table(run)),
        ("asked", asked_tables(run)),
    ):
        pages[page] = put(pages[page], mark, table)
    for paper in run["papers"]:
        path = ROOT / "papers" / paper["name"] / "README.md"
        if paper["sensitivities"]:
            text = path.read_text("utf-8")
            pages[path] = put(text, "sensitivities", sensitivity_tables(paper))
    return pages


def picture_digests(run: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of each picture of the documentation, which ties it to the data of its run."""
    names = [picture_name(picture) for picture in pictures(run)]
    return {name: hashlib.sha256((IMAGES / name).read_bytes()).hexdigest() for name in names}


def joined(before: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a run of some papers, joined with the previous data of the others."""
    new = {paper["name"]: paper for paper in run["papers"]}
    papers = [new.pop(paper["name"], paper) for paper in before["papers"]]
    papers = sorted([*papers, *new.values()], key=lambda paper: int(paper["number"]))
    verdicts = [claim["verdict"] for paper in papers for claim in paper["claims"]]
    ran = {claim["id"] for paper in run["papers"] for claim in paper["claims"]}
    unsteady = [claim for claim in before["unsteady"] if claim not in ran] + run["unsteady"]
    claims = [claim["id"] for paper in papers for claim in paper["claims"]]
    # The number of runs behind both is unknown: some may be the same.
    return {
        **{name: value for name, value in run.items() if name != "runs"},
        "counts": {verdict: verdicts.count(verdict) for verdict in run["counts"]},
        "unsteady": sorted(unsteady, key=claims.index),
        "papers": papers,
    }


def tiles(run: Mapping[str, Any]) -> VerdictTiles:
    """Every claim of the data."""
    return VerdictTiles(
        tuple(
            (
                f"{paper['number']} {paper['short']}",
                tuple((claim["id"], claim["verdict"]) for claim in paper["claims"]),
            )
            for paper in run["papers"]
        )
    )


def main() -> None:
    """Copies the run's data and pictures, and writes the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="the folder that airtcp papers --png wrote")
    folder = parser.parse_args().run
    run = json.loads((folder / "papers.json").read_text("utf-8"))
    if run["quick"]:
        raise SystemExit(f"{folder}: a quick run; the documentation shows a full one")
    before = json.loads(DATA.read_text("utf-8"))
    is_whole = {paper["name"] for paper in run["papers"]} >= {
        paper["name"] for paper in before["papers"]
    }
    for picture in pictures(run):
        if (folder / picture).exists():
            shutil.copy(folder / picture, IMAGES / picture_name(picture))
    if not is_whole:
        run = joined(before, run)
        (IMAGES / picture_name("verdicts.png")).write_bytes(png_of(tiles(run).figure()))
    run["pictures"] = picture_digests(run)
    DATA.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, text in written(run).items():
        path.write_text(text, encoding="utf-8")
    marks = [
        "verdicts",
        "papers",
        "calibrations",
        "asked",
        "decisions",
        "facts",
        "serves-best",
        "seeds",
    ]
    # In joined data, parts older than today's engine keep their mark.
    if is_whole:
        stamp(ROOT, *marks)


if __name__ == "__main__":
    main()
