"""Answers over shorter and longer runs, and against a kernel in virtual time."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sentence_truth import fresh, of_metric

from airtcp._core import AirtcpError
from airtcp.comparison.answer import answer
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.compared import Comparison
from airtcp.comparison.deployment import is_on_a_host
from airtcp.comparison.statistics import ERROR
from airtcp.core import shipped
from airtcp.kernel.verify import verify

TIMES = (0.5, 1.0, 4.0)
"""The horizons, in durations of the link."""
_SEEDS = 10
_KERNEL_SEEDS = 3


@dataclass(frozen=True)
class AtHorizons:
    """The gain of a remedy that an answer names, over runs of several lengths."""

    link: str
    remedy: str
    stated: float
    """The gain that the sentence has, in per cent."""
    gains: dict[str, tuple[float, float]]
    """By duration in seconds the gain and half its interval, in per cent."""
    is_said: bool
    """Whether the sentence mentions that the gain depends on the length."""


def at_horizons(
    link: str, scenario: str, settings: Mapping[str, object], said: Comparison, out: Path
) -> AtHorizons | None:
    """A named remedy at each horizon; None if the answer names no remedy."""
    best = said.ranking.best
    if best is None:
        return None
    duration_s = said.summaries["baseline"][0]["duration_s"]
    gains = {}
    for times in TIMES:
        length = f"{times * duration_s:g} s"
        truth = run_comparison(
            scenario,
            [best.remedy],
            seeds=fresh(_SEEDS),
            settings={**settings, "duration": length},
            out=out,
            jobs=1,
        )
        by = of_metric(truth, best.remedy, "goodput", ERROR)
        gains[length] = (by.mean_percent or 0.0, by.half_width_percent or 0.0)
    is_said = " in the first " in answer(said)[0]
    return AtHorizons(link, best.remedy, best.gain, gains, is_said)


@dataclass(frozen=True)
class OnKernel:
    """The gain of a remedy that an answer names, on a kernel."""

    link: str
    remedy: str
    stated: float
    gain: float | None
    """On the kernel, in per cent; None where it was not tried."""
    half: float | None
    why_not: str = ""


def on_kernel(
    link: str,
    scenario: str,
    settings: Mapping[str, object],
    said: Comparison,
    kernel: str,
    out: Path,
) -> OnKernel | None:
    """A named remedy on a kernel in virtual time; None if no named remedy is for a host."""
    best = next(
        (one for one in said.ranking.candidates if one.helps and is_on_a_host(one.remedy)), None
    )
    if best is None:
        return None

    def found(gain: float | None, half: float | None = None, why_not: str = "") -> OnKernel:
        return OnKernel(link, best.remedy, best.gain, gain, half, why_not)

    if shutil.which("qemu-system-x86_64") is None:
        return found(None, why_not="QEMU is missing")
    with tempfile.TemporaryDirectory() as folder:
        path = shipped.shipped("scenarios").get(scenario)
        if path is None:
            path = Path(folder) / f"{link}.toml"
            path.write_text(scenario)
        try:
            runs = verify(
                path, [best.remedy], _KERNEL_SEEDS, settings, kernel=kernel, out=out, jobs=1
            )
        except (AirtcpError, OSError) as error:
            return found(None, why_not=str(error))
    by = runs.differences[best.remedy]
    return found(by.mean_percent, by.half_width_percent)
