//! Measurements made under load, and their share of the link.

use airtcp_scenario::Companion;
use airtcp_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

use super::responsiveness::{KEPT_PERMILLE, foreign, own, trimmed_mean};
use crate::engine::{Flow, Histogram, LATE};
use crate::traffic::VisitTimes;

/// Packets of a call on each way that are younger than [`LATE`]: one every 20 ms.
const YOUNG_PACKETS: u64 = LATE.as_nanos() / 20_000_000;

/// The measurements requested by `flows.under_load`; null if not requested. A connection that was
/// not finished at the end counts with the time that it had taken so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(inline, title = "UnderLoadSummary")]
pub struct UnderLoadSummary {
    /// Median round trip of echo requests, within 1 %.
    pub ping_p50_ms: Option<f64>,
    /// 95th percentile of these round trips, within 1 %.
    pub ping_p95_ms: Option<f64>,
    /// 99th percentile of these round trips, within 1 %.
    pub ping_p99_ms: Option<f64>,
    /// Share of the echo requests that were lost, or had their answer lost; 0 to 1.
    pub ping_lost: Option<f64>,
    /// Connections that were opened for one request.
    pub exchanges: u64,
    /// Exchanges not finished at the end.
    pub exchanges_unfinished: u64,
    /// Median time of an exchange: TCP handshake, TLS, a request and its answer.
    pub exchange_p50_ms: Option<f64>,
    /// 95th percentile of the exchanges' times.
    pub exchange_p95_ms: Option<f64>,
    /// 99th percentile of the exchanges' times.
    pub exchange_p99_ms: Option<f64>,
    /// Responsiveness of connections other than the load's, in round trips per minute
    /// (draft-ietf-ippm-responsiveness): from the exchanges.
    pub rpm_foreign: Option<f64>,
    /// Responsiveness of the load's connections, in round trips per minute: from the round trips of
    /// their packets.
    pub rpm_own: Option<f64>,
    /// Responsiveness: the mean of both.
    pub rpm: Option<f64>,
    /// Share of a call's packets that were lost, or took longer than 100 ms one way; both ways
    /// together, 0 to 1.
    pub call_late: Option<f64>,
    /// Downloads of 30 kB that were begun.
    pub short_flows: u64,
    /// Downloads not finished at the end.
    pub short_flows_unfinished: u64,
    /// Their mean time, from the first segment to the last byte.
    pub short_flow_mean_s: Option<f64>,
    /// 95th percentile of their times.
    pub short_flow_p95_s: Option<f64>,
    /// Pages that were begun.
    pub pages: u64,
    /// Pages not finished at the end.
    pub pages_unfinished: u64,
    /// Mean time to load a page, from the first segment to the last byte.
    pub page_mean_s: Option<f64>,
    /// 95th percentile of the pages' times.
    pub page_p95_s: Option<f64>,
    /// Bits per second of data that all of these add to the load, from its start to the end, both
    /// ways, without headers.
    pub added_bps: f64,
}

/// The connections of a kind.
struct Visits {
    times: Vec<VisitTimes>,
    end: Instant,
}

impl Visits {
    fn of(flows: &[Flow], kind: Companion, end: Instant) -> Self {
        let chosen = flows.iter().filter(|flow| flow.under_load() == Some(kind));
        Self {
            times: chosen.filter_map(Flow::visit).collect(),
            end,
        }
    }

    fn count(&self) -> u64 {
        self.times.len() as u64
    }

    fn unfinished(&self) -> u64 {
        let is_open = |visit: &&VisitTimes| visit.steps.last().is_none_or(Option::is_none);
        self.times.iter().filter(is_open).count() as u64
    }

    /// The whole times in milliseconds, ascending.
    fn whole_ms(&self) -> Vec<f64> {
        let whole = |visit: &VisitTimes| {
            let steps: Option<Duration> = visit
                .steps
                .iter()
                .try_fold(visit.handshake?, |sum, step| Some(sum + (*step)?));
            steps
        };
        let so_far = |visit: &VisitTimes| self.end - visit.start;
        let times = self.times.iter();
        let mut found: Vec<f64> = times
            .map(|visit| {
                whole(visit)
                    .unwrap_or_else(|| so_far(visit))
                    .as_millis_f64()
            })
            .collect();
        found.sort_unstable_by(f64::total_cmp);
        found
    }

    /// The trimmed mean of one part in milliseconds: 0 the handshake, then the steps. A part that
    /// was not reached is left out: the previous one has its time.
    fn part_ms(&self, part: usize) -> Option<f64> {
        let mut found = Vec::with_capacity(self.times.len());
        for visit in &self.times {
            let parts = std::iter::once(visit.handshake).chain(visit.steps.iter().copied());
            let mut before = Duration::ZERO;
            for (number, took) in parts.enumerate() {
                if number == part {
                    let so_far = self.end - (visit.start + before);
                    found.push(took.unwrap_or(so_far).as_millis_f64());
                }
                let Some(took) = took else { break };
                before += took;
            }
        }
        trimmed_mean(&mut found)
    }
}

impl UnderLoadSummary {
    /// Creates the numbers of the measurements `under_load` the flows of the `load`.
    pub(crate) fn of(load: &[Flow], under_load: &[Flow], duration: Duration) -> Self {
        let end = Instant::ZERO + duration;
        let exchanges = Visits::of(under_load, Companion::Exchange, end);
        let short_flows = Visits::of(under_load, Companion::ShortFlow, end);
        let pages = Visits::of(under_load, Companion::Page, end);
        let (exchange, short_flow, page) = (
            exchanges.whole_ms(),
            short_flows.whole_ms(),
            pages.whole_ms(),
        );
        let parts = [0, 1, 2].map(|part| exchanges.part_ms(part));
        let rpm_foreign = match parts {
            [Some(tcp), Some(tls), Some(http)] => Some(foreign(tcp, tls, http)),
            _ => None,
        };
        let mut round_trips = <Histogram>::default();
        for flow in load {
            round_trips.merge(flow.latency().round_trips());
        }
        let rpm_own = round_trips
            .trimmed_mean_ms(KEPT_PERMILLE)
            .filter(|_| exchanges.count() > 0)
            .map(own);
        let ping = under_load
            .iter()
            .find(|flow| flow.under_load() == Some(Companion::Ping));
        let ping_ms = |percent: u64| {
            let found = ping?.latency().round_trips().quantile(10 * percent);
            found.map(Duration::as_millis_f64)
        };
        Self {
            ping_p50_ms: ping_ms(50),
            ping_p95_ms: ping_ms(95),
            ping_p99_ms: ping_ms(99),
            ping_lost: ping.and_then(ping_lost),
            exchanges: exchanges.count(),
            exchanges_unfinished: exchanges.unfinished(),
            exchange_p50_ms: quantile(&exchange, 50),
            exchange_p95_ms: quantile(&exchange, 95),
            exchange_p99_ms: quantile(&exchange, 99),
            rpm_foreign,
            rpm_own,
            rpm: rpm_foreign
                .zip(rpm_own)
                .map(|(one, other)| f64::midpoint(one, other)),
            call_late: call_late(under_load),
            short_flows: short_flows.count(),
            short_flows_unfinished: short_flows.unfinished(),
            short_flow_mean_s: mean(&short_flow).map(seconds),
            short_flow_p95_s: quantile(&short_flow, 95).map(seconds),
            pages: pages.count(),
            pages_unfinished: pages.unfinished(),
            page_mean_s: mean(&page).map(seconds),
            page_p95_s: quantile(&page, 95).map(seconds),
            added_bps: added_bps(under_load, end),
        }
    }
}

fn seconds(milliseconds: f64) -> f64 {
    milliseconds / 1e3
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value that `percent` of the ascending `values` do not exceed (nearest rank).
fn quantile(values: &[f64], percent: usize) -> Option<f64> {
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

fn ping_lost(flow: &Flow) -> Option<f64> {
    let counts = flow.datagrams();
    let lost = counts.lost + counts.answers_lost;
    let decided = counts.answered + lost;
    (decided > 0).then(|| lost as f64 / decided as f64)
}

/// Packets still in flight count as late, except the young ones.
fn call_late(under_load: &[Flow]) -> Option<f64> {
    let calls = under_load
        .iter()
        .filter(|flow| flow.under_load() == Some(Companion::Call));
    let (mut late, mut all) = (0, 0);
    for counts in calls.map(Flow::datagrams) {
        let under_way = counts.sent - counts.received - counts.lost;
        let young = under_way.min(YOUNG_PACKETS);
        late += counts.late + counts.lost + (under_way - young);
        all += counts.sent - young;
    }
    (all > 0).then(|| late as f64 / all as f64)
}

fn added_bps(under_load: &[Flow], end: Instant) -> f64 {
    let begin = under_load.iter().map(Flow::start).min().unwrap_or(end);
    let bytes: u64 = under_load
        .iter()
        .map(|flow| flow.delivered() + flow.client().receiver().received())
        .sum();
    let seconds = (end - begin).as_secs_f64();
    if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds
    } else {
        0.0
    }
}
