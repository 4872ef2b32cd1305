//! The load of a test: its rates by direction, and the delays without and with it.

use airtcp_units::Duration;

use super::super::Recording;
use super::series::File;
use crate::recording::{Bound, Direction, Layer, RateStep, Rates};

/// Series of a load by the beginning of their names.
const LOADS: [(&str, Direction, Layer); 6] = [
    ("TCP download", Direction::Down, Layer::Tcp),
    ("TCP upload", Direction::Up, Layer::Tcp),
    ("Download", Direction::Down, Layer::Tcp),
    ("Upload", Direction::Up, Layer::Tcp),
    ("UDP download", Direction::Down, Layer::Udp),
    ("UDP upload", Direction::Up, Layer::Udp),
];
/// Names of series that flent computes from others.
const COMPUTED: [&str; 4] = ["sum", "avg", "totals", "::"];
/// A step's share of the largest below which a load has not begun, or has ended.
const IS_LOADED: f64 = 0.02;
/// A median round trip under load above this many idle ones, and by so much, is a queue.
const QUEUE_TIMES: f64 = 1.3;
const QUEUE_MS: f64 = 2.0;

/// Rates by direction, of all streams together, on the grid of the file.
pub(super) fn rates(file: &File) -> Vec<Rates> {
    let mut found: Vec<Rates> = Vec::new();
    for (begin, direction, layer) in LOADS {
        let is_own = |name: &&str| {
            name.starts_with(begin)
                && !COMPUTED.iter().any(|word| name.contains(word))
                && file.unit(name).is_none_or(|unit| unit.starts_with("Mbit"))
        };
        let names: Vec<&str> = file.names().into_iter().filter(is_own).collect();
        let has_one = found.iter().any(|one| one.direction == direction);
        if names.is_empty() || has_one {
            continue;
        }
        let steps = summed(file, &names);
        let bits = |step: &RateStep| step.bits_per_second as f64 * step.length.as_secs_f64();
        let seconds: f64 = steps.iter().map(|step| step.length.as_secs_f64()).sum();
        if seconds > 0.0 {
            found.push(Rates {
                direction,
                mean: (steps.iter().map(bits).sum::<f64>() / seconds).round() as u64,
                bound: Bound::Transfer,
                layer,
                steps,
            });
        }
    }
    found
}

/// The sum of series while the load lasts.
fn summed(file: &File, names: &[&str]) -> Vec<RateStep> {
    const MAX_MBPS: f64 = 1e7;
    let value = |place: usize| -> f64 {
        let each = names
            .iter()
            .filter_map(|name| file.results.get(*name)?.get(place).copied()?);
        each.filter(|mbps| (0.0..MAX_MBPS).contains(mbps)).sum()
    };
    let values: Vec<f64> = (0..file.x_values.len()).map(value).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let is_loaded = |mbps: &f64| *mbps > IS_LOADED * most;
    let Some(first) = values.iter().position(is_loaded) else {
        return Vec::new();
    };
    let last = values.iter().rposition(is_loaded).unwrap_or(first);
    let at = |place: usize| Duration::from_secs_f64(file.x_values.get(place).copied()??);
    let step = |place: usize| {
        let (from, end) = (at(place)?, at(place + 1)?);
        let length = Some(end - from).filter(|length| length.as_nanos() > 0)?;
        Some(RateStep {
            from,
            length,
            bits_per_second: (values[place] * 1e6).round() as u64,
            bound: Bound::Transfer,
        })
    };
    (first..=last).filter_map(step).collect()
}

/// Finds the delays before and during the load, and whether the load waited in a queue.
pub(super) fn judge(found: &mut Recording, file: &File) {
    let begin = found
        .rates
        .iter()
        .filter_map(|one| one.steps.first())
        .map(|step| step.from)
        .min();
    let end = found.rates.iter().filter_map(|one| one.steps.last());
    let end = end.map(|step| step.from + step.length).max();
    let (Some(begin), Some(end), Some(log)) = (begin, end, &found.probes) else {
        return;
    };
    let first = file.x_values.first().copied().flatten().unwrap_or(0.0);
    let zero = Duration::from_secs_f64(first).unwrap_or_default();
    let (mut idle, mut loaded) = (Vec::new(), Vec::new());
    for reply in log.replies() {
        let Some(sent) = reply.sent else { continue };
        let at = sent + zero;
        let arrived = at + reply.round_trip;
        if at >= begin && at < end {
            loaded.push(reply.round_trip);
        } else if arrived < begin || at > end + Duration::from_secs(1) {
            idle.push(reply.round_trip);
        }
    }
    let median = |values: &mut Vec<Duration>| {
        values.sort_unstable();
        values.get(values.len() / 2).copied()
    };
    let (idle, loaded) = (median(&mut idle), median(&mut loaded));
    let least = log.replies().iter().map(|reply| reply.round_trip).min();
    let has = |direction| found.rates.iter().any(|one| one.direction == direction);
    let (down, up) = (has(Direction::Down), has(Direction::Up));
    found.figures.idle_rtt = idle;
    found.figures.least_loaded_rtt = least.filter(|_| idle.is_none());
    match (down, up) {
        (true, false) => found.figures.loaded_down_rtt = loaded,
        (false, true) => found.figures.loaded_up_rtt = loaded,
        _ => found.figures.loaded_rtt = loaded,
    }
    let (Some(idle), Some(loaded)) = (idle, loaded) else {
        return;
    };
    let (idle, loaded) = (idle.as_millis_f64(), loaded.as_millis_f64());
    found.remark(format!(
        "Its ping ran without load for a while and under load: {idle:.4} ms and {loaded:.4} ms in \
         the median."
    ));
    if loaded > QUEUE_TIMES * idle && loaded > idle + QUEUE_MS {
        // With load both ways the link with the queue is unknown.
        for one in &mut found.rates {
            one.bound = Bound::Link;
            one.steps
                .iter_mut()
                .for_each(|step| step.bound = Bound::Link);
        }
    }
    if down && up {
        found.remark("Both directions were loaded at once: the delay under load is that of both.");
    }
}
