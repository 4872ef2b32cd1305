"""First sentences over many links and askers, judged by fresh seeds until they are decided.

    python benches/sentences.py [--out out/sentences] [--max-cpu 3600] [--kernel 6.12]
    python pages/write_sentences.py out/sentences    # the page from the results

For each link `compare` answers as a user has it, in rounds, for each of four askers; then fresh
seeds judge only the first sentence (benches/sentence_truth.py). Twelve
answers are looked at over shorter and longer runs, and with --kernel twelve on a kernel in virtual
time. Finished links and cells are kept in `--out`, by the digest of some runs, so that an engine
that gives other numbers starts over: it can be run in parts, and resumes after a kill.
"""

import argparse
import hashlib
import json
import os
import resource
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sentence_checks import at_horizons, on_kernel
from sentence_links import AT_HORIZONS, ON_KERNEL, Settings, links
from sentence_truth import best_in_truth, fresh, judged

from airtcp._core import engine_version
from airtcp.comparison.answer import answer
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.compared import Comparison
from airtcp.comparison.sequential import Rounds
from airtcp.core.runs import run

ASKERS = ("my-machine", "server", "access-point", "all")
ROUNDS = Rounds(most_cpu_s=3600.0)
"""As a user has it, but for the bound on time: the table is the same on every machine."""
_SAMPLE = ("lossy-pipe", "wlan-upload", "cellular", "laptop-upload")
"""Scenarios that reveal an engine with different numbers."""


@dataclass(frozen=True)
class Judged:
    """One first sentence, and whether it holds."""

    link: str
    asker: str
    sentence: str
    seeds: int
    named: str | None
    judged: str
    """right, wrong, unsure or undecided"""
    why: str
    truth_seeds: int


def main() -> None:
    """Answers, judges, and prints the counts."""
    asked = _arguments()
    every = links()
    if asked.list:
        print("\n".join(every))
        return
    os.nice(10)
    out = asked.out / sample_digest()
    out.mkdir(parents=True, exist_ok=True)
    chosen = asked.only.split(",") if asked.only else list(every)
    for name in chosen:
        kept = out / f"{name}.json"
        found = json.loads(kept.read_text()) if kept.exists() else None
        if found is not None and not _lacks_kernel(name, found, asked.kernel):
            continue
        if cpu_s() > asked.max_cpu:
            missing = sum(not (out / f"{one}.json").exists() for one in chosen)
            print(f"{asked.max_cpu:g} s of processor time are spent; {missing} links are left: ")
            print("the same command goes on from here")
            return
        begun = cpu_s()
        found = of_link(name, *every[name], out / "cells" / name, asked.kernel)
        found["cpu_s"] = cpu_s() - begun
        kept.write_text(json.dumps(found, indent=1, ensure_ascii=False))
        print(f"{name}: {', '.join(row['judged'] for row in found['rows'])}", flush=True)
    print(counts([row for one in found_in(out) for row in one["rows"]]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/sentences"))
    parser.add_argument("--only", default="", help="links, with commas")
    parser.add_argument("--list", action="store_true", help="prints the links alone")
    parser.add_argument("--kernel", help="asks this kernel, too: a name of `airtcp kernels`")
    parser.add_argument(
        "--max-cpu",
        type=float,
        default=3600.0,
        help="no link begins after so many seconds of processor time",
    )
    return parser.parse_args()


def of_link(
    name: str, scenario: str, settings: Settings, out: Path, kernel: str | None
) -> dict[str, Any]:
    """Everything that is asked on a link."""
    said = {
        asker: run_comparison(
            scenario,
            settings=settings,
            out=out,
            can=asker,
            rounds=ROUNDS,
            harm=True,
            horizon=True,
            jobs=1,
        )
        for asker in ASKERS
    }

    def measure(names: Sequence[str], seeds: int, is_of_others: bool) -> Comparison:
        metric = "harm" if is_of_others else "goodput"
        return run_comparison(
            scenario, names, fresh(seeds), settings, metric=metric, out=out, jobs=1
        )

    rows = []
    for asker, one in said.items():
        found = judged(one, measure)
        best = one.ranking.best
        rows.append(
            Judged(
                name,
                asker,
                answer(one)[0],
                len(one.seeds),
                None if best is None else best.remedy,
                found.judged,
                best_in_truth(one, found),
                found.seeds,
            )
        )
    every = said["all"]
    horizons = at_horizons(name, scenario, settings, every, out) if name in AT_HORIZONS else None
    on = None
    if kernel and name in ON_KERNEL:
        on = on_kernel(name, scenario, settings, every, kernel, out)
    return {
        "rows": [asdict(row) for row in rows],
        "horizons": None if horizons is None else asdict(horizons),
        "kernel": None if on is None else {"name": kernel, **asdict(on)},
    }


def found_in(out: Path) -> list[dict[str, Any]]:
    """The links that are finished, in their order."""
    paths = (out / f"{name}.json" for name in links())
    return [json.loads(path.read_text("utf-8")) for path in paths if path.exists()]


def counts(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many sentences were judged how."""
    kinds = ("right", "unsure", "undecided", "wrong")
    numbers = ", ".join(f"{sum(row['judged'] == kind for row in rows)} {kind}" for kind in kinds)
    return f"{len(rows)} first sentences: {numbers}."


def sample_digest() -> str:
    """Digest of today's engine on some runs."""
    digests = [run(name, settings={"duration": "1 s"}).summary["digest"] for name in _SAMPLE]
    return hashlib.sha256(" ".join([engine_version, *digests]).encode()).hexdigest()[:12]


def cpu_s() -> float:
    """Processor time of this process and of the kernels that it ran, in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _lacks_kernel(name: str, found: Mapping[str, Any], kernel: str | None) -> bool:
    """Whether a kernel is asked for that a finished link was not asked on."""
    if not kernel or name not in ON_KERNEL:
        return False
    known = found["kernel"]
    return known is None or known["name"] != kernel


if __name__ == "__main__":
    main()
