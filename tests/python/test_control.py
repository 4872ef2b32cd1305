"""Congestion controls in Python: instances, order of calls, errors, comparisons."""

import contextlib
import io
import math
import re
import subprocess
import sys
import traceback
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

import airtcp
from airtcp import RunError, ScenarioError, Socket
from airtcp.comparison.deployment import deployed

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "python-control.md"
LINK = "lossy-pipe"
SHORT = {"duration": "10s"}


@pytest.mark.parametrize("loss", [0, 0.001, 0.02])
@pytest.mark.parametrize("flows", [1, 3])
def test_reno_in_python_is_reno(loss: float, flows: int) -> None:
    link = SHORT | {"link.loss.rate": loss, "flows.count": flows}
    own = airtcp.run(LINK, 7, link, control=airtcp.Control)
    built_in = airtcp.run(LINK, 7, link | {"tcp.congestion_control": "reno"})
    ratio = own.summary["goodput_bps"] / built_in.summary["goodput_bps"]
    assert 0.95 < ratio < 1.05, ratio


def test_every_flow_of_every_run_has_an_instance() -> None:
    made: list[object] = []

    class Counting(airtcp.Control):
        def __init__(self) -> None:
            made.append(self)
            self.acks = 0

        def on_ack(self, socket: Socket) -> None:
            self.acks += 1
            super().on_ack(socket)

    link = SHORT | {"flows.count": 3}
    first = airtcp.run(LINK, 1, link, control=Counting)
    # One more is made to see whether the class can be.
    assert len(made) == 1 + 3
    again = airtcp.run(LINK, 1, link, control=Counting)
    assert len(made) == 1 + 6
    assert first == again
    assert first.controls == again.controls
    assert all(report["counters"]["acks"] > 100 for report in first.controls)


def test_the_order_of_calls_and_what_they_decide() -> None:
    calls: list[tuple[str, float]] = []

    class Recorded(airtcp.Control):
        def on_start(self, socket: Socket) -> None:
            calls.append(("start", socket.now_s))
            assert socket.min_rtt_s > 0
            assert math.isinf(socket.ssthresh)
            socket.cwnd = 4

        def on_ack(self, socket: Socket) -> None:
            calls.append(("ack", socket.cwnd))
            assert socket.acked > 0
            assert socket.mss > 500
            super().on_ack(socket)

        def on_loss(self, socket: Socket) -> float:
            calls.append(("loss", socket.cwnd))
            return 6.5

        def on_timeout(self, socket: Socket) -> float:
            calls.append(("timeout", socket.cwnd))
            return 3

    run = airtcp.run(LINK, 1, SHORT | {"link.loss.rate": 0.05}, control=Recorded)
    (flow,) = run.summary["flows"]
    kinds = [kind for kind, _ in calls]
    assert kinds[0] == "start"
    assert kinds.count("start") == 1
    assert calls[1] == ("ack", 4)
    assert 0 < kinds.count("loss") <= flow["fast_retransmits"]
    assert kinds.count("timeout") <= flow["timeouts"]
    after_loss = [
        window
        for (before, _), (kind, window) in pairwise(calls)
        if before == "loss" and kind == "ack"
    ]
    assert after_loss
    assert max(after_loss) <= 7.5


def test_a_control_that_paces_holds_its_rate() -> None:
    class Fixed(airtcp.Control):
        paces = True

        def on_ack(self, socket: Socket) -> None:
            socket.pacing_bps = 3e6
            socket.cwnd = 1000

    run = airtcp.run(LINK, 1, SHORT, control=Fixed)
    assert run.summary["goodput_bps"] == pytest.approx(3e6, rel=0.05)


class Faulty(airtcp.Control):
    """Raises an exception after a second."""

    def on_ack(self, socket: Socket) -> None:
        if socket.now_s > 1:
            _ = [][3]
        super().on_ack(socket)


def test_an_exception_ends_the_run_with_its_traceback() -> None:
    with pytest.raises(RunError, match=r"Faulty in Python, at 1\.\d+ s: IndexError") as caught:
        airtcp.run(LINK, 1, SHORT, control=Faulty)
    cause = caught.value.__cause__
    assert isinstance(cause, IndexError)
    (frame,) = traceback.extract_tb(cause.__traceback__)
    assert frame.line == "_ = [][3]"
    with pytest.raises(RunError, match="IndexError") as caught:
        airtcp.compare(LINK, ["westwood"], seeds=2, settings=SHORT, control=Faulty)
    assert isinstance(caught.value.__cause__, IndexError)


def test_an_exception_at_a_proxy_ends_the_run() -> None:
    class AtLoss(airtcp.Control):
        def on_loss(self, _: Socket) -> float:
            raise ArithmeticError("at the proxy")

    # Only the proxy's connection crosses the link that loses.
    lossy = SHORT | {"link.loss.rate": 0.01}
    with pytest.raises(RunError, match="at the proxy"):
        airtcp.run(LINK, 1, lossy, "split-tcp", control=AtLoss)


def test_ctrl_c_in_a_control_is_ctrl_c() -> None:
    class Interrupted(airtcp.Control):
        def on_ack(self, _: Socket) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        airtcp.run(LINK, 1, SHORT, control=Interrupted)


@pytest.mark.parametrize("window", ["7", None, -1.0, math.nan, math.inf])
def test_a_window_that_is_none_is_refused(window: float) -> None:
    class Wrong(airtcp.Control):
        def on_loss(self, _: Socket) -> float:
            return window

    class Setting(airtcp.Control):
        def on_ack(self, socket: Socket) -> None:
            socket.cwnd = window

    lossy = SHORT | {"link.loss.rate": 0.02}
    with pytest.raises(RunError, match=r"on_loss.*expected .*window in segments"):
        airtcp.run(LINK, 1, lossy, control=Wrong)
    with pytest.raises(RunError, match=r"cwnd|must be real number|float"):
        airtcp.run(LINK, 1, lossy, control=Setting)


def test_what_is_no_control_is_refused_before_a_run() -> None:
    class Needs(airtcp.Control):
        def __init__(self, beta: float) -> None:
            self.beta = beta

        def on_loss(self, socket: Socket) -> float:
            return socket.cwnd * self.beta

    with pytest.raises(ScenarioError, match=r"functools.partial\(Needs, …\)"):
        airtcp.run(LINK, control=Needs)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="give the class, not an instance"):
        airtcp.run(LINK, control=airtcp.Control())  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=r"has no method on_ack"):
        airtcp.run(LINK, control=dict)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="linux"):
        airtcp.run(LINK, settings={"tcp.profile": "newreno"}, control=airtcp.Control)
    half = airtcp.run(LINK, 1, SHORT, control=partial(Needs, 0.5))
    assert half.summary["goodput_bps"] > 0


def test_a_method_that_is_never_called_is_named_with_the_one_that_is() -> None:
    class Acks(airtcp.Control):
        def on_acks(self, socket: Socket) -> None:
            socket.cwnd = 1

    class Camel(airtcp.Control):
        def onLoss(self, socket: Socket) -> float:  # noqa: N802
            return socket.cwnd

    class Kernel(airtcp.Control):
        def ssthresh(self, socket: Socket) -> float:
            return socket.cwnd

    class Paced(airtcp.Control):
        paced = True

    for control, found, meant in (
        (Acks, "on_acks", "on_ack"),
        (Camel, "onLoss", "on_loss"),
        (Kernel, "ssthresh", "on_loss"),
        (Paced, "paced", "paces"),
    ):
        with pytest.raises(ScenarioError, match=rf"{found} is .*did you mean {meant}\?"):
            airtcp.run(LINK, 1, SHORT, control=control)

    class Fine(airtcp.Control):
        lossy = True

        def on_loss(self, socket: Socket) -> float:
            return self.ssthresh(socket)

        def ssthresh(self, socket: Socket) -> float:
            return max(socket.cwnd / 2, 2)

        def _on_idle(self) -> None: ...

    assert airtcp.run(LINK, 1, SHORT, control=Fine).summary["goodput_bps"] > 0


def test_a_rate_without_paces_is_refused() -> None:
    class Forgot(airtcp.Control):
        def on_ack(self, socket: Socket) -> None:
            socket.pacing_bps = 3e6

    with pytest.raises(RunError, match=r"socket.pacing_bps = 3000000.*`paces = True`"):
        airtcp.run(LINK, 1, SHORT, control=Forgot)


@pytest.mark.parametrize("segments", [0, 0.4])
def test_windows_of_no_segment_are_counted_and_told(segments: float) -> None:
    class Empty(airtcp.Control):
        def on_ack(self, socket: Socket) -> None:
            super().on_ack(socket)
            if socket.now_s > 8:
                socket.cwnd = segments

        def on_loss(self, _: Socket) -> float:
            return segments

    lossy = SHORT | {"link.loss.rate": 0.02}
    run = airtcp.run(LINK, 1, lossy, control=Empty)
    (report,) = run.controls
    assert report["zero_windows"] > 0
    assert report["zero_thresholds"] > 0
    assert run.summary["goodput_bps"] > 0
    compared = airtcp.compare(LINK, [], 2, lossy, control=Empty)
    (told,) = [line for line in compared.verdict if "of 0 segments" in line]
    name = compared.remedies[-1]
    assert told.startswith(f"{name} set a congestion window of 0 segments "), told
    assert told.endswith("in 2 of 2 runs; a window of 1 was used, where Linux would stall.")
    means = compared.table.filter(remedy=name)
    assert means["zero_windows"][0] > 0
    assert compared.cells["zero_windows"].to_list()[0] is None
    (fair,) = airtcp.run(LINK, 1, lossy, control=airtcp.Control).controls
    assert (fair["zero_windows"], fair["zero_thresholds"]) == (0, 0)


def test_a_comparison_has_a_row_for_it_and_names_the_way_on(tmp_path: Path) -> None:
    class Careful(airtcp.Control):
        def on_loss(self, _: Socket) -> float:
            return 2

    lossy = SHORT | {"link.loss.rate": 0.01}
    compared = airtcp.compare(
        LINK, ["westwood"], seeds=3, settings=lossy, control=[airtcp.Control, Careful], harm=True
    )
    rows = compared.table["remedy"].to_list()
    assert rows == ["baseline", "westwood", "python:Control", "python:Careful"]
    assert compared.harm.keys() == set(rows[1:])
    assert compared.ranked[-1] == "python:Careful"
    (sentence,) = deployed("python:Careful")
    assert "cannot be deployed" in sentence
    assert ".bpf.c" in sentence
    compared.report(tmp_path / "report")
    for key in ("out", "dask"):
        with pytest.raises(ScenarioError, match=f"{key} = .*write the control as a .bpf.c"):
            airtcp.compare(LINK, seeds=1, control=Careful, **{key: "elsewhere"})  # type: ignore[arg-type]


def test_another_process_does_not_have_it() -> None:
    class Here(airtcp.Control):
        pass

    run = airtcp.run(LINK, 1, SHORT, control=Here)
    code = "import sys, airtcp; airtcp.load_scenario(sys.stdin.read())"
    other = subprocess.run(
        [sys.executable, "-c", code],
        input=run.scenario.to_toml(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "python:Here: no such class in this process" in other.stderr


def test_the_examples_of_the_guide_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(blocks), {"__name__": "guide"})
    assert printed.getvalue().count("True") == 2
    assert "python:Patient(full=2)" in printed.getvalue()


def test_the_guide_has_every_attribute_of_a_socket() -> None:
    page = GUIDE.read_text(encoding="utf-8")
    names = [name for name in vars(Socket) if not name.startswith("_")]
    assert len(names) > 15
    for name in names:
        meaning = " ".join(getattr(Socket, name).__doc__.split())
        assert f"| `{name}` | {meaning} |" in page
