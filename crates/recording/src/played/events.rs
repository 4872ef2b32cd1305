//! Events that a link needs of a ping log: stops, gaps, steps of the base delay, isolated losses.
//!
//! A probe samples the link at one instant; an event is shown by several consecutive samples.

use super::sleep::sleep;
use super::timed::TimedLog;
use super::{quantile, sorted};

/// Largest probability of a run of unanswered probes by chance, for it to be a gap.
const RARE: f64 = 0.05;
/// Largest spacing of simultaneous answers to successive probes, in intervals.
const AT_ONCE: f64 = 0.35;
/// Least extra delay of a probe that may have waited for a stop's end, in intervals.
const WAITED: f64 = 0.5;
/// This many simultaneous answers are a stop.
const SEVERAL: usize = 3;
/// So are two, if the first of them waited as long, in seconds.
const LONG_S: f64 = 1.0;
/// Least probes on each side of a step of the base delay, and the least time that it lasts.
const STEP_PROBES: usize = 12;
const STEP_LASTS_S: f64 = 5.0;
/// Least change of the median by a step, in seconds and as a share of the base delay.
const MIN_STEP_S: f64 = 0.01;
const STEP_SHARE: f64 = 0.25;
/// Largest number of round trips examined in a window, evenly spread.
const MAX_IN_WINDOW: usize = 64;

/// An event: its start and length, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// From the first probe of the log.
    pub start_s: f64,
    /// How long it lasts.
    pub length_s: f64,
}

/// Events of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// Runs of unanswered probes too long for chance: everything was lost for a time.
    pub gaps: Vec<Span>,
    /// Periods without answers that end with all answers at once.
    pub stops: Vec<Span>,
    /// By probe: whether it was lost outside gaps.
    pub alone: Vec<bool>,
    /// By probe: whether it waited for the end of a stop.
    pub stopped: Vec<bool>,
    /// By probe: the usual round trip, with persistent steps of the base delay.
    pub usual_s: Vec<f64>,
    /// First probe after each persistent step of the base delay.
    pub steps: Vec<usize>,
    /// The longest wait for a radio in power save; `None` without power save.
    pub sleep_s: Option<f64>,
}

impl Events {
    /// The events of a log with at least one answer.
    #[must_use]
    pub fn of(log: &TimedLog) -> Self {
        let lost: Vec<bool> = log.rtt_s.iter().map(|rtt| rtt.is_nan()).collect();
        let in_gap = in_gaps(&lost);
        let (stopped, stops) = stops(log);
        let (steps, levels) = steps(log, &stopped);
        let awake = log.rtt_s.iter().zip(&stopped);
        Self {
            gaps: spans_of_gaps(log, &in_gap),
            stops,
            alone: lost
                .iter()
                .zip(&in_gap)
                .map(|(lost, gap)| *lost && !gap)
                .collect(),
            usual_s: repeated(&levels, &steps, log.rtt_s.len()),
            steps,
            sleep_s: sleep(awake.filter(|(_, stopped)| !**stopped).map(|(rtt, _)| *rtt)),
            stopped,
        }
    }

    /// Share of the probes lost outside gaps, with losses at unknown times.
    #[must_use]
    pub fn loss_rate(&self, log: &TimedLog) -> f64 {
        let alone = self.alone.iter().filter(|&&lost| lost).count() as u64;
        let unanswered = log.rtt_s.iter().filter(|rtt| rtt.is_nan()).count() as u64;
        let outside = log.rtt_s.len() as u64 - (unanswered - alone) + log.unplaced;
        (alone + log.unplaced) as f64 / outside.max(1) as f64
    }
}

/// Start and end (excluded) of each run of true values.
fn runs(flags: &[bool]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut first = 0;
    for part in flags.chunk_by(|a, b| a == b) {
        if part[0] {
            found.push((first, first + part.len()));
        }
        first += part.len();
    }
    found
}

/// The lost probes in runs longer than independent losses make.
fn in_gaps(lost: &[bool]) -> Vec<bool> {
    let found = runs(lost);
    let mut in_gap = vec![false; lost.len()];
    let longest = found
        .iter()
        .map(|(first, end)| end - first)
        .max()
        .unwrap_or(1);
    // How many runs there are of each length: a log may have a run for each second probe.
    let mut of_length = vec![0_usize; longest + 1];
    for (first, end) in &found {
        of_length[end - first] += 1;
    }
    let unanswered: usize = found.iter().map(|(first, end)| end - first).sum();
    let mut shorter = of_length.get(1).copied().unwrap_or(0);
    for (shortest, of_shortest) in of_length.iter().enumerate().skip(2) {
        let rest = lost.len() - (unanswered - shorter);
        let rate = shorter as f64 / rest.max(1) as f64;
        if lost.len() as f64 * (1.0 - rate) * rate.powi(shortest as i32) < RARE {
            for (first, end) in found {
                in_gap[first..end].fill(end - first >= shortest);
            }
            break;
        }
        shorter += shortest * of_shortest;
    }
    in_gap
}

/// Gaps by their length: k probes last between k - 1 and k + 1 intervals.
///
/// A gap is taken to last k intervals from half an interval before its first probe. A gap at an end
/// of the log was only observed in part.
fn spans_of_gaps(log: &TimedLog, in_gap: &[bool]) -> Vec<Span> {
    let half = log.interval_s / 2.0;
    let span = |(first, end): (usize, usize)| {
        let start_s = (log.time_s[first] - half).max(0.0);
        Span {
            start_s,
            length_s: log.time_s[end - 1] + half - start_s,
        }
    };
    runs(in_gap).into_iter().map(span).collect()
}

/// Probes answered all at once after the first of them had waited, and the stops.
///
/// The first probe that waited was sent up to an interval after the stop began. If stops are all
/// alike, all of them are as long as the longest wait.
fn stops(log: &TimedLog) -> (Vec<bool>, Vec<Span>) {
    let (base, interval) = (log.least_s(), log.interval_s);
    let count = log.rtt_s.len();
    let came = |at: usize| log.time_s[at] + log.rtt_s[at];
    // NaN compares as false: an unanswered probe is in no stop.
    let is_near = |at: usize| (came(at) - came(at - 1)).abs() < AT_ONCE * interval;
    let has_waited = |at: usize| log.rtt_s[at] - base >= WAITED * interval;
    let mut stopped = vec![false; count];
    let mut spans = Vec::new();
    let mut first = 0;
    while first < count {
        let mut last = first;
        while last + 1 < count && is_near(last + 1) && has_waited(last) {
            last += 1;
        }
        let length_s = log.rtt_s[first] - base;
        let is_stop = (last - first + 1 >= SEVERAL || length_s >= LONG_S) && last > first;
        if is_stop && length_s > interval {
            // The last answer may be for a probe that waited only for a small part of an interval.
            stopped[first..=last].fill(true);
            spans.push(Span {
                start_s: log.time_s[first],
                length_s,
            });
        }
        first = last + 1;
    }
    let lengths = sorted(spans.iter().map(|span| span.length_s));
    if let (Some(least), Some(most)) = (lengths.first(), lengths.last())
        && most - least <= interval
    {
        for span in &mut spans {
            span.start_s -= most - span.length_s;
            span.length_s = *most;
        }
    }
    for span in &mut spans {
        span.start_s = span.start_s.max(0.0);
    }
    (stopped, spans)
}

/// Persistent changes of the base delay: the first probe after each, and the usual round trip
/// between them.
///
/// Between two steps it is the median of the whole, so that a slow queue is no step.
fn steps(log: &TimedLog, stopped: &[bool]) -> (Vec<usize>, Vec<f64>) {
    let side = STEP_PROBES.max((STEP_LASTS_S / log.interval_s).round_ties_even() as usize);
    let known: Vec<usize> = (0..log.rtt_s.len())
        .filter(|&at| !log.rtt_s[at].is_nan() && !stopped[at])
        .collect();
    if known.len() < 3 * side {
        return (Vec::new(), vec![log.median_s()]);
    }
    let values: Vec<f64> = known.iter().map(|&at| log.rtt_s[at]).collect();
    let spread: Vec<[f64; 3]> = values
        .windows(side)
        .map(|window| {
            let taken = window.iter().step_by(side.div_ceil(MAX_IN_WINDOW));
            let taken = sorted(taken.copied());
            [0.1, 0.5, 0.9].map(|share| quantile(&taken, share))
        })
        .collect();
    let mut apart = Vec::with_capacity(spread.len() - side);
    let mut is_candidate = Vec::with_capacity(spread.len() - side);
    for (before, after) in spread.iter().zip(&spread[side..]) {
        let change = after[1] - before[1];
        let least = MIN_STEP_S.max(STEP_SHARE * after[1].min(before[1]));
        // The two sides hardly overlap: a step rather than an intermittent queue.
        let between = if change > 0.0 {
            after[0] - before[2]
        } else {
            before[0] - after[2]
        };
        apart.push(between);
        is_candidate.push(change.abs() >= least && between > 0.0);
    }
    let mut edges: Vec<usize> = runs(&is_candidate)
        .into_iter()
        .map(|(first, end)| {
            let farthest = (first..end)
                .rev()
                .max_by(|&a, &b| apart[a].total_cmp(&apart[b]));
            known[farthest.unwrap_or(first) + side]
        })
        .collect();
    let mut levels = levels_between(log, &edges, stopped);
    // Without a step between the medians of the whole parts, it was noise at their edge.
    while levels.len() > 1 {
        let change = |at: usize| {
            let (low, high) = (
                levels[at].min(levels[at + 1]),
                levels[at].max(levels[at + 1]),
            );
            (high - low) / low.max(1e-6)
        };
        let places = 0..levels.len() - 1;
        let Some(smallest) = places.min_by(|&a, &b| change(a).total_cmp(&change(b))) else {
            break;
        };
        let is_large = (levels[smallest + 1] - levels[smallest]).abs() >= MIN_STEP_S;
        if change(smallest) >= STEP_SHARE && is_large {
            break;
        }
        edges.remove(smallest);
        levels = levels_between(log, &edges, stopped);
    }
    (edges, levels)
}

/// The median round trip before, between and after the edges.
fn levels_between(log: &TimedLog, edges: &[usize], stopped: &[bool]) -> Vec<f64> {
    let mut first = 0;
    let ends = edges.iter().copied().chain([log.rtt_s.len()]);
    ends.map(|end| {
        let part = (first..end)
            .filter(|&at| !stopped[at])
            .map(|at| log.rtt_s[at]);
        first = end;
        let part = sorted(part);
        if part.is_empty() {
            log.median_s()
        } else {
            quantile(&part, 0.5)
        }
    })
    .collect()
}

/// The level of each of `count` probes.
fn repeated(levels: &[f64], edges: &[usize], count: usize) -> Vec<f64> {
    (0..count)
        .map(|at| levels[edges.partition_point(|&edge| edge <= at)])
        .collect()
}
