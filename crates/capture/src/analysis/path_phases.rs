//! Phases of a path: periods with a constant shortest round trip, separated by a handover, a
//! satellite's change, or a new route.
//!
//! A queue that never drains also makes the shortest round trip longer. In a queue the round trip
//! is the bytes in flight over the rate: equal round trips imply equal bytes in flight. On a longer
//! path they are equal for any bytes in flight, as far as the sender does not fill the link; where
//! it does, moments with a drained queue show the path.

use airtcp_units::{Duration, Instant};

use super::acking::Acking;
use super::drained;
use super::findings::{Ack, Sent};

/// Length of the windows for the comparison of shortest round trips.
const WINDOW: Duration = Duration::from_secs(1);
/// Minimum number of round trips in a window.
const FEWEST: usize = 8;
/// Minimum number of consecutive agreeing windows in a phase.
const MIN_WINDOWS: usize = 3;
/// Maximum difference of agreeing shortest round trips, or a share of them.
const NEAR: Duration = Duration::from_millis(3);
const NEAR_PERCENT: u64 = 8;
/// Minimum difference of two paths, besides a share of the shorter one.
const JUMP: Duration = Duration::from_millis(5);
const JUMP_PERCENT: u64 = 15;
/// Minimum spread of bytes in flight with the shortest round trip: the top over the bottom decile,
/// in per cent. In a queue at constant rate it is at most 100 plus `NEAR_PERCENT`.
const SPREAD_PERCENT: u64 = 130;
/// Minimum share of a phase's round trips near its shortest.
const NEAR_FLOOR_PERCENT: usize = 60;
/// Maximum share of compressed acknowledgments for that; with more of them, which queue
/// independently of the bytes in flight, a larger share is needed.
const MAX_BUNCHED_PERCENT: u64 = 20;
const NEAR_FLOOR_PERCENT_BUNCHED: usize = 70;
/// Minimum ratio of a phase's share of retransmissions to the rest's, and their minimum number, for
/// a full queue: filled by others, its delay is constant, too.
const FULL_QUEUE_RATIO: usize = 4;
const FULL_QUEUE_REPEATS: usize = 8;
/// Maximum mean number of segments per ACK at moments with a drained queue: a receiver that waits
/// for more delays its acknowledgments there.
const MAX_SEGMENTS_DRAINED: f64 = 2.5;

/// A period with a constant shortest round trip of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Start; the first phase starts with the capture.
    pub from: Instant,
    /// The shortest round trip during the phase.
    pub base: Duration,
}

/// A window: start of its transmissions, and their shortest round trip.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Instant,
    floor: Duration,
}

/// A period in which the shortest round trip is the path's.
#[derive(Clone, Copy, Debug)]
struct Found {
    phase: Phase,
    until: Instant,
    /// The path's round trip is no shorter.
    min_base: Duration,
    /// A moment with a drained queue: the link was full before and after.
    is_moment: bool,
}

/// The phases of the path of `sent`; empty if its shortest round trip does not change.
pub(super) fn find(sent: &[Sent], acks: &[Ack], acking: &Acking) -> Vec<Phase> {
    let windows = windows(sent);
    let mut phases: Vec<Phase> = Vec::new();
    // Of the last phase.
    let mut min_base = None::<Duration>;
    let mut known_until = Instant::ZERO;
    let mut periods = constant(sent, acking, &windows);
    periods.extend(at_moments(sent, acks, acking));
    periods.sort_by_key(|found| found.phase.from);
    for found in periods {
        let between = shorter(
            &windows,
            known_until,
            found.phase.from,
            [min_base, Some(found.min_base)],
        );
        min_base = between.map(|phase| phase.base).or(min_base);
        phases.extend(between);
        let before = phases.last().map(|before| before.base);
        let is_longer =
            before.is_some_and(|before| before < found.min_base && differ(before, found.min_base));
        let is_shorter = min_base
            .is_some_and(|least| found.phase.base < least && differ(least, found.phase.base));
        if before.is_none() || is_longer || is_shorter {
            let mut phase = found.phase;
            if let Some(before) = before.filter(|_| found.is_moment) {
                phase.from = if is_longer {
                    after_shorter(sent, &phase, known_until)
                } else {
                    first_shorter(sent, &phase, known_until, before)
                };
            }
            phases.push(phase);
            min_base = Some(found.min_base);
        } else {
            // The same path, which a later moment may show with less of a queue.
            min_base = min_base.max(Some(found.min_base));
            if let Some(last) = phases.last_mut()
                && near(last.base, found.phase.base)
            {
                last.base = last.base.min(found.phase.base);
            }
        }
        known_until = known_until.max(found.until);
    }
    phases.extend(shorter(
        &windows,
        known_until,
        Instant::FAR_FUTURE,
        [min_base, None],
    ));
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

/// Periods in which the shortest round trip is the path's for any bytes in flight.
fn constant(sent: &[Sent], acking: &Acking, windows: &[Window]) -> Vec<Found> {
    let is_bunched = acking.compressed * 100 > acking.acks * MAX_BUNCHED_PERCENT;
    let near_percent = if is_bunched {
        NEAR_FLOOR_PERCENT_BUNCHED
    } else {
        NEAR_FLOOR_PERCENT
    };
    groups(windows)
        .into_iter()
        .filter_map(|group| {
            let until = group.until.unwrap_or(Instant::FAR_FUTURE);
            let phase = Phase {
                from: group.from,
                base: group.base,
            };
            let is_phase = group.windows >= MIN_WINDOWS
                && is_path(sent, &phase, until, near_percent)
                && !is_full_queue(sent, &phase, until);
            is_phase.then_some(Found {
                phase,
                until,
                min_base: phase.base,
                is_moment: false,
            })
        })
        .collect()
}

/// Moments with a drained queue.
fn at_moments(sent: &[Sent], acks: &[Ack], acking: &Acking) -> Vec<Found> {
    if acking.mean_segments() > MAX_SEGMENTS_DRAINED {
        return Vec::new();
    }
    drained::find(sent, acks, near)
        .into_iter()
        .map(|moment| Found {
            phase: Phase {
                from: moment.from,
                base: moment.base,
            },
            until: moment.until,
            min_base: moment.min_base,
            is_moment: true,
        })
        .collect()
}

/// The first transmission after all since `from` with round trips too short for this path.
fn after_shorter(sent: &[Sent], phase: &Phase, from: Instant) -> Instant {
    let first = sent.partition_point(|packet| packet.time < from);
    let earlier = before(sent, first, phase.from);
    let last = (earlier.iter()).rposition(|packet| is_shorter(packet, phase.base));
    let next = sent.get(last.map_or(first, |at| first + at + 1));
    next.map_or(phase.from, |packet| packet.time)
}

/// The first transmission since `from` with a round trip too short for the path before, of base
/// `longer`.
fn first_shorter(sent: &[Sent], phase: &Phase, from: Instant, longer: Duration) -> Instant {
    let first = sent.partition_point(|packet| packet.time < from);
    (before(sent, first, phase.from).iter())
        .find(|packet| is_shorter(packet, longer))
        .map_or(phase.from, |packet| packet.time)
}

/// Transmissions from index `first` until `time`.
fn before(sent: &[Sent], first: usize, time: Instant) -> &[Sent] {
    let behind = sent.partition_point(|packet| packet.time < time);
    sent.get(first..behind).unwrap_or_default()
}

/// Whether the round trip of a packet is too short for a path of this base.
fn is_shorter(packet: &Sent, base: Duration) -> bool {
    packet
        .rtt()
        .is_some_and(|rtt| rtt < base && !near(base, rtt))
}

/// A phase among the windows from `from` to `until`, whose path is shorter than the phases before
/// and after it, of these shortest round trips: a queue never makes a round trip shorter.
fn shorter(
    windows: &[Window],
    from: Instant,
    until: Instant,
    bounds: [Option<Duration>; 2],
) -> Option<Phase> {
    let within = |window: &&Window| window.from >= from && window.from < until;
    let is_shorter = |floor: Duration| {
        let mut known = bounds.iter().flatten().peekable();
        known.peek().is_some() && known.all(|base| floor < *base && differ(floor, *base))
    };
    let mut found = windows
        .iter()
        .filter(within)
        .filter(|window| is_shorter(window.floor));
    let first = found.next()?;
    let base = found.fold(first.floor, |base, window| base.min(window.floor));
    Some(Phase {
        from: first.from,
        base,
    })
}

/// Whether two shortest round trips belong to different paths.
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

/// Consecutive agreeing windows.
struct Group {
    from: Instant,
    until: Option<Instant>,
    base: Duration,
    windows: usize,
}

/// Groups of windows: a single deviating window belongs to the surrounding group.
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

/// Whether the shortest round trip of a phase is the path's rather than a queue's: it holds for
/// different bytes in flight and for most packets, which a queue that cross traffic fills and
/// drains excludes. `near_percent` of its round trips are near the shortest.
fn is_path(sent: &[Sent], phase: &Phase, until: Instant, near_percent: usize) -> bool {
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
            flights.len() * 100 >= measured * near_percent
                && u64::from(high) * 100 >= u64::from(low) * SPREAD_PERCENT
        }
        _ => false,
    }
}

/// Whether the shortest round trip of a phase is that of a full queue, which drops.
fn is_full_queue(sent: &[Sent], phase: &Phase, until: Instant) -> bool {
    let (mut own, mut others) = ([0; 2], [0; 2]);
    for packet in sent.iter().filter(|packet| packet.end > 0) {
        let is_within = packet.time >= phase.from && packet.time < until;
        let [repeats, all] = if is_within { &mut own } else { &mut others };
        *repeats += usize::from(packet.attempt > 0);
        *all += 1;
    }
    own[0] >= FULL_QUEUE_REPEATS && own[0] * others[1] > FULL_QUEUE_RATIO * others[0] * own[1]
}

/// Start of a phase: the first transmission, from one window earlier on, after all with round trips
/// too short for this path, and from which on round trips are near its shortest.
fn change(sent: &[Sent], phase: &Phase) -> Instant {
    let earliest = phase.from.as_nanos().saturating_sub(WINDOW.as_nanos());
    let latest = phase.from + WINDOW;
    let first = sent.partition_point(|packet| packet.time.as_nanos() < earliest);
    let behind = sent.partition_point(|packet| packet.time < latest);
    // A clock that goes back can reverse the order.
    let around = sent.get(first..behind).unwrap_or_default();
    let last_shorter = (around.iter()).rposition(|packet| is_shorter(packet, phase.base));
    around[last_shorter.map_or(0, |at| at + 1)..]
        .iter()
        .find(|packet| packet.rtt().is_some_and(|rtt| near(phase.base, rtt)))
        .map_or(phase.from, |packet| packet.time)
}
