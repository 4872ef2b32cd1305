"""The report of a diagnosis: a self-contained page, and the findings as files."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np

from airtcp.core.files import write_whole
from airtcp.core.quantities import format_bytes
from airtcp.core.recordings.events import Events
from airtcp.core.recordings.log import PingLog
from airtcp.diagnosis.capture import SHARES
from airtcp.diagnosis.ping_result import PingDiagnosis
from airtcp.diagnosis.result import Diagnosis
from airtcp.pages.diagnosis_tables import (
    air_table,
    flows_table,
    hazard_table,
    labels_table,
    link_table,
    phases_table,
    round_trips_table,
    shares_table,
    trials_table,
)
from airtcp.pages.figures import PlannedFigure, drawn
from airtcp.pages.plot.bars import Bars
from airtcp.pages.plot.probes import PingTimeline
from airtcp.pages.plot.round_trips import RoundTrips
from airtcp.pages.plot.sequence import Sequence
from airtcp.pages.plot.svg import Drawing
from airtcp.pages.rendering import whole, write_page
from airtcp.pages.tables import Table, goodput_table

_MAX_FLOWS = 50


@whole
def write_report(diagnosis: Diagnosis, directory: Path, command: str | None = None) -> Path:
    """Writes index.html and its figures, link.toml, labels.parquet and annotated.pcapng.

    Raises:
        OSError: the directory cannot be written.
    """
    capture = diagnosis.capture
    files = ["labels.parquet"]
    labels = BytesIO()
    diagnosis.labels.write_parquet(labels)
    write_whole(directory / "labels.parquet", labels.getvalue())
    written = diagnosis.scenario
    if written is not None:
        written.write(directory, "link.toml")
        files += ["link.toml", *written.files]
    if capture.annotate is not None:
        capture.annotate(directory / "annotated.pcapng")
        files.append("annotated.pcapng")
    trials = diagnosis.trials
    return write_page(
        directory,
        "diagnosis.html.j2",
        command,
        diagnosis=diagnosis,
        path=capture.path,
        ranking=trials_table(trials, excluded=False) if trials else None,
        folded=trials_table(trials, excluded=True) if trials else None,
        trials=trials,
        figures=drawn(directory, list(_figures(diagnosis))),
        tables=list(_tables(diagnosis)),
        files=files,
        toml=written.toml if written else None,
    )


@whole
def write_ping_report(
    diagnosis: PingDiagnosis, directory: Path, command: str | None = None
) -> Path:
    """Writes index.html, link.toml and its files.

    Raises:
        OSError: the directory cannot be written.
    """
    link, log = diagnosis.link, diagnosis.log
    for name, content in link.contents().items():
        write_whole(directory / name, content)
    return write_page(
        directory,
        "diagnosis.html.j2",
        command,
        diagnosis=diagnosis,
        path=log.path,
        ranking=goodput_table(diagnosis.comparison) if diagnosis.comparison else None,
        folded=None,
        trials=None,
        figures=drawn(directory, list(_ping_figures(log, diagnosis.events))),
        tables=[],
        files=["link.toml", *link.files],
        toml=diagnosis.toml,
    )


def pictures_of_capture(diagnosis: Diagnosis) -> list[Drawing]:
    """The figures of a capture's report, the first one first."""
    return [planned.drawing for planned in _figures(diagnosis)]


def pictures_of_ping(log: PingLog, events: Events) -> list[Drawing]:
    """The figure of a ping log's report."""
    return [planned.drawing for planned in _ping_figures(log, events)]


def _ping_figures(log: PingLog, events: Events) -> Iterator[PlannedFigure]:
    stops, gaps = (
        tuple(zip(spans.start_s.tolist(), spans.length_s.tolist(), strict=True))
        for spans in (events.stops, events.gaps)
    )
    lost_s = log.time_s[events.alone]
    yield PlannedFigure(
        "probes",
        "What the probes met",
        "The round trip of each probe by the time at which it was sent. Stops, in which answers "
        "wait, and gaps, in which everything is lost, are shaded; marks at the bottom are probes "
        "lost one by one.",
        PingTimeline(log.time_s, log.rtt_s, log.least_s, stops, gaps, lost_s),
        round_trips_table(log.time_s, log.rtt_s),
    )


def _figures(diagnosis: Diagnosis) -> Iterator[PlannedFigure]:
    capture, flow = diagnosis.capture, diagnosis.flow
    facts = capture.facts
    tables = capture.tables
    acks, segments, labels = tables.acks, tables.segments, tables.labels
    if facts is None or not len(segments):
        return
    stops = diagnosis.link.stops.stops if diagnosis.link else ()
    phases = diagnosis.phases
    spans = tuple((stop.start_s, stop.length_s) for stop in stops)
    if flow is not None and flow.sampled.any():
        yield PlannedFigure(
            "round-trips",
            "How long data waits",
            "The round trip of what was sent at each time: its median and its range. Marks at the "
            "bottom are retransmissions in the colour of their cause; stops are shaded.",
            RoundTrips(
                flow.sent_s,
                flow.rtt_s,
                flow.base_rtt_s,
                labels,
                spans,
                tuple((one.from_s, one.until_s, one.base_rtt_s, one.limit) for one in phases),
            ),
            round_trips_table(flow.sent_s, flow.rtt_s),
        )
    order = np.argsort(acks.time_ns, kind="stable")
    sequence = Sequence(
        segments.time_ns / 1e9,
        segments.start.astype(np.float64),
        segments.end.astype(np.float64),
        acks.time_ns[order] / 1e9,
        np.maximum.accumulate(acks.ack[order]).astype(np.float64),
        labels,
        spans,
    )
    yield PlannedFigure(
        "sequence",
        "What was sent, and when it was acknowledged",
        "Offsets in the byte stream against time, as tcptrace draws them. Marks are "
        "retransmissions in the colour of their cause; stops of the link are shaded.",
        sequence,
        labels_table(labels),
    )
    shares = {name: 100 * share for name, share in facts["shares"].items()}
    if shares:
        yield PlannedFigure(
            "shares",
            "Where the time went",
            "Each moment of the flow belongs to what limited it; the shares sum to one.",
            Bars(
                tuple(SHARES.get(name, name) for name in shares),
                tuple(shares.values()),
                "share of the time (%)",
            ),
            shares_table(facts),
        )
    # A range without a loss is a row of the table, but has no bar.
    hazard = capture.tables.hazard
    lossy = [one for one in hazard if one.lost]
    if lossy:
        yield PlannedFigure(
            "hazard",
            "Losses by the queue that a packet found",
            "A full queue loses where most is queued; a radio loses alike everywhere. Ranges "
            "without a loss are in the table alone.",
            Bars(
                tuple(format_bytes(one.queue_bytes_low) for one in lossy),
                tuple(100 * one.lost / one.transmissions for one in lossy),
                "packets lost (%)",
                2,
            ),
            hazard_table(hazard),
        )


def _tables(diagnosis: Diagnosis) -> Iterator[tuple[str, Table, str]]:
    if diagnosis.link is not None:
        yield (
            "The link",
            link_table(diagnosis.link),
            "Fitted to this capture; link.toml is the same as a scenario, which `airtcp run`, "
            "`compare` and `verify` take.",
        )
    if diagnosis.phases:
        yield (
            "The phases of the path",
            phases_table(diagnosis.phases),
            "The rate is that of the busiest tenth of quarter seconds: the link has at least that.",
        )
    air = diagnosis.capture.air
    if air is not None and air.pairs:
        yield (
            "Airtime",
            air_table(air),
            "By the modes and lengths of the frames that the monitor heard, of all airtime heard.",
        )
    flows = diagnosis.capture.tables.flows
    if len(flows) > 1:
        yield ("All flows", flows_table(flows[:_MAX_FLOWS]), "")
