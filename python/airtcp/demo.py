"""The demonstration: what airtcp is for, on links that come with it, told on one page."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp import shipped
from airtcp._core import AirtcpError
from airtcp.comparison import Comparison, compare
from airtcp.net import find_program
from airtcp.papers.judgement import judge_papers
from airtcp.papers.paper import find_papers, load_papers
from airtcp.study.deployment import best_on_a_host
from airtcp.verification import Verification, verify

if TYPE_CHECKING:
    from airtcp.papers.judgement import Judgement

_LINK, _UPLOAD = "ping", "wlan-upload"
_LOSS = 0.005
# The kernel takes the time that it takes: the baseline and the remedy, side by side.
_KERNEL_RUN = {"duration": "5 s"}
_KERNEL_SEEDS = 4

Report = Callable[[float, str], object]
"""Takes the share that is done, 0 to 1, and what is done now."""


@dataclass(frozen=True)
class Demo:
    """Findings of the demonstration."""

    link: Comparison
    """A Wi-Fi link recorded by ping, every remedy tried on today's sender."""
    on_newreno: Comparison
    """The same link, the remedies that differ there, on the sender of the papers' time."""
    upload: Comparison
    """An upload over 802.11b whose radio damages frames in bursts."""
    kernel: Verification | None
    """The upload's best remedy on this machine's kernel; None where that cannot be tried."""
    kernel_refusal: str
    """Why it was not."""
    judgement: "Judgement"
    """The papers' claims, judged quickly."""


def demo(folder: Path, seeds: int, report: Report) -> Demo:
    """Runs the demonstration; what `folder` holds already is not computed again.

    Raises:
        AirtcpError: a run could not be finished.
        OSError: the folder cannot be written.
    """
    log = shipped.folder("recordings") / "wifi-spikes.ping"
    settings = {"link.rtt_log.path": log, "link.loss.rate": _LOSS}
    report(0.0, "a recorded Wi-Fi link, every remedy")
    link = compare(_LINK, seeds=seeds, settings=settings, out=folder / "link")
    report(0.1, "the same on NewReno")
    newreno = settings | {"tcp.profile": "newreno"}
    on_newreno = compare(_LINK, link.shown, seeds, newreno, out=folder / "link")
    report(0.15, "an upload over 802.11b, every remedy")
    upload = compare(_UPLOAD, seeds=seeds, out=folder / "upload")
    report(0.4, "its best remedy on this machine's kernel")
    on_a_host = best_on_a_host(upload.ranking)
    kernel, refusal = _on_kernel(on_a_host.remedy if on_a_host else upload.best)
    report(0.5, "the papers, quickly")
    where = find_papers()

    def papers_progress(share: float, words: str = "") -> None:
        report(0.5 + share / 2, f"the papers: {words}")

    judgement = judge_papers(
        load_papers(where, None),
        where,
        quick=True,
        with_cross=False,
        readings=1,
        out=folder / "papers",
        progress=papers_progress,
    )
    return Demo(link, on_newreno, upload, kernel, refusal, judgement)


def _on_kernel(remedy: str) -> tuple[Verification | None, str]:
    """The remedy on this kernel, or why it is not tried."""
    if sys.platform != "linux":
        return None, "real packets need Linux"
    scenario = shipped.shipped("scenarios")[_UPLOAD]
    try:
        # The quickest way to find out whether namespaces are allowed here.
        command = [find_program(), "emulate", "--quiet", "--server", "true", str(scenario)]
        command += ["--", "true"]
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            return None, tried.stderr.strip().removeprefix("airtcp-net: ")
        return verify(scenario, [remedy], _KERNEL_SEEDS, _KERNEL_RUN, jobs=_KERNEL_SEEDS), ""
    except AirtcpError as error:
        return None, str(error)
