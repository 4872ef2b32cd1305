"""Fitted values at their edges: the whole path from a capture or a log to sentence and scenario."""

import json
import math
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import airtcp
from airtcp import Scenario, ScenarioError
from airtcp._core import CaptureError
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.link import Reading, played_link
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.advise import probes
from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.beside import Beside
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.drops import Drops, Policer
from airtcp.diagnosis.jitter import Jitter, without_outdated
from airtcp.diagnosis.late import Late
from airtcp.diagnosis.limits import limits, seen_limits
from airtcp.diagnosis.link_words import link_words
from airtcp.diagnosis.loss import Bursts, Loss
from airtcp.diagnosis.ping_findings import find, said
from airtcp.diagnosis.queue import Queue
from airtcp.diagnosis.rate import Rate, Step
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.scenario import Stack, modelled, replayed
from airtcp.diagnosis.stop_words import stop_advice, stop_words
from airtcp.diagnosis.stops import Stop, StopProcess

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

from packets import Connection, write

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

EXAMPLES = int(os.environ.get("AIRTCP_EDGES", "40"))
NO_NUMBER = re.compile(r"\b(nan|inf|-inf|None)\b")
INNER = re.compile(r"(link\.toml|stops\.csv|lost\.csv|path\.csv|rate\.opportunities):")

TIMES = st.sampled_from((0.0, 1e-9, 1e-6, 0.001, 0.04, 1.0, 3e3, 1e7))
"""Seconds."""
RATES = st.sampled_from((0.0, 0.4, 1.0, 3e4, 1e7, 9.9e11, 4.2e12, 1e300))
SHARES = st.sampled_from((0.0, 1e-12, 0.004, 0.5, 1.0))
COUNTS = st.sampled_from((0, 1, 2, 5, 10**7))


@pytest.fixture(scope="module", autouse=True)
def _short_recordings() -> Iterator[None]:
    """A recorded rate of a terabit a second is cut at fewer lines than in earnest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("airtcp.diagnosis.scenario.MAX_OPPORTUNITIES", 10_000)
        yield


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A diagnosis whose fitted values are replaced."""
    path = tmp_path_factory.mktemp("capture") / "a.pcapng"
    scenario = {"duration": "8 s", "link.rate": "2 Mbit/s", "link.loss.rate": 0.02}
    airtcp.run("lossy-pipe", settings=scenario, pcap=path)
    return diagnosed(read_capture(path, None, None), None)


@st.composite
def rates(draw: st.DrawFn) -> Rate:
    """A rate with some of its parts."""
    bps, low, high = draw(RATES), draw(RATES), draw(RATES)
    steps = draw(st.none() | st.lists(RATES, min_size=1, max_size=4).map(np.array))
    bounds = draw(st.none() | st.just((low, high)))
    at_bounds = None if bounds is None or steps is None else (steps, steps * 2)
    step = draw(st.none() | st.builds(Step, TIMES, RATES, RATES))
    samples = draw(st.lists(RATES, max_size=3).map(np.array))
    source = draw(st.sampled_from(("queue", "dispersion", "bounds", "long windows", "given")))
    return Rate(bps, steps, draw(SHARES), draw(SHARES), samples, source, bounds, at_bounds, step)


STOPS = st.builds(
    StopProcess,
    st.lists(st.builds(Stop, TIMES, TIMES, st.sampled_from((0.0, 1.0, math.nan))), max_size=6).map(
        lambda stops: tuple(sorted(stops, key=lambda one: one.start_s))
    ),
    TIMES,
    st.booleans(),
)
LOSSES = st.builds(
    lambda sent, lost, bursts: Loss(sent, min(sent, lost), bursts),
    COUNTS,
    COUNTS,
    st.none() | st.builds(Bursts, SHARES, SHARES.filter(bool), SHARES),
)
DROPS = st.builds(
    Drops,
    st.none() | st.builds(Policer, RATES, RATES),
    st.none() | TIMES,
    st.booleans(),
    st.none() | st.tuples(TIMES, TIMES),
    st.sampled_from(("codel", "pie")),
)


FITTED = st.fixed_dictionaries(
    {
        "rate": rates(),
        "base_rtt_s": TIMES,
        "delay_s": TIMES,
        "queue": st.builds(Queue, COUNTS, st.booleans()),
        "loss": LOSSES,
        "stops": STOPS,
        "drops": DROPS,
        "beside": st.none()
        | st.builds(Beside, st.integers(1, 3), SHARES, st.booleans(), RATES, st.booleans()),
        "late": st.none() | st.builds(Late, SHARES, TIMES),
        "jitter": st.none() | st.builds(Jitter, TIMES, SHARES, st.booleans()),
        "phases": st.just(()) | st.tuples(st.tuples(st.just(0.0), TIMES)),
    }
)
STACKS = st.builds(Stack, st.just("linux"), COUNTS, st.booleans(), st.booleans(), COUNTS)


@settings(max_examples=EXAMPLES)
@given(
    fitted=FITTED,
    stack=STACKS,
    seconds=TIMES,
    phase=st.none() | st.just(0.5),
    later=st.sampled_from((-4, 0, 4)),
)
def test_a_link_of_any_fitted_values_is_a_scenario_and_a_sentence(
    found: Diagnosis,
    fitted: dict[str, Any],
    stack: Stack,
    seconds: float,
    phase: float | None,
    later: int,
) -> None:
    assert found.link is not None
    assert found.flow is not None
    link = replace(found.link, **fitted)
    loaded(modelled(link, stack, seconds, phase))
    loaded(replayed(link, found.flow, stack, later))
    facts = found.capture.facts
    assert facts is not None
    words = [link_words(link), *limits(facts, found.flow, link, found.capture.tables.labels)]
    words += seen_limits(facts, found.flow, link, found.capture.tables.labels)
    words += [stop_words(link.stops, seconds) or ""]
    words += stop_advice(link.stops, seconds, link.base_rtt_s)
    for text in words:
        assert not NO_NUMBER.search(text), text


def test_repairs_that_overtake_leave_the_flow_its_arrays(found: Diagnosis) -> None:
    assert found.flow is not None
    for mean_s in (0.0, 0.01, 1e6):
        changed = without_outdated(found.flow, Jitter(mean_s, 0.1))
        assert len(changed.dropped) == len(found.flow.sent_s)
        assert (changed.dropped >= found.flow.dropped).all()
    alone = replace(found.flow, attempt=np.zeros_like(found.flow.attempt))
    assert without_outdated(alone, Jitter(0.01, 0.1)) is alone


GAPS = st.sampled_from((0.0, 1e-9, 1e-6, 1e-3, 0.04, 0.25, 5.0, 1e5))
SIZES = st.sampled_from((0, 1, 47, 536, 1448, 60_000))


@st.composite
def connections(draw: st.DrawFn) -> Connection:
    """A few packets of a connection, or some hundreds of one kind, at times that may be equal."""
    flow = Connection(
        window=draw(st.sampled_from((0, 1, 65_536, 8_000_000))),
        has_timestamps=draw(st.booleans()),
        is_reverse=draw(st.booleans()),
    )
    if draw(st.booleans()):
        flow.open(0.0, draw(GAPS), is_at_client=draw(st.booleans()))
    at, start = draw(GAPS), 0
    size, gap, rtt = draw(SIZES), draw(GAPS), draw(GAPS)
    for number in range(draw(st.sampled_from((0, 1, 2, 3, 12, 200)))):
        flow.data(at, start, size)
        if number % draw(st.sampled_from((1, 2, 3, 7))) == 0:
            flow.ack(at + rtt, start + size)
        start += 0 if number % 11 == 10 else size
        at += gap
    return flow


@settings(max_examples=EXAMPLES)
@given(flow=connections())
def test_any_few_packets_have_an_answer(flow: Connection) -> None:
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.pcap", flow)
        try:
            answer = diagnosed(read_capture(path, None, None), None)
        except CaptureError:
            return
        said_of_it = "\n".join([*answer.sentences, *answer.deployment, *probes(answer)])
        assert not NO_NUMBER.search(said_of_it), said_of_it
        assert not INNER.search(said_of_it), said_of_it
        json.dumps(of_capture(answer), default=str)
        if answer.scenario is not None:
            Scenario.load(answer.scenario.write(Path(folder) / "out", "link.toml"))


@st.composite
def logs(draw: st.DrawFn) -> str:
    """The output of `ping -D` with few probes, round trips of nothing or an hour, equal times."""
    count = draw(st.sampled_from((0, 1, 2, 29, 30, 31, 300)))
    interval = draw(st.sampled_from((0.0, 1e-6, 0.2, 1.0, 3600.0)))
    rtt_ms = draw(st.sampled_from(("0", "0.000", "0.4", "20", "1e-9", "3600000")))
    lost = draw(st.sampled_from((1, 2, 3, 10**9)))
    has_times = draw(st.booleans())
    lines = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    for number in range(1, count + 1):
        if number % lost == 0 and draw(st.booleans()):
            continue
        stamp = f"[{1_700_000_000 + number * interval:.6f}] " if has_times else ""
        lines.append(f"{stamp}64 bytes from 192.0.2.1: icmp_seq={number} ttl=55 time={rtt_ms} ms")
    if draw(st.booleans()):
        lines += ["", "--- 192.0.2.1 ping statistics ---"]
        lines.append(f"{count} packets transmitted, {len(lines) - 3} received, time 100ms")
    return "\n".join(lines) + "\n"


@settings(max_examples=EXAMPLES)
@given(text=logs())
def test_any_log_has_an_answer_or_is_refused(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.ping"
        path.write_text(text)
        try:
            log = read_ping(path)
        except ScenarioError as error:
            refused = str(error)
        else:
            refused = log.refusal
        if refused:
            assert not INNER.search(refused), refused
            return
        events = find_events(log)
        for line in (*said(log, find(log, events)), *(one.advice for one in find(log, events))):
            assert not NO_NUMBER.search(line), line
        for reading in Reading:
            link = played_link(log, events, "12 Mbit/s", reading)
            Scenario.load(link.write(Path(folder) / reading.name))
