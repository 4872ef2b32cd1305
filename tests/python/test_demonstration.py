"""The demonstration: a link that comes with airtcp or one's own log, on one page."""

from pathlib import Path

import numpy as np
import pytest

from airtcp import run, shipped
from airtcp._core import RunError, ScenarioError
from airtcp.comparison import Comparison, compare
from airtcp.demonstration import kernel, story
from airtcp.demonstration.page import helps_table, symptoms, write_story
from airtcp.plot import TIMELINE_PROBES
from airtcp.plot.timeline import timeline
from airtcp.plot.trouble import Trouble

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
    assert "The link stands still for" in told.said[0]
    assert "The link stands still for" in page
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


def test_the_symptoms_are_the_baselines(lossy: Comparison) -> None:
    assert symptoms(lossy).startswith("In 5 s today's Linux carries ")
    assert "over 6 seeds" in symptoms(lossy)


def test_the_table_has_who_helps_with_harm_and_place(lossy: Comparison) -> None:
    rows = {row[0]: row for row in helps_table(lossy).rows}
    assert next(iter(rows)) == "baseline"
    assert rows["bbr"][-1] == "the sender"
    assert "newreno" not in rows, "what does not help is in the whole comparison"


def test_a_better_remedy_that_this_kernel_lacks_is_passed_over(
    lossy: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    helping = [one.remedy for one in lossy.ranking.candidates if one.helps]
    assert helping[0] == "bbr"
    monkeypatch.setattr(kernel, "find_program", lambda: "true")
    monkeypatch.setattr(kernel, "_namespace_refusal", lambda _scenario: "")
    monkeypatch.setattr(kernel, "_can_be_had", lambda _scenario, remedy: False)
    trial = kernel.try_on_kernel(Path("x.toml"), lossy.ranking)
    assert trial.verification is None
    assert trial.sentences == [f"Not tried here: this kernel has none of {', '.join(helping)}."]


def test_a_refusal_is_one_sentence(lossy: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object, **_options: object) -> None:
        raise RunError("the first line.\nusage: and much more\nof it")

    monkeypatch.setattr(kernel, "find_program", lambda: "true")
    monkeypatch.setattr(kernel, "_namespace_refusal", lambda _scenario: "")
    monkeypatch.setattr(kernel, "_can_be_had", lambda _scenario, remedy: True)
    monkeypatch.setattr(kernel, "verify", refused)
    trial = kernel.try_on_kernel(Path("x.toml"), lossy.ranking)
    assert trial.sentences == ["Not tried here: the first line."]
