"""`airtcp compare` without --remedy: every remedy, what decides, and what it says of the link."""

import json
from pathlib import Path

import pytest
from scipy.stats import t

import airtcp
from airtcp.comparison.deployment import best_on_a_host
from airtcp.comparison.everything import applicable
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import State
from airtcp.comparison.statistics import Outcome, paired_difference
from test_cli import airtcp_command


def test_intervals_of_many_hold_at_once() -> None:
    """Bonferroni by hand: of 20 comparisons each has an error of 0.25 %."""
    before, after = [1.0, 2.0, 3.0, 4.0], [2.0, 2.5, 4.5, 5.5]
    alone, among = paired_difference(before, after), paired_difference(before, after, among=20)
    assert alone.half_width is not None
    assert among.half_width is not None
    assert among.half_width / alone.half_width == pytest.approx(
        t.ppf(1 - 0.025 / 20, 3) / t.ppf(0.975, 3)
    )


def test_without_a_remedy_all_that_have_a_place_are_compared(lossy_file: Path) -> None:
    comparison = airtcp.compare(lossy_file, seeds=4)
    found = applicable(comparison.scenario)
    taken, refused = found.taken, found.refused
    assert comparison.remedies == ("baseline", *taken)
    assert set(comparison.refused) == set(refused)
    assert not {"oracle", "coin"} & set(taken)
    assert "inf-retry" in refused
    catalogue = {entry["name"] for entry in airtcp.remedies()}
    names = {remedy.partition(":")[0] for remedy in taken}
    assert catalogue == names | set(refused) | {"oracle", "coin"}
    assert set(found.sized) <= set(taken)
    assert 1 <= comparison.among <= len(taken)


def test_a_search_is_sorted_and_says_what_became_of_the_rest(lossy_file: Path) -> None:
    comparison = airtcp.compare(lossy_file, seeds=6)
    for wanted in (State.SHOWN, State.UNDECIDED):
        rows = [
            name
            for name in comparison.shown
            if comparison.states[name] is wanted
            and (wanted is State.UNDECIDED or comparison.is_better(name))
        ]
        # What helps by flooding the link comes after what does not.
        order = [(comparison.floods(name), -comparison.decisive[name].mean) for name in rows]
        assert order == sorted(order), wanted
    assert comparison.verdict[0].startswith(f"{comparison.best} raises goodput by")
    assert any("all intervals hold jointly" in line for line in comparison.verdict)


FULL = """
name = "full"
duration = "10 s"
topology = "pipe"
link.rate = "10 Mbit/s"
link.delay = "10 ms"
flows.count = 2
flows.start_spread = "1 s"
tcp.profile = "linux"
"""


def test_a_full_link_leaves_nothing_to_gain() -> None:
    comparison = airtcp.compare(FULL, ["min-rto", "limited-transmit"], seeds=5)
    assert not any(comparison.is_better(name) for name in comparison.decisive)
    assert comparison.verdict[0].startswith("Nothing here helps: the link is full: 9.")


def test_a_window_that_bounds_the_flow_is_named() -> None:
    settings = {"tcp.max_window": 4, "flows.count": 1}
    comparison = airtcp.compare(FULL, ["min-rto", "sack"], seeds=5, settings=settings)
    assert "the window of 4 segments (tcp.max_window) bounds the flow" in comparison.verdict[0]


def test_another_metric_decides(lossy_file: Path) -> None:
    comparison = airtcp.compare(lossy_file, ["sack", "tahoe"], seeds=6, metric="timeouts")
    assert comparison.decisive["sack"].mean == comparison.differences["sack"]["timeouts"].mean
    assert "timeouts" in comparison.verdict[0]
    with pytest.raises(airtcp.ScenarioError, match='metric "speed": expected one of goodput'):
        airtcp.compare(lossy_file, ["sack"], seeds=2, metric="speed")


def test_endless_flows_have_no_completion_time(lossy_file: Path) -> None:
    with pytest.raises(airtcp.RunError, match='metric "completion"'):
        airtcp.compare(lossy_file, ["sack"], seeds=2, metric="completion")
    settings = {"flows.bytes": "1 MB"}
    comparison = airtcp.compare(
        lossy_file, ["sack"], seeds=2, settings=settings, metric="completion"
    )
    run = comparison.summaries["sack"][0]["flows"][0]
    assert METRICS["completion"].of(comparison.summaries["sack"][0]) == (
        run["completed_s"] - run["started_s"]
    )


def test_a_remedy_that_floods_says_so() -> None:
    """A fixed timeout far below the round trip resends all that is on its way."""
    text = FULL.replace('delay = "10 ms"', 'delay = "200 ms"').replace("linux", "newreno")
    settings = {"tcp.min_rto": "1 ms", "link.loss.rate": 0.02, "duration": "30 s"}
    comparison = airtcp.compare(text, ["go-back-n", "sack"], seeds=3, settings=settings)
    needless = METRICS["needless"]
    for name in comparison.decisive:
        shares = [needless.of(run) for run in comparison.summaries[name]]
        usual = [needless.of(run) for run in comparison.summaries["baseline"]]
        floods = sum(shares) / 3 > max(0.05, 2 * sum(usual) / 3)
        assert comparison.floods(name) is floods
        assert ("it floods the link" in " ".join(comparison.verdict)) is any(
            comparison.floods(name) for name in comparison.decisive
        )


def test_link_and_sender_are_named(lossy_file: Path) -> None:
    newreno = ("--set", "tcp.profile=newreno")
    done = airtcp_command("compare", lossy_file, *newreno, "--remedy", "sack", "--seeds", "2")
    assert "Link: lossy" in done.stdout
    assert "Sender: newreno" in done.stdout
    done = airtcp_command("compare", lossy_file, "--seeds", "2", "--json")
    found = json.loads(done.stdout)
    assert found["metric"] == "goodput"
    assert found["link_and_sender"].startswith("Link: lossy")


@pytest.mark.parametrize(
    "scenario", sorted(Path("scenarios").glob("*.toml")), ids=lambda path: path.stem
)
def test_ready_scenarios_send_as_linux_does(scenario: Path) -> None:
    assert '\nprofile = "linux"' in scenario.read_text()


def test_outcomes_of_a_search_are_of_the_wide_intervals(lossy_file: Path) -> None:
    search = airtcp.compare(lossy_file, seeds=4)
    alone = airtcp.compare(lossy_file, ["min-rto"], seeds=4)
    wide, narrow = search.decisive["min-rto"], alone.decisive["min-rto"]
    assert wide.mean == narrow.mean
    if narrow.outcome is Outcome.NO_DIFFERENCE_SHOWN:
        assert wide.outcome is Outcome.NO_DIFFERENCE_SHOWN


def test_what_an_end_can_have_is_said_beside_what_is_best() -> None:
    comparison = airtcp.compare("wlan-upload", seeds=4, settings={"duration": "10 s"})
    found = best_on_a_host(comparison.ranking)
    assert found is not None
    possible = found.remedy
    assert comparison.is_better(possible)
    if possible != comparison.best:
        assert any(f"for an end host is {possible} (" in line for line in comparison.deployment)
    assert f"`airtcp deploy {possible} --all --dry-run`" in comparison.deployment[-1]


# A first window of the link's bandwidth-delay product leaves slow start nothing to gain.
FILLED = {"duration": "2 s", "tcp.initial_window": 45}


def test_a_search_without_a_gain_has_a_report(tmp_path: Path) -> None:
    """Its best remedy is not shown to help."""
    comparison = airtcp.compare("lossy-pipe", seeds=2, settings=FILLED)
    assert "no remedy is shown to bring" in repr(comparison)
    page = comparison.report(tmp_path).read_text()
    assert f"{comparison.best} against the baseline" in page
