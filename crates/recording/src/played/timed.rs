//! When each probe of a log was sent.

use super::{quantile, sorted};
use crate::probes::{Clock, ProbeLog};

/// Interval of probes where a log does not tell it, in seconds: ping's default.
const USUAL_INTERVAL_S: f64 = 1.0;
/// The numbers may go on by this many between two stamps, and by three times the due ones; a
/// counter that jumps by more was reset, or counts something else.
const MAX_STEP: i64 = 1_000;
const MAX_STEP_RATIO: i64 = 3;
/// A log with more probes without an answer is not of one link.
pub const MAX_UNANSWERED: u64 = 1_000_000;

/// All probes of a log in the order of sending.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedLog {
    /// Seconds from the first probe to the sending of each.
    pub time_s: Vec<f64>,
    /// Round trips in seconds; NaN without an answer.
    pub rtt_s: Vec<f64>,
    /// The usual time from one probe to the next, in seconds.
    pub interval_s: f64,
    /// Further unanswered probes, at unknown times.
    pub unplaced: u64,
}

impl TimedLog {
    /// The probes of a log with their times: as stamped, or an interval apart where it has no
    /// stamps. `None` if more than [`MAX_UNANSWERED`] have no answer.
    #[must_use]
    pub fn of(log: &ProbeLog) -> Option<Self> {
        let mut numbers: Vec<u64> = log.replies().iter().map(|reply| reply.number).collect();
        let mut rtts: Vec<f64> = log
            .replies()
            .iter()
            .map(|reply| reply.round_trip.as_secs_f64())
            .collect();
        let sent: Option<Vec<f64>> = log
            .replies()
            .iter()
            .map(|reply| reply.sent.map(|sent| sent.as_secs_f64()))
            .collect();
        let mut sent = sent.filter(|_| log.clock() == Clock::Stamps);
        let told = log.interval().map(|interval| interval.as_secs_f64());
        let interval_s = told.unwrap_or(USUAL_INTERVAL_S);
        let mut count = log.numbered();
        if let Some(times) = &mut sent {
            let mut order: Vec<usize> = (0..times.len()).collect();
            order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
            let of_time = |values: &[f64]| order.iter().map(|&at| values[at]).collect::<Vec<_>>();
            let in_order: Vec<u64> = order.iter().map(|&at| numbers[at]).collect();
            let times_in_order = of_time(times);
            if let Some(without) = without_jumps(&in_order, &times_in_order) {
                rtts = of_time(&rtts);
                count = without.last().map_or(0, |last| last + 1);
                (numbers, *times) = (without, times_in_order);
            }
        }
        if count - numbers.len() as u64 > MAX_UNANSWERED {
            return None;
        }
        let mut rtt_s = vec![f64::NAN; count as usize];
        for (&number, rtt) in numbers.iter().zip(rtts) {
            rtt_s[number as usize] = rtt;
        }
        let (time_s, interval_s) = match sent {
            None => (
                (0..count)
                    .map(|number| number as f64 * interval_s)
                    .collect(),
                interval_s,
            ),
            Some(times) => {
                let (times, interval_s) = regular(&numbers, times, interval_s);
                (
                    sending(&numbers, &times, interval_s, rtt_s.len()),
                    interval_s,
                )
            }
        };
        Some(Self {
            time_s,
            rtt_s,
            interval_s,
            unplaced: log.unplaced(),
        })
    }

    /// Round trips of the answered probes, in order of their length.
    pub(super) fn answered(&self) -> Vec<f64> {
        sorted(self.rtt_s.iter().copied())
    }

    /// The 5th percentile of the round trip: one without any queue.
    pub(super) fn least_s(&self) -> f64 {
        quantile(&self.answered(), 0.05)
    }

    /// The median round trip.
    pub(super) fn median_s(&self) -> f64 {
        quantile(&self.answered(), 0.5)
    }
}

/// Numbers of probes in the order of sending, where the log's numbers jump and its stamps do not;
/// `None` without such a jump.
fn without_jumps(numbers: &[u64], sent_s: &[f64]) -> Option<Vec<u64>> {
    let steps: Vec<(i64, f64)> = numbers
        .windows(2)
        .zip(sent_s.windows(2))
        .map(|(number, time)| (number[1] as i64 - number[0] as i64, time[1] - time[0]))
        .collect();
    let single = sorted(
        steps
            .iter()
            .filter(|(step, _)| *step == 1)
            .map(|(_, took)| *took),
    );
    let usual_s = if single.is_empty() {
        0.0
    } else {
        quantile(&single, 0.5)
    };
    if usual_s <= 0.0 {
        return None;
    }
    let due = |took_s: f64| ((took_s / usual_s).round_ties_even() as i64).max(1);
    let is_jump = |&(step, took_s): &(i64, f64)| {
        step.saturating_abs() > MAX_STEP.saturating_add(due(took_s).saturating_mul(MAX_STEP_RATIO))
    };
    if !steps.iter().any(is_jump) {
        return None;
    }
    let mut number = 0_u64;
    let mut renumbered = vec![number];
    for step in &steps {
        let ahead = if is_jump(step) {
            due(step.1)
        } else {
            step.0.max(1)
        };
        number = number.saturating_add(ahead as u64);
        renumbered.push(number);
    }
    Some(renumbered)
}

/// Times and interval of a ping with regular times of sending, if the stamps fit a straight line to
/// within an interval.
///
/// Stamps are late by the time until the line was written; the line through all is not.
fn regular(numbers: &[u64], sent_s: Vec<f64>, interval_s: f64) -> (Vec<f64>, f64) {
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    if numbers.len() < 3 || first == last {
        return (sent_s, interval_s);
    }
    let count = numbers.len() as f64;
    let mean_number = numbers.iter().map(|&number| number as f64).sum::<f64>() / count;
    let mean_s = sent_s.iter().sum::<f64>() / count;
    let (mut both, mut square) = (0.0, 0.0);
    for (&number, time) in numbers.iter().zip(&sent_s) {
        let off = number as f64 - mean_number;
        both += off * (time - mean_s);
        square += off * off;
    }
    let slope = both / square;
    let straight = |number: u64| mean_s + slope * (number as f64 - mean_number);
    let farthest = numbers
        .iter()
        .zip(&sent_s)
        .map(|(&number, time)| (straight(number) - time).abs())
        .fold(0.0, f64::max);
    if slope <= 0.0 || farthest >= slope {
        return (sent_s, interval_s);
    }
    (
        numbers.iter().map(|&number| straight(number)).collect(),
        slope,
    )
}

/// Time of sending of each probe from the first on: as stamped, else between its neighbours by its
/// number, and an interval apart at both ends.
fn sending(numbers: &[u64], sent_s: &[f64], interval_s: f64, count: usize) -> Vec<f64> {
    let known: Vec<f64> = numbers.iter().map(|&number| number as f64).collect();
    let (first, last) = (known[0], known[known.len() - 1]);
    let at = |number: f64| {
        if number < first {
            sent_s[0] - (first - number) * interval_s
        } else if number > last {
            sent_s[sent_s.len() - 1] + (number - last) * interval_s
        } else {
            between(&known, sent_s, number)
        }
    };
    let begin = at(0.0);
    (0..count).map(|number| at(number as f64) - begin).collect()
}

/// The value at `place` on the line through points in order, level beyond its ends.
pub(super) fn between(places: &[f64], values: &[f64], place: f64) -> f64 {
    let after = places.partition_point(|&one| one <= place);
    if after == 0 {
        return values[0];
    }
    if after == places.len() {
        return values[places.len() - 1];
    }
    let (low, high) = (after - 1, after);
    let slope = (values[high] - values[low]) / (places[high] - places[low]);
    slope * (place - places[low]) + values[low]
}
