//! Phases of a path: stretches of time in which its shortest round trip is another, as after a
//! handover, a satellite's change, or a new route.
//!
//! A queue that never drains makes a longer shortest round trip, too. In a queue the round trip is
//! what is in flight over the rate: round trips that are equal belong to flights that are equal. On
//! a longer path they are equal whatever is in flight.

use airtcp_units::{Duration, Instant};

use super::acking::Acking;
use super::findings::Sent;

/// Length of the windows whose shortest round trips are compared.
const WINDOW: Duration = Duration::from_secs(1);
/// Round trips in a window without which it shows nothing.
const FEWEST: usize = 8;
/// Windows in a row that agree before a phase is one.
const MIN_WINDOWS: usize = 3;
/// Shortest round trips agree within this, or within a share of them.
const NEAR: Duration = Duration::from_millis(3);
const NEAR_PERCENT: u64 = 8;
/// Paths differ by this at least, and by a share of the shorter one.
const JUMP: Duration = Duration::from_millis(5);
const JUMP_PERCENT: u64 = 15;
/// Flights that have the shortest round trip: the largest tenth over the smallest, in per cent. Of
/// a queue it is no more than 100 and `NEAR_PERCENT`, but for a rate that varies.
const SPREAD_PERCENT: u64 = 130;
/// Share of a phase's round trips that are near its shortest, at least.
const MAX_PERCENT: usize = 60;
/// Share of the acknowledgments that may come bunched.
const MAX_BUNCHED_PERCENT: u64 = 20;

/// A stretch of time in which the path's shortest round trip is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// When it begins; the first with the capture.
    pub from: Instant,
    /// The shortest round trip in it.
    pub base: Duration,
}

/// A window: where its transmissions begin, and their shortest round trip.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Instant,
    floor: Duration,
}

/// The phases of the path that `sent` took; empty where its shortest round trip does not change, or
/// where acknowledgments come bunched: these wait in a queue of their own, whatever is in flight.
pub(super) fn find(sent: &[Sent], acking: &Acking) -> Vec<Phase> {
    if acking.compressed * 100 > acking.acks * MAX_BUNCHED_PERCENT {
        return Vec::new();
    }
    let windows = windows(sent);
    let mut phases: Vec<Phase> = Vec::new();
    for group in groups(&windows) {
        let until = group.until.unwrap_or(Instant::FAR_FUTURE);
        let phase = Phase {
            from: group.from,
            base: group.base,
        };
        let is_known = group.windows >= MIN_WINDOWS && is_path(sent, &phase, until);
        let is_new = phases
            .last()
            .is_none_or(|before| differ(before.base, phase.base));
        if is_known && is_new {
            phases.push(phase);
        }
    }
    if phases.len() < 2 {
        return Vec::new();
    }
    for (at, phase) in phases.iter_mut().enumerate() {
        phase.from = if at == 0 {
            Instant::ZERO
        } else {
            change(sent, phase)
        };
    }
    phases
}

/// Whether two shortest round trips are of different paths.
fn differ(one: Duration, other: Duration) -> bool {
    let (low, high) = (one.min(other), one.max(other));
    high - low > JUMP.max(low * JUMP_PERCENT / 100)
}

fn near(one: Duration, other: Duration) -> bool {
    let (low, high) = (one.min(other), one.max(other));
    high - low <= NEAR.max(low * NEAR_PERCENT / 100)
}

fn windows(sent: &[Sent]) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut measured = sent
        .iter()
        .filter(|packet| packet.end > 0)
        .filter_map(|packet| Some((packet.time, packet.rtt()?)))
        .peekable();
    while let Some(&(from, _)) = measured.peek() {
        let (mut count, mut floor) = (0, None::<Duration>);
        while let Some((_, rtt)) = measured.next_if(|(time, _)| *time < from + WINDOW) {
            count += 1;
            floor = Some(floor.map_or(rtt, |floor| floor.min(rtt)));
        }
        if let Some(floor) = floor
            && count >= FEWEST
        {
            windows.push(Window { from, floor });
        }
    }
    windows
}

/// Windows in a row that agree.
struct Group {
    from: Instant,
    until: Option<Instant>,
    base: Duration,
    windows: usize,
}

/// Groups of windows: a single one that differs belongs to the group that goes on after it.
fn groups(windows: &[Window]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while let Some(window) = windows.get(at) {
        let goes_on = groups.last().is_some_and(|group| {
            near(group.base, window.floor)
                || windows[at + 1..]
                    .iter()
                    .take(1)
                    .any(|next| near(group.base, next.floor))
        });
        match groups.last_mut() {
            Some(group) if goes_on => {
                if near(group.base, window.floor) {
                    group.base = group.base.min(window.floor);
                    group.windows += 1;
                }
            }
            last => {
                if let Some(last) = last {
                    last.until = Some(window.from);
                }
                groups.push(Group {
                    from: window.from,
                    until: None,
                    base: window.floor,
                    windows: 1,
                });
            }
        }
        at += 1;
    }
    groups
}

/// Whether the shortest round trip of a phase is the path's, and not a queue's: it is that of
/// flights that differ, and most packets have it, which a queue that others fill and drain forbids.
fn is_path(sent: &[Sent], phase: &Phase, until: Instant) -> bool {
    let mut measured = 0;
    let mut flights: Vec<u32> = sent
        .iter()
        .filter(|packet| packet.end > 0 && packet.time >= phase.from && packet.time < until)
        .filter_map(|packet| Some((packet.rtt()?, packet.in_flight)))
        .inspect(|_| measured += 1)
        .filter(|(rtt, _)| near(phase.base, *rtt))
        .map(|(_, in_flight)| in_flight)
        .collect();
    flights.sort_unstable();
    let at = |tenths: usize| flights.get(flights.len() * tenths / 10).copied();
    match (at(1), at(9)) {
        (Some(low), Some(high)) if flights.len() >= FEWEST * MIN_WINDOWS => {
            flights.len() * 100 >= measured * MAX_PERCENT
                && u64::from(high) * 100 >= u64::from(low) * SPREAD_PERCENT
        }
        _ => false,
    }
}

/// When a phase began: with the first transmission, from a window before on, after all whose round
/// trips were shorter than this path allows, and from which on round trips are near its shortest.
fn change(sent: &[Sent], phase: &Phase) -> Instant {
    let earliest = phase.from.as_nanos().saturating_sub(WINDOW.as_nanos());
    let latest = phase.from + WINDOW;
    let first = sent.partition_point(|packet| packet.time.as_nanos() < earliest);
    let behind = sent.partition_point(|packet| packet.time < latest);
    // A clock that goes back puts the one behind the other.
    let around = sent.get(first..behind).unwrap_or_default();
    let is_shorter = |rtt: Duration| rtt < phase.base && !near(phase.base, rtt);
    let last_shorter = around
        .iter()
        .rposition(|packet| packet.rtt().is_some_and(is_shorter));
    around[last_shorter.map_or(0, |at| at + 1)..]
        .iter()
        .find(|packet| packet.rtt().is_some_and(|rtt| near(phase.base, rtt)))
        .map_or(phase.from, |packet| packet.time)
}
