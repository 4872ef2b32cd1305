"""Runs the papers' cases on a kernel, and writes the table of docs/measurements/papers-real.md.

    make verify  # runs papers/*/kernel.toml, resumably, into out/verify; then writes

The data behind the table are kept in papers-real.json, so that a test can check whether it is that
of the run.
"""

import argparse
import json
import runpy
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "measurements" / "papers-real.json"
PAGE = ROOT / "docs" / "measurements" / "papers-real.md"
REAL = runpy.run_path(str(ROOT / "pages" / "write_real.py"))
"""The writer of the other table, which shares its words."""


def table(run: Mapping[str, Any]) -> str:
    """The cases of each paper; a row for the case as it is and one for each remedy."""
    lines = [
        "| paper | case | remedy | goodput, kernel | simulated | effect on a real kernel "
        "| simulated | |",
        "|---|---|---|---:|---:|---:|---:|---|",
    ]
    for case in run["cases"]:
        place = [f"{case['paper']} {case['short']}", case["name"]]
        if case["refusal"]:
            lines.append(_line([*place, "-", "-", "-", "-", "-", _refused("", case["refusal"])]))
            continue
        lines.append(_line([*place, "-", *_goodputs(case["baseline"]), "-", "-", ""]))
        lines += [_line([*place, *_remedy(one)]) for one in case["remedies"]]
    return "\n".join(lines)


def _remedy(one: Mapping[str, Any]) -> list[str]:
    if one["refusal"]:
        return [one["remedy"], "-", "-", "-", "-", _refused(one["remedy"], one["refusal"])]
    by = "; ".join(f"`{step}`" for step in one["steps"]) or "in the emulated link"
    effects = [_effect(one["effect"][side]) for side in ("kernel", "simulated")]
    instead = "".join(f"; {words}" for words in one["instead"])
    return [f"{one['remedy']} ({by})", *_goodputs(one), *effects, one["answer"] + instead]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _refused(remedy: str, reason: str) -> str:
    # The row names the remedy already.
    name = remedy.partition(":")[0]
    for said in (f'remedy "{name}": ', f"{name}: "):
        reason = reason.removeprefix(said)
    return f"not possible, because {reason.removesuffix('.')}"


def _goodputs(one: Mapping[str, Any]) -> list[str]:
    return [_rate(one[side]["goodput_bps"]) for side in ("kernel", "simulated")]


def _rate(values: Sequence[float]) -> str:
    from airtcp.core.quantities import format_bit_rate

    return str(format_bit_rate(fmean(values)))


def _effect(effect: Mapping[str, Any]) -> str:
    if effect["outcome"] == "identical":
        return "the same"
    if effect["percent"] is None:
        return "no baseline"
    text = f"{effect['percent']:+.1f}"
    if effect["half_width"] is None:
        return f"{text} %"
    text = f"{text} ± {effect['half_width']:.1f} %"
    return f"({text})" if effect["outcome"] == "no difference shown" else text


def sentence(run: Mapping[str, Any]) -> str:
    """How many effects agree, on which kernel, and how late the emulator was."""
    remedies = [one for case in run["cases"] for one in case["remedies"] if not one["refusal"]]
    answers = Counter(one["answer"] for one in remedies)
    return (
        f"Kernel {run['kernel']}, {run['seeds']} seeds. Of {len(remedies)} effects of remedies "
        f"{answers['they agree']} agree with the simulated ones within 5 % (the 95 % interval of "
        f"the ratio of the two gains, paired by seed), {answers['they differ']} differ, and for "
        f"{answers['not enough runs']} these runs are not enough to say. "
        f"{REAL['lateness'](run['late'])}"
    )


def written(text: str, run: Mapping[str, Any]) -> str:
    """The page, as it must be after the run."""
    text = put(text, "papers-kernel-share", sentence(run))
    return put(text, "papers-kernel", table(run))


def main() -> None:
    """Runs unfinished cases, keeps the data, and writes the page."""
    from airtcp._core import AirtcpError
    from airtcp.kernel.guests.catalogue import MACHINE
    from airtcp.papers.load import load_papers
    from airtcp.papers.on_kernel import document, load_cases, run_cases

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "verify")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--jobs", type=int, default=2, help="runs of the kernel at the same time")
    arguments = parser.parse_args()

    def told(done: int, runs: int, words: str) -> None:
        print(f"{done} of {runs} {words}", file=sys.stderr, flush=True)

    try:
        cases = load_cases(load_papers(ROOT / "papers"), arguments.seeds, arguments.kernel)
        run = document(run_cases(cases, arguments.out, arguments.jobs, told))
    except AirtcpError as error:
        raise SystemExit(f"make verify: {error}") from error
    DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), run), encoding="utf-8")
    stamp(ROOT, "papers-kernel-share", "papers-kernel")
    print(sentence(run))


if __name__ == "__main__":
    main()
