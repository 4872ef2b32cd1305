"""The demonstration: a shipped link or the user's log, on one page."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from airtcp import run
from airtcp._core import RunError, ScenarioError
from airtcp.comparison.compare import compare
from airtcp.comparison.compared import Comparison
from airtcp.core import shipped
from airtcp.core.runs import Run
from airtcp.kernel.guests import Kernel, KernelError
from airtcp.kernel.guests.capabilities import Capabilities
from airtcp.pages.demonstration import kernel, story
from airtcp.pages.demonstration.page import helps_table, write_story
from airtcp.pages.demonstration.story import Observed
from airtcp.pages.demonstration.wrong import capacity_bps, what_is_wrong
from airtcp.pages.plot import TIMELINE_PROBES
from airtcp.pages.plot.timeline import timeline
from airtcp.pages.plot.trouble import Trouble

LOG = shipped.folder("recordings") / "wifi-spikes.ping"


@pytest.fixture(scope="module")
def lossy() -> Comparison:
    settings = {"link.loss.rate": 0.01, "duration": "5 s"}
    return compare("lossy-pipe", ["bbr", "newreno", "cubic"], 6, settings, harm=True)


def test_the_picture_counts_what_the_run_counts() -> None:
    found = run("ping", 1, {"link.rtt_log.path": LOG, "duration": "20 s"}, probes=TIMELINE_PROBES,
                rtts=True)  # fmt: skip
    trouble = Trouble(
        timeline("x", found), found.rtts["time_s"].to_numpy(), found.rtts["rtt_ms"].to_numpy()
    )
    spurious, needed, fast = (len(times) for _, times, _ in trouble.lanes)
    (flow,) = found.summary["flows"]
    assert spurious == flow["timeouts_spurious"] > 0
    assert spurious + needed == flow["timeouts"]
    assert fast == flow["fast_retransmits"]
    table = trouble.table()
    assert table[trouble.lanes[0][0]].sum() == spurious
    assert np.average(table["goodput_bps"]) == pytest.approx(flow["goodput_bps"], rel=0.01)
    trouble.figure()


def test_a_link_without_round_trips_has_a_picture_all_the_same() -> None:
    found = run("lossy-pipe", 1, {"duration": "1 ms"}, probes=TIMELINE_PROBES, rtts=True)
    rtts = found.rtts["time_s"].to_numpy(), found.rtts["rtt_ms"].to_numpy()
    Trouble(timeline("x", found), *rtts).figure()


def test_the_story_of_ones_own_log_is_told(tmp_path: Path) -> None:
    own = tmp_path / "my.ping"
    own.write_bytes(LOG.read_bytes())
    steps: list[float] = []
    told = story.tell(
        tmp_path, lambda share, _words: steps.append(share), log=own, seeds=2, rate_bps=5e6
    )
    page = write_story(tmp_path, told).read_text()
    assert "Your link" in page
    assert "The link stalls for" in told.said[0]
    assert "The link stalls for" in page
    assert "my.ping" in page
    assert "real kernel" not in page
    assert steps == sorted(steps)
    assert 0 <= steps[0] <= steps[-1] <= 1


@pytest.mark.parametrize("content", ["", "no ping here\n"])
def test_a_log_that_is_none_is_named(tmp_path: Path, content: str) -> None:
    own = tmp_path / "my.ping"
    own.write_text(content)
    with pytest.raises((ScenarioError, RunError), match=r"--link .*my\.ping"):
        story.tell(tmp_path, lambda _share, _words: None, log=own)


def _observed(name: str, **settings: object) -> Observed:
    return story._observed(name, settings)


def test_losses_of_the_radio_are_told_with_what_the_link_could_carry() -> None:
    found = _observed("lossy-pipe", **{"link.loss.rate": 0.01, "duration": "10 s"})
    (flow,) = found.run.summary["flows"]
    lost = flow["segments_lost_link"] / flow["segments_sent"]
    assert found.wrong.startswith("Over 10 s the link can carry 9.")
    assert f"the radio loses {100 * lost:.2f} % of the packets, the queue none" in found.wrong
    assert f"and slows down, {flow['fast_retransmits']} times" in found.wrong


def test_the_capacity_is_that_of_the_link() -> None:
    """A closed form: payload's share of the rate, for packets that follow each other."""
    capacity = capacity_bps("lossy-pipe", {"duration": "10 s"}, 1)
    assert capacity == pytest.approx(10e6 * 1448 / (1448 + 28), rel=0.01)


def test_a_full_link_is_no_problem_of_goodput() -> None:
    settings = {"duration": "20 s", "link.queue.packets": 20, "link.loss.rate": 0}
    assert "nothing is wrong" in _observed("lossy-pipe", **settings).wrong


def test_a_deep_queue_is_told_by_its_round_trip() -> None:
    settings = {"duration": "20 s", "link.queue.packets": 1000, "link.loss.rate": 0}
    found = _observed("lossy-pipe", **settings)
    (flow,) = found.run.summary["flows"]
    assert f"from {flow['min_rtt_ms']:.0f} ms to {flow['rtt_p95_ms']:.0f} ms" in found.wrong
    assert "radio" not in found.wrong


def test_timeouts_without_a_loss_are_told_as_such() -> None:
    """The link stops for longer than the timer, and loses nothing."""
    found = _observed("wifi-suspension", **{"duration": "30 s", "link.stops.length": "1 s"})
    (flow,) = found.run.summary["flows"]
    assert flow["timeouts"] == flow["timeouts_spurious"] > 1
    told = what_is_wrong(found.run, 10 * found.run.summary["goodput_bps"])
    assert f"in {flow['timeouts']} the acknowledgment is only late" in told


@pytest.mark.parametrize(
    ("timeouts", "late", "unacknowledged", "words"),
    [
        (1, 1, 0, "a timeout fires (the acknowledgment is only late)"),
        (3, 1, 2, "(in one the acknowledgment is only late, in 2 the data has arrived"),
        (4, 0, 0, "4 timeouts fire."),
    ],
)
def test_timeouts_are_counted_in_words(
    timeouts: int, late: int, unacknowledged: int, words: str
) -> None:
    found = _observed("lossy-pipe", duration="2 s")
    summary = json.loads(json.dumps(found.run.summary))
    summary["flows"][0] |= {
        "timeouts": timeouts,
        "timeouts_spurious": late,
        "timeouts_acknowledgments_lost": unacknowledged,
        "rtt_p95_ms": None,
    }
    observed = cast(Run, SimpleNamespace(summary=summary))
    assert words in what_is_wrong(observed, 10 * summary["flows"][0]["goodput_bps"])


def test_a_log_without_a_rate_is_told_without_a_capacity() -> None:
    settings = {"link.rtt_log.path": LOG, "duration": "20 s"}
    found = Observed(run("ping", 1, settings), None)
    assert found.wrong.startswith("Over 20 s today's sender gets ")
    assert "timeouts fire" in found.wrong


def test_the_table_has_who_helps_with_harm_and_place(lossy: Comparison) -> None:
    rows = {row[0]: row for row in helps_table(lossy).rows}
    assert next(iter(rows)) == "baseline"
    assert rows["bbr"][-1] == "the sender"
    assert "newreno" not in rows, "what does not help is in the whole comparison"


def _kernel(release: str) -> Kernel:
    can = Capabilities(bpf=True, congestion_controls=("bbr",), disciplines=("fq",), mptcp=False)
    return Kernel(release, release, "", "", can, {}, Path())


def test_a_better_remedy_that_the_kernel_lacks_is_passed_over(
    lossy: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = kernel.helping(lossy.ranking)
    assert names[0] == "bbr"
    tried: list[str] = []

    def refused(_scenario: Path, remedies: list[str], *_arguments: object, **_: object) -> None:
        tried.extend(remedies)
        raise ScenarioError("no way")

    monkeypatch.setattr(kernel, "newest", lambda: _kernel("6.12.1"))
    monkeypatch.setattr(kernel.shutil, "which", lambda _name: "/bin/true")
    monkeypatch.setattr(kernel, "verify", refused)
    assert kernel.try_on_kernel(Path("x.toml"), lossy.ranking) is None
    assert tried == names


def test_a_kernel_that_does_not_work_is_passed_over_in_silence(
    lossy: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise KernelError("QEMU ended")

    monkeypatch.setattr(kernel, "newest", lambda: _kernel("6.12.1"))
    monkeypatch.setattr(kernel.shutil, "which", lambda _name: "/bin/true")
    monkeypatch.setattr(kernel, "verify", broken)
    assert kernel.try_on_kernel(Path("x.toml"), lossy.ranking) is None


def test_the_newest_kernel_is_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    releases = ("6.1.0-32", "6.12.107+deb13", "6.6.1")
    monkeypatch.setattr(kernel, "known", lambda: [_kernel(one) for one in releases])
    found = kernel.newest()
    assert found
    assert found.release == "6.12.107+deb13"
    monkeypatch.setattr(kernel, "known", list)
    assert kernel.newest() is None


@pytest.mark.needs("qemu-system-x86_64", "kernels")
def test_a_remedy_is_tried_on_a_kernel_in_virtual_time(
    lossy: Comparison, lossy_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lossy_file.write_text(lossy_file.read_text().replace('"10 s"', '"2 s"'))
    monkeypatch.setattr(kernel, "_SEEDS", 2)
    trial = kernel.try_on_kernel(lossy_file, lossy.ranking)
    assert trial
    assert trial.sentences[0].startswith(f"Linux {trial.release} itself, in virtual time")
    assert trial.sentences[1].startswith("bbr: on this kernel +")
