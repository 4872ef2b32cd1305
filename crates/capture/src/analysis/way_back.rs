//! The delay of the way back in a capture at the receiver: from an answer to the data that it
//! prompts, dated by the sender's clock.
//!
//! Data waits in no queue before its timestamp is taken, and a bulk transfer's acknowledgments
//! hardly queue: where these times jump and stay, the path has changed, however full the link is.

use std::collections::HashMap;

use airtcp_units::{Duration, Instant};

use super::path_phases::Phase;

/// Length of the windows for shortest times over a path that changes.
pub(super) const WINDOW: Duration = Duration::from_secs(1);
/// Minimum number of times in a window, and of consecutive agreeing windows in a phase.
const FEWEST: usize = 8;
const MIN_WINDOWS: usize = 3;
/// Maximum difference of agreeing shortest times, besides two ticks of the sender's clock.
const NEAR: Duration = Duration::from_millis(3);
/// Minimum difference of two paths, or a share of the shorter one.
const JUMP: Duration = Duration::from_millis(5);
const JUMP_PERCENT: u64 = 15;
/// Minimum share of a window's times near its shortest: a sender that waits for its application
/// answers at any time.
const PROMPT_PERCENT: usize = 40;

/// A time of the way back: when the answer left, and how long later the data did that it prompted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prompted {
    pub answered: Instant,
    pub took: Duration,
}

/// Times of answers by their timestamps, until data echoes them.
#[derive(Debug, Default)]
pub(super) struct Answers {
    first_with: HashMap<u32, Instant>,
}

impl Answers {
    /// Notes an answer with this timestamp.
    pub fn leaves(&mut self, value: u32, time: Instant) {
        self.first_with.entry(value).or_insert(time);
    }

    /// The time of data that echoes `value` and left at `left`. Only the first packet that echoes
    /// an answer left at its arrival.
    pub fn prompt(&mut self, value: u32, left: Instant) -> Option<Prompted> {
        let answered = self
            .first_with
            .remove(&value)
            .filter(|time| left >= *time)?;
        Some(Prompted {
            answered,
            took: left - answered,
        })
    }
}

/// The phases of the way back, as the times from an answer to its data; empty if they do not jump.
/// `tick` is that of the sender's clock.
pub(super) fn phases(prompted: &[Prompted], tick: Duration) -> Vec<Phase> {
    let near = NEAR.max(tick * 2);
    let mut phases: Vec<Phase> = Vec::new();
    // Consecutive windows that agree and make a phase.
    let mut group: Option<(Phase, usize)> = None;
    for window in windows(prompted, near) {
        group = match group.take() {
            Some((phase, count)) if is_near(phase.base, window.base, near) => {
                let base = phase.base.min(window.base);
                Some((Phase { base, ..phase }, count + 1))
            }
            _ => Some((window, 1)),
        };
        let Some((phase, count)) = group else {
            continue;
        };
        match phases.last_mut() {
            Some(last) if !differ(last.base, phase.base) => last.base = last.base.min(phase.base),
            _ if count == MIN_WINDOWS => phases.push(phase),
            _ => {}
        }
    }
    if phases.len() < 2 {
        return Vec::new();
    }
    let bases: Vec<Duration> = phases.iter().map(|phase| phase.base).collect();
    for (phase, before) in phases.iter_mut().skip(1).zip(bases) {
        phase.from = change(prompted, phase, before, near);
    }
    phases[0].from = Instant::ZERO;
    phases
}

/// The median of the shortest times of the windows of each phase; `base` without any.
pub(super) fn by_phase(prompted: &[Prompted], phases: &[Phase], base: Duration) -> Vec<Duration> {
    let ends = phases.iter().skip(1).map(|phase| phase.from);
    let mut rest = prompted;
    ends.chain([Instant::FAR_FUTURE])
        .map(|end| {
            let (own, others) = rest.split_at(rest.partition_point(|one| one.answered < end));
            rest = others;
            let mut shortest: Vec<Duration> = own
                .chunk_by(|one, other| number(one) == number(other))
                .filter_map(|window| window.iter().map(|one| one.took).min())
                .collect();
            let half = shortest.len() / 2;
            match shortest.get(half) {
                Some(_) => *shortest.select_nth_unstable(half).1,
                None => base,
            }
        })
        .collect()
}

fn number(prompted: &Prompted) -> u64 {
    prompted.answered.as_nanos() / WINDOW.as_nanos()
}

/// The windows in which the sender answers promptly, with their shortest time.
fn windows(prompted: &[Prompted], near: Duration) -> impl Iterator<Item = Phase> {
    prompted
        .chunk_by(|one, other| number(one) == number(other))
        .filter_map(move |window| {
            let base = window.iter().map(|one| one.took).min()?;
            let prompt = window.iter().filter(|one| one.took <= base + near).count();
            let is_prompt = prompt >= FEWEST && prompt * 100 >= window.len() * PROMPT_PERCENT;
            is_prompt.then_some(Phase {
                from: window[0].answered,
                base,
            })
        })
}

/// The first answer on the path of a phase: after all answers that took less, or the first that
/// takes less than those before.
fn change(prompted: &[Prompted], phase: &Phase, before: Duration, near: Duration) -> Instant {
    let earliest = phase.from.as_nanos().saturating_sub(WINDOW.as_nanos());
    let first = prompted.partition_point(|one| one.answered.as_nanos() < earliest);
    let behind = prompted.partition_point(|one| one.answered < phase.from + WINDOW);
    let around = prompted.get(first..behind).unwrap_or_default();
    let place = if phase.base < before {
        around.iter().position(|one| one.took + near < before)
    } else {
        let last = around.iter().rposition(|one| one.took + near < phase.base);
        Some(last.map_or(0, |at| at + 1))
    };
    place
        .and_then(|place| around.get(place))
        .map_or(phase.from, |one| one.answered)
}

fn is_near(one: Duration, other: Duration, near: Duration) -> bool {
    one.max(other) - one.min(other) <= near
}

fn differ(one: Duration, other: Duration) -> bool {
    let (low, high) = (one.min(other), one.max(other));
    high - low > JUMP.max(low * JUMP_PERCENT / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(1);

    /// An answer each 10 ms for 20 s, whose data takes `took_ms` at a number of an answer.
    fn answers(took_ms: impl Fn(u64) -> u64) -> Vec<Prompted> {
        (0..2000)
            .map(|number| Prompted {
                answered: Instant::from_nanos(number * 10_000_000),
                took: Duration::from_millis(took_ms(number)),
            })
            .collect()
    }

    fn bases(prompted: &[Prompted]) -> Vec<(u64, u64)> {
        let found = phases(prompted, TICK);
        let ms = |phase: &Phase| {
            let from = phase.from.as_nanos() / 1_000_000;
            (from, phase.base.as_nanos() / 1_000_000)
        };
        found.iter().map(ms).collect()
    }

    #[test]
    fn a_way_back_that_jumps_and_stays_has_phases() {
        let path = |number| match number {
            0..470 => 63,
            470..1260 => 36,
            _ => 50,
        };
        let jitter = |number: u64| number % 3;
        let found = bases(&answers(|number| path(number) + jitter(number)));
        assert_eq!(found, [(0, 63), (4700, 36), (12_600, 50)]);
    }

    #[test]
    fn a_steady_way_back_has_none() {
        assert_eq!(bases(&answers(|number| 40 + number % 4)), []);
        assert_eq!(bases(&[]), []);
    }

    /// A queue of the way back that fills and drains, and an application that waits.
    #[test]
    fn neither_a_queue_nor_an_application_is_a_path() {
        assert_eq!(bases(&answers(|number| 40 + number % 400 / 4)), []);
        let writes = |number: u64| 40 + (number * 7919) % 97;
        assert_eq!(bases(&answers(writes)), []);
    }

    #[test]
    fn each_phase_has_the_median_of_its_windows() {
        let times = answers(|number| if number < 1000 { 40 } else { 70 });
        let found = phases(&times, TICK);
        let base = Duration::from_millis(1);
        assert_eq!(
            by_phase(&times, &found, base),
            [40, 70].map(Duration::from_millis)
        );
        assert_eq!(by_phase(&[], &found, base), [base, base]);
    }
}
