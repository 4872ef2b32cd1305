"""The facts of a diagnosis are printed before remedies are tried, and are not taken back."""

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import airtcp
from airtcp.cli.diagnose_output import FactsFirst, print_diagnosis, print_link
from airtcp.cli.progress import LinesOfProgress
from airtcp.comparison.ranking import Aim
from airtcp.comparison.sequential import Rounds
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.link_file import DiagnosedLink, diagnosed_link
from airtcp.diagnosis.ping_result import PingDiagnosis, diagnose_ping
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.trying import Effort
from ping_kinds import PingedLink, regular

SEEDS = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "recording"
FEW = Rounds(most_seeds=2, most_cpu_s=3.0, first=2)
Answer = Diagnosis | PingDiagnosis | DiagnosedLink


class Order:
    """The facts, and whether a remedy had been tried when they were given."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.has_begun = False

    def progress(self, _: float, step: str) -> None:
        """A step of the work."""
        self.has_begun |= step == "trying remedies"

    def take(self, sentences: list[str]) -> None:
        """The first sentences."""
        assert not self.has_begun, "remedies were tried before the facts were given"
        assert not self.facts, "the facts were given twice"
        self.facts = sentences


def _of_a_ping(order: Order, folder: Path) -> Answer:
    log = PingedLink(gaps=tuple(regular(20, 2, 60))).write(folder / "gaps.ping", 60)
    return diagnose_ping(log, "all", order.progress, rounds=FEW, before_trials=order.take)


def _of_throughputs(order: Order, _: Path) -> Answer:
    file = SEEDS / "iperf3-json"
    return diagnosed_link(file, "all", order.progress, rounds=FEW, before_trials=order.take)


def _of_a_queue(order: Order, _: Path) -> Answer:
    file = SEEDS / "speedtest"
    return diagnosed_link(file, "all", order.progress, rounds=FEW, before_trials=order.take)


def _lossy(folder: Path, flows: int = 1) -> Path:
    """A capture of flows that losses limit."""
    settings: dict[str, object] = {"link.rate": "3 Mbit/s", "link.loss.rate": 0.01}
    settings |= {"tcp.profile": "linux", "flows.count": flows}
    capture = folder / "lossy.pcapng"
    airtcp.run('name = "lossy"\nduration = "20 s"\n', 1, settings=settings, pcap=capture)
    return capture


def _captured(order: Order, capture: Path, effort: Effort) -> Answer:
    read = read_capture(capture, None, None)
    return diagnosed(read, "all", order.progress, effort=effort, before_trials=order.take)


FEW_TRIALS = Effort(seeds=1, max_cpu_s=5.0)


def _of_a_capture(order: Order, folder: Path) -> Answer:
    answer = _captured(order, _lossy(folder), FEW_TRIALS)
    assert answer.headline.startswith("The flow gets")
    return answer


def _of_a_full_link(order: Order, folder: Path) -> Answer:
    settings: dict[str, object] = {
        "link.rate": "3 Mbit/s",
        "link.queue.packets": 100,
        "tcp.profile": "linux",
    }
    capture = folder / "full.pcapng"
    airtcp.run('name = "full"\nduration = "20 s"\n', 1, settings=settings, pcap=capture)
    answer = _captured(order, capture, FEW_TRIALS)
    assert "but data waits" in answer.headline
    return answer


def _for_latency(order: Order, folder: Path) -> Answer:
    answer = _captured(order, _lossy(folder), replace(FEW_TRIALS, aim=Aim.LATENCY))
    assert answer.headline.startswith("Its round trip")
    return answer


def _without_time(order: Order, folder: Path) -> Answer:
    """The limit is told once, and why there are no trials."""
    answer = _captured(order, _lossy(folder), Effort(max_cpu_s=0.001))
    assert "loses" in answer.headline
    assert "No remedies were tried. A first round" in answer.headline
    return answer


def _without_time_for_latency(order: Order, folder: Path) -> Answer:
    answer = _captured(order, _lossy(folder), Effort(max_cpu_s=0.001, aim=Aim.LATENCY))
    assert "No remedies were tried. A first round" in answer.headline
    return answer


OF_CAPTURES = (
    *(_of_a_capture, _of_a_full_link, _for_latency),
    *(_without_time, _without_time_for_latency),
)


@pytest.mark.parametrize("answer_of", [_of_a_ping, _of_throughputs, _of_a_queue, *OF_CAPTURES])
def test_facts_come_first_and_stay(
    answer_of: Callable[[Order, Path], Answer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text in two steps is the text in one, but for where a line ends."""
    order = Order()
    answer = answer_of(order, tmp_path)
    assert order.facts
    printed = [_text(answer, facts, capsys) for facts in ([], order.facts)]
    assert printed[0].split() == printed[1].split()
    assert printed[1].startswith("\n".join(order.facts) + "\n")
    assert len("\n".join(answer.sentences)) > len("\n".join(order.facts))


def test_an_answer_that_begins_otherwise_is_printed_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = FactsFirst(LinesOfProgress("diagnosing"), is_text=True, has_files=False)
    first.facts(["The flow gets 1 of 2 Mbit/s."])
    first.rest(["The link is full.", "The link: 2 Mbit/s."])
    assert capsys.readouterr().out.splitlines() == [
        "The flow gets 1 of 2 Mbit/s.",
        "The link is full.",
        "The link: 2 Mbit/s.",
    ]


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    first = FactsFirst(LinesOfProgress("diagnosing"), is_text=False, has_files=False)
    first.facts(["The flow gets 1 of 2 Mbit/s."])
    assert capsys.readouterr().out == ""


class Full(io.StringIO):
    """Standard output on a disk that is full."""

    def flush(self) -> None:
        """Fails."""
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_error_of_standard_output_waits_for_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without files the work would be for nothing."""
    monkeypatch.setattr(sys, "stdout", Full())
    facts = ["The flow gets 1 of 2 Mbit/s."]
    with pytest.raises(OSError, match="No space"):
        FactsFirst(LinesOfProgress("diagnosing"), is_text=True, has_files=False).facts(facts)
    first = FactsFirst(LinesOfProgress("diagnosing"), is_text=True, has_files=True)
    first.facts(facts)
    with pytest.raises(OSError, match="No space"):
        first.rest([*facts, "The link: 2 Mbit/s."])


@pytest.mark.parametrize("flows", [1, 2])
def test_the_report_is_written_though_nobody_reads_the_answer(tmp_path: Path, flows: int) -> None:
    capture, report = _lossy(tmp_path, flows), tmp_path / "report"
    command = [sys.executable, "-m", "airtcp", "diagnose", capture, "--can", "all"]
    command += ["--seeds", "1", "--max-cpu", "1", "--out", report]
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as nobody:
        done = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == ""
    assert (report / "index.html").exists()


def _text(answer: Answer, facts: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The output with these facts first."""
    first = FactsFirst(LinesOfProgress("diagnosing"), is_text=True, has_files=False)
    first.facts(facts)
    if isinstance(answer, DiagnosedLink):
        print_link(answer, first)
    else:
        print_diagnosis(answer, first)
    return capsys.readouterr().out
