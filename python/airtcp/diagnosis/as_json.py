"""Diagnoses as one JSON object."""

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from airtcp import _core
from airtcp.comparison.ranking.as_json import ranking_json

if TYPE_CHECKING:
    from airtcp.diagnosis.capture import Capture
    from airtcp.diagnosis.link import FittedLink
    from airtcp.diagnosis.ping_answer import AtRate
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.diagnosis.trials import Trials


def of_capture(diagnosis: "Diagnosis") -> dict[str, object]:
    """A capture's diagnosis, with one row per label and without the transmissions."""
    capture = diagnosis.capture
    most = diagnosis.ceiling
    replay = diagnosis.replay
    return {
        "engine_version": _core.engine_version,
        "file": str(capture.path),
        "headline": diagnosis.headline,
        "sentences": diagnosis.sentences,
        "findings": [asdict(one) for one in diagnosis.findings],
        "limits": diagnosis.limits,
        "refusals": list(diagnosis.reasons),
        "facts": None
        if capture.facts is None
        else dict(capture.facts) | {"acking": asdict(capture.facts["acking"])},
        "flows": [asdict(one) for one in capture.tables.flows],
        "labels": _labels(capture),
        "phases": [asdict(one) for one in diagnosis.phases],
        "link": None if diagnosis.link is None else _link(diagnosis.link),
        "scenario": None if diagnosis.scenario is None else diagnosis.scenario.toml,
        "ceiling": None if most is None else asdict(most),
        "latency": None if diagnosis.latency is None else asdict(diagnosis.latency),
        "replay": None if replay is None else asdict(replay) | {"explains": replay.explains},
        "predictions": [asdict(one) | {"holds": one.holds} for one in diagnosis.predictions],
        "trials": _trials(diagnosis.trials),
        "ranking": None if diagnosis.trials is None else ranking_json(diagnosis.trials.ranking),
        "deployment": diagnosis.deployment,
        "quic": None if capture.quic is None else asdict(capture.quic),
        "air": None if capture.air is None else asdict(capture.air),
    }


def _labels(capture: "Capture") -> list[dict[str, object]]:
    """The rows of `Capture.labels`, with their times of day as text."""
    if capture.facts is None or capture.read is None:
        return []
    table = capture.read.labels()
    at_ns = capture.begun_ns + table.wholes("time_ns")
    times = np.datetime_as_string(at_ns.astype("datetime64[ns]")).tolist()
    return [
        {"flow": capture.facts["flow"], "time_utc": f"{time.replace('T', ' ')}+00:00", **row}
        for time, row in zip(times, table.rows(), strict=True)
    ]


def of_ping(diagnosis: "PingDiagnosis") -> dict[str, object]:
    """A ping log's diagnosis."""
    log, compared = diagnosis.log, diagnosis.comparison
    return {
        "engine_version": _core.engine_version,
        "file": str(log.path),
        "headline": diagnosis.headline,
        "sentences": diagnosis.sentences,
        "refusals": [log.refusal] if log.refusal else [],
        "sent": log.sent,
        "lost": log.lost,
        "median_rtt_s": log.median_s,
        "interval_s": log.interval_s,
        "clock": log.clock,
        "findings": [asdict(one) for one in diagnosis.findings],
        "scenario": diagnosis.toml,
        "files": diagnosis.link.files,
        "remedies": None if compared is None else compared.rows.records(),
        "ranking": None if compared is None else ranking_json(compared.ranking),
        "rates": [
            {
                "rate": one.rate,
                "reading": one.reading.value,
                "best": one.best,
                "ranking": ranking_json(one.comparison.ranking),
            }
            for one in _further(diagnosis)
        ],
        "deployment": diagnosis.deployment,
    }


def _further(diagnosis: "PingDiagnosis") -> list["AtRate"]:
    answer = diagnosis.answer
    if answer is None:
        return []
    return [*answer.rates, *([answer.waited] if answer.waited else [])]


def _link(link: "FittedLink") -> dict[str, object]:
    rate = link.rate
    loss = link.loss
    process = link.stops
    return {
        "rate_bps": rate.bps,
        "rate_is_constant": rate.is_constant,
        "rate_interpolated_share": rate.interpolated,
        "rate_bounds_bps": None if rate.bounds is None else list(rate.bounds),
        "rate_step": None if rate.step is None else asdict(rate.step),
        "policer": None if link.drops.policer is None else asdict(link.drops.policer),
        "aqm_target_s": link.drops.aqm_target_s,
        "aqm_bounds_s": None if link.drops.aqm_bounds_s is None else list(link.drops.aqm_bounds_s),
        "marks": link.drops.marks,
        "late": None if link.late is None else asdict(link.late),
        "jitter": None if link.jitter is None else asdict(link.jitter),
        "beside": None if link.beside is None else asdict(link.beside),
        "is_shared": link.is_shared,
        "aggregates": None if link.aggregates is None else asdict(link.aggregates),
        "wifi": None if link.wifi is None else asdict(link.wifi),
        "wifi_alike": [asdict(one) for one in link.wifi_alike],
        "base_rtt_s": link.base_rtt_s,
        "delay_s": link.delay_s,
        "queue_packets": link.queue.packets,
        "queue_is_known": link.queue.is_known,
        "loss_rate": loss.rate,
        "loss_interval": list(loss.interval),
        "bursts": None if loss.bursts is None else asdict(loss.bursts),
        "stops": [
            {
                "start_s": stop.start_s,
                "length_s": stop.length_s,
                "is_cut": stop.is_cut,
                "released_share": None if math.isnan(stop.released_share) else stop.released_share,
            }
            for stop in process.stops
        ],
        "stops_are_held": process.are_held if process.stops else None,
    }


def _trials(trials: "Trials | None") -> dict[str, object] | None:
    if trials is None:
        return None
    return {
        "baseline_bps": trials.baseline_bps,
        "open_point": trials.open_point,
        "runs": trials.runs,
        "winner": None if trials.winner is None else trials.winner.remedy,
        "remedies": [asdict(row) | {"depends_on_open_point": row.depends} for row in trials.rows],
    }
