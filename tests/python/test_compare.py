"""A comparison, its cells, and its sentences."""

import multiprocessing
import os
import signal
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp import _core
from airtcp.comparison import store
from airtcp.core.catalogue import BASELINE, deployments

REMEDIES = ["rto-factor:factor=10", "sack"]


def test_pairs_meet_the_same_seeds(lossy: str) -> None:
    comparison = airtcp.compare(lossy, REMEDIES, seeds=4)
    assert comparison.remedies == (BASELINE, *REMEDIES)
    assert len(comparison.cells) == 12
    for (remedy,), cells in comparison.cells.group_by("remedy"):
        assert cells["seed"].sort().to_list() == [1, 2, 3, 4], remedy
    alone = airtcp.run(lossy, seed=3, remedies=["sack"]).summary
    assert comparison.values("sack", "goodput_bps")[2] == alone["goodput_bps"]


def test_table_holds_the_differences(lossy: str) -> None:
    comparison = airtcp.compare(lossy, REMEDIES, seeds=[5, 9, 2])
    assert comparison.seeds == (2, 5, 9)
    assert comparison.table["remedy"].to_list() == [BASELINE, *REMEDIES]
    for row in comparison.table.iter_rows(named=True):
        values = comparison.values(row["remedy"], "goodput_bps")
        assert row["goodput_bps"] == pytest.approx(sum(values) / 3)
        if row["remedy"] != BASELINE:
            before = comparison.values(BASELINE, "goodput_bps")
            assert row["difference_bps"] == pytest.approx((sum(values) - sum(before)) / 3)


def test_a_remedy_that_changes_nothing_is_called_so(steady_file: Path) -> None:
    comparison = airtcp.compare(steady_file, ["dupack-threshold:segments=3"], seeds=3)
    assert comparison.table["outcome"].to_list() == [None, "identical"]
    assert "changes nothing here" in comparison.verdict[0]


def test_the_same_goodput_by_other_packets_is_not_called_nothing() -> None:
    """Two controls that keep the link full carry the same bytes, with other round trips."""
    comparison = airtcp.compare("lossy-pipe", ["veno"], 2, {"duration": "60s"})
    assert comparison.table["outcome"].to_list() == [None, "identical"]
    assert comparison.table["rtt_p50"].n_unique() == 2
    assert "leaves goodput as it is" in comparison.verdict[0]


def test_a_winner_says_how_it_is_deployed(lossy: str, tmp_path: Path) -> None:
    """The steps are from the catalogue, with the values of this remedy."""
    comparison = airtcp.compare(lossy, ["max-window:segments=4", "coin:q=1"], seeds=6)
    assert comparison.best == "coin:q=1"
    (steps, offer) = comparison.deployment
    assert "`airtcp-net control coin --set radio_per_mille=1000`" in steps
    assert "`airtcp deploy coin:q=1 --all --dry-run`" in offer
    page = comparison.report(tmp_path).read_text()
    assert "<h2>Deployment</h2>" in page
    assert "<code>airtcp-net control coin --set radio_per_mille=1000</code>" in page


def test_what_is_not_shown_to_help_is_not_deployed(lossy: str, tmp_path: Path) -> None:
    comparison = airtcp.compare(lossy, ["max-window:segments=4"], seeds=3)
    assert comparison.deployment == []
    assert "Deploying" not in comparison.report(tmp_path).read_text()


def test_what_no_host_can_have_is_not_offered_to_one() -> None:
    assert [part["on_a_host"] for part in deployments("delay-injection+sack")] == [False, True]


def test_connections_that_never_opened_are_not_called_equal(lossy: str) -> None:
    settings = {"link.loss.rate": 1, "duration": "5 s"}
    for remedies in (["bbr"], ["all"]):
        comparison = airtcp.compare(lossy, remedies, seeds=2, settings=settings)
        assert comparison.verdict[0].startswith("No connection opened in any run")
    settings["link.loss.rate"] = 0.9
    some = airtcp.compare(lossy, ["rto-factor:factor=8"], seeds=6, settings=settings)
    unopened = sum(not run["flows"][0]["opened"] for run in some.summaries["baseline"])
    assert 0 < unopened < 6
    sentence = f"In {unopened} of 6 runs of the baseline no connection got past its handshake."
    assert sentence in some.verdict


def test_one_seed_says_that_it_has_no_interval(lossy: str) -> None:
    comparison = airtcp.compare(lossy, ["sack"], seeds=1)
    assert comparison.verdict[-1].startswith("One seed gives no interval")
    assert comparison.table["ci95_low_bps"].to_list() == [None, None]


def test_seeds_that_change_nothing_are_not_counted_as_evidence(steady_file: Path) -> None:
    unperturbed = {"perturb": 0}
    comparison = airtcp.compare(steady_file, ["max-window:segments=4"], 5, unperturbed)
    assert comparison.table["outcome"].to_list() == [None, "no interval"]
    assert comparison.verdict[-1] == (
        "All 5 seeds give max-window:segments=4 the same difference in goodput: that counts as one "
        "run, without an interval."
    )
    assert "the same on all" in comparison.verdict[0]


def test_a_link_without_randomness_is_perturbed(steady_file: Path) -> None:
    comparison = airtcp.compare(steady_file, ["max-window:segments=4"], seeds=5)
    assert comparison.table["outcome"].to_list() == [None, "lower"]
    goodputs = [run["goodput_bps"] for run in comparison.summaries["baseline"]]
    assert len(set(goodputs)) == 5
    assert max(goodputs) / min(goodputs) < 1.03


def test_what_is_random_is_not_perturbed(lossy: str) -> None:
    comparison = airtcp.compare(lossy, ["sack"], seeds=2)
    run = airtcp.run(lossy, seed=2).summary
    assert comparison.summaries["baseline"][1]["digest"] == run["digest"]


@pytest.mark.parametrize(
    ("remedies", "seeds", "message"),
    [
        ([], 3, "no remedy to compare"),
        (["sack", "sack"], 3, "named twice"),
        (["nonsense"], 3, "nonsense"),
        (["sack"], [], "expected 1 to 100000 of them, not 0"),
    ],
)
def test_bad_comparisons(
    lossy: str, remedies: list[str], seeds: int | list[int], message: str
) -> None:
    with pytest.raises(airtcp.ScenarioError, match=message):
        airtcp.compare(lossy, remedies, seeds)


def test_finished_cells_are_not_computed_again(
    lossy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    original = _core.run_many

    def counting(cells, threads, on_done=None):
        asked.append(len(cells))
        return original(cells, threads, on_done)

    monkeypatch.setattr(_core, "run_many", counting)
    first = airtcp.compare(lossy, ["sack"], seeds=3, out=tmp_path)
    again = airtcp.compare(lossy, ["sack"], seeds=3, out=tmp_path)
    assert first.cells.equals(again.cells)
    airtcp.compare(lossy, REMEDIES, seeds=4, out=tmp_path)
    airtcp.compare(lossy, ["sack"], 3, {"link.loss.rate": 0.02}, out=tmp_path)
    assert asked == [6, 6, 6]
    dataset = pl.read_parquet(tmp_path / "cells" / "*.parquet")
    assert len(dataset) == 18


def _killed_study(scenario: str, out: Path) -> None:
    """Dies in the middle, by the signal that cannot be handled."""

    def die(done: int, _: object) -> None:
        if done == 35:
            os.kill(os.getpid(), signal.SIGKILL)

    store.BATCH_CELLS = 10
    airtcp.compare(
        scenario, REMEDIES, 40, settings={"duration": "200 s"}, out=out, jobs=1, progress=die
    )


def test_a_killed_study_goes_on_where_it_was(lossy: str, tmp_path: Path) -> None:
    # A fresh interpreter.
    context = multiprocessing.get_context("spawn")
    study = context.Process(target=_killed_study, args=(lossy, tmp_path))
    study.start()
    study.join()
    assert study.exitcode == -signal.SIGKILL
    cells = tmp_path / "cells"
    kept = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    finished = len(pl.read_parquet(cells / "*.parquet"))
    # Lost is at most one batch, wherever it began: a slow machine writes batches that are old
    # before they are full.
    assert 25 <= finished <= 35
    settings = {"duration": "200 s"}
    told: list[int] = []
    resumed = airtcp.compare(
        lossy, REMEDIES, 40, settings, out=tmp_path, progress=lambda done, _: told.append(done)
    )
    assert told[0] == finished
    assert resumed.cells.equals(airtcp.compare(lossy, REMEDIES, 40, settings).cells)
    assert all((cells / name).stat().st_mtime_ns == mtime for name, mtime in kept.items())


def test_an_exception_while_cells_finish_is_raised(lossy: str) -> None:
    class EnoughError(Exception):
        pass

    def stop(finished: int, cells: int) -> None:
        if finished:
            raise EnoughError

    with pytest.raises(EnoughError):
        airtcp.compare(lossy, ["sack"], seeds=50, progress=stop)


def test_report_is_one_page_with_tables_and_provenance(lossy: str, tmp_path: Path) -> None:
    comparison = airtcp.compare(lossy, REMEDIES, seeds=3)
    page = comparison.report(tmp_path / "report", command="airtcp compare x --remedy <sack>")
    html = page.read_text()
    assert comparison.verdict[0] in html
    for head in ("95 % interval", "timeouts a run", "SRTT, median", "seed", "digest"):
        assert f">{head}</th>" in html
    for digest in comparison.cells["digest"]:
        assert digest in html
    assert "airtcp compare x --remedy &lt;sack&gt;" in html
    assert comparison.scenario.hash() in html
    assert "[link.loss]" in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "https://" not in html
    for name in ("comparison", "timeline", "timeline-2"):
        assert b"<svg" in (page.parent / f"{name}.svg").read_bytes()
    assert not list(page.parent.glob("*.png"))
    comparison.report(tmp_path / "report", png=True)
    for name in ("comparison", "timeline", "timeline-2"):
        assert (page.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    csv = pl.read_csv(page.parent / "comparison.csv")
    assert csv["remedy"].to_list() == [BASELINE, *REMEDIES]


def test_notebook_view(lossy: str) -> None:
    comparison = airtcp.compare(lossy, ["sack"], seeds=2)
    html = comparison._repr_html_()
    assert comparison.verdict[0] in html
    assert "data:image/svg+xml;base64," in html
