//! When to acknowledge (RFC 1122 §4.2.3.2, RFC 5681 §4.2).

use alloc::boxed::Box;

use airtcp_units::{Compact, Duration, Instant};

use super::schedule::Schedule;
use crate::config::DelayedAckConfig;

/// A sender silent for this long has paused, as long as no round trip is known: the initial
/// retransmission timeout (RFC 6298 §2.1; Linux, `TCP_TIMEOUT_INIT`).
const PAUSE: Duration = Duration::from_secs(1);

/// Acknowledgments of data after one gap that are sent at once (Linux, `TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;

/// Maximum number of acknowledgments compressed into one (Linux, `tcp_comp_sack_nr`).
const MAX_COMPRESSED: u8 = 44;

/// Maximum time that it is held back, and its timer's slack (Linux, `tcp_comp_sack_delay_ns` and
/// `tcp_comp_sack_slack_ns`).
const MAX_HELD: Duration = Duration::from_millis(1);
const SLACK: Duration = Duration::from_micros(100);

/// Minimum size of a full segment (Linux, `TCP_MIN_RCVMSS`).
const MIN_FULL: u16 = 536;

/// An acknowledgment that is delayed, or due.
#[derive(Clone, Debug)]
pub struct DelayedAck {
    segments: u16,
    /// Maximum delay, in microseconds.
    timeout_us: u32,
    waiting: u32,
    deadline: Instant,
    due: bool,
    /// Number of segments still to be acknowledged at once, and its initial value.
    quick: u16,
    quick_at_start: u16,
    /// Time of the last arrival in order, if any.
    last_arrival: Compact<Instant>,
    /// Silence after which the sender has paused, in microseconds.
    pause_us: u32,
    fin_at_once: bool,
    compresses: bool,
    on_growth: bool,
    /// Acknowledgments held back, of data after a gap.
    held: u8,
    /// Acknowledgments sent at once for the gap at `gap`, the lower half of an offset.
    told: u8,
    gap: u32,
    reading: Option<Reading>,
    /// Boxed, since few connections have one.
    schedule: Option<Box<Schedule>>,
}

/// Data that arrived after a gap, or filled one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disorder {
    /// Whether there was more to read then.
    pub in_order: bool,
    /// Whether it let the window grow.
    pub grew: bool,
    /// The first missing byte, if acknowledgments report data after it.
    pub gap: Option<u64>,
    /// The round trip, if known.
    pub round_trip: Option<Duration>,
}

/// State that decides whether an application that has read everything acknowledges it (Linux,
/// `icsk_ack.pending` and `pingpong`).
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// Bytes of a full segment: the largest so far (Linux, `tcp_measure_rcv_mss`).
    full: u16,
    /// Whether the unread data was pushed, or ended with a segment that was not full.
    pushed: bool,
    /// Whether the application answers the data it reads: its answer brings the acknowledgment.
    answers: bool,
}

impl DelayedAck {
    /// Creates the state without a delayed acknowledgment.
    pub fn new(config: &DelayedAckConfig) -> Self {
        Self {
            segments: at_most_u16(config.segments),
            timeout_us: in_micros(config.timeout),
            waiting: 0,
            deadline: Instant::FAR_FUTURE,
            due: false,
            quick: at_most_u16(config.quick),
            quick_at_start: at_most_u16(config.quick),
            last_arrival: Compact::NONE,
            pause_us: in_micros(PAUSE),
            fin_at_once: config.fin_at_once,
            compresses: config.compressed,
            on_growth: config.on_growth,
            held: 0,
            told: 0,
            gap: 0,
            reading: if config.on_reading {
                Some(Reading::new())
            } else {
                None
            },
            schedule: config
                .most_a_round_trip
                .map(|most| Box::new(Schedule::new(most))),
        }
    }

    #[inline]
    fn timeout(&self) -> Duration {
        Duration::from_micros(self.timeout_us.into())
    }

    /// Sets the silence after which the sender has paused: the receiver's retransmission timeout
    /// (Linux, `tcp_event_data_recv`).
    pub fn set_pause(&mut self, pause: Duration) {
        self.pause_us = in_micros(pause);
    }

    /// Takes the round trip of the handshake.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        if let Some(schedule) = &mut self.schedule {
            schedule.on_round_trip(round_trip);
        }
    }

    /// Records that the segment that is about to be taken was pushed.
    #[inline]
    pub const fn on_pushed(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.pushed = true;
        }
    }

    /// Records that the application has read everything that has arrived.
    #[inline]
    pub const fn on_all_read(&mut self) {
        if let Some(reading) = &self.reading
            && reading.pushed
            && !reading.answers
            && self.waiting > 0
        {
            self.due = true;
        }
    }

    /// Records that data was sent: soon after an arrival, it counts as an answer, and further
    /// answers are expected to carry later acknowledgments (Linux, `tcp_event_data_sent`).
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        let timeout = self.timeout();
        if let Some(reading) = &mut self.reading
            && let Some(last) = self.last_arrival.get()
            && now - last < timeout
        {
            reading.answers = true;
        }
    }

    /// Records that a segment of `bytes` arrived in order, a `fin` counted as one.
    #[inline]
    pub fn on_in_order(&mut self, now: Instant, bytes: u64, fin: bool) {
        self.waiting += 1;
        let mut closes = fin && self.fin_at_once;
        if let Some(reading) = &mut self.reading {
            closes |= reading.take(bytes, fin);
            // No timer has been learned that its acknowledgment could wait for (Linux, `ato`).
            closes |= fin && bytes == 1 && self.last_arrival.is_none();
        }
        self.note_arrival(now);
        let answers = self.reading.is_some_and(|reading| reading.answers);
        let quick = self.quick > 0 && !answers;
        self.quick = self.quick.saturating_sub(1);
        let enough = self.waiting >= u32::from(self.segments);
        if let Some(schedule) = &mut self.schedule {
            schedule.on_no_gap();
            if enough && !closes && !quick && now < schedule.next() {
                self.deadline = self.deadline.min(schedule.next());
                return;
            }
        }
        if enough || closes || quick {
            self.make_due(now);
        } else if self.deadline == Instant::FAR_FUTURE {
            let next = self
                .schedule
                .as_ref()
                .map_or(now, |schedule| schedule.next());
            self.deadline = next.max(now + self.timeout());
        }
    }

    /// Records that a segment arrived after a gap or filled one, which is acknowledged at once, or
    /// soon.
    pub fn on_disorder(&mut self, now: Instant, disorder: &Disorder) {
        if disorder.in_order {
            self.note_arrival(now);
        }
        if disorder.grew {
            self.quicken();
        }
        if self.compresses
            && self.quick == 0
            && let Some(gap) = disorder.gap
            && self.holds_back(gap)
        {
            let wait = disorder.round_trip.map_or(MAX_HELD, |rtt| {
                Duration::from_nanos(rtt.as_nanos() / 20).min(MAX_HELD)
            });
            self.deadline = self.deadline.min(now + wait + SLACK);
            return;
        }
        // Every acknowledgment of data counts (Linux, `tcp_dec_quickack_mode`).
        let quick = self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        if let Some(schedule) = &mut self.schedule
            && let Some(gap) = disorder.gap
            && !schedule.reports_at_once(lower_half(gap))
            && !quick
            && now < schedule.next()
        {
            self.deadline = self.deadline.min(schedule.next());
            return;
        }
        self.make_due(now);
    }

    /// Makes an acknowledgment of data due.
    #[inline]
    const fn make_due(&mut self, now: Instant) {
        self.due = true;
        if let Some(schedule) = &mut self.schedule {
            schedule.on_due(now);
        }
    }

    /// Whether an acknowledgment of data after `gap` may wait for the next (Linux,
    /// `__tcp_ack_snd_check`).
    fn holds_back(&mut self, gap: u64) -> bool {
        let gap = lower_half(gap);
        if self.due || self.held >= MAX_COMPRESSED {
            return false;
        }
        if self.gap != gap {
            self.gap = gap;
            self.told = 0;
        }
        if self.told < AT_ONCE {
            self.told += 1;
            return false;
        }
        self.held += 1;
        true
    }

    /// Records that data arrived in order. After a silence the sender starts slowly, and waits for
    /// each acknowledgment (Linux, `tcp_event_data_recv`).
    #[inline]
    fn note_arrival(&mut self, now: Instant) {
        if self.quick_at_start > 0
            && let Some(last) = self.last_arrival.get()
            && now - last > Duration::from_micros(self.pause_us.into())
        {
            self.quick = self.quick_at_start;
        }
        self.last_arrival = Compact::some(now);
    }

    /// Acknowledges the current segment at once: it let the window grow (Linux, `tcp_grow_window`).
    #[inline]
    pub const fn quicken(&mut self) {
        if self.on_growth {
            self.quick |= 1;
        }
    }

    /// Whether segments wait for their acknowledgment.
    pub const fn is_holding(&self) -> bool {
        self.waiting > 0
    }

    /// Makes an acknowledgment due at once.
    pub const fn demand(&mut self) {
        self.due = true;
    }

    /// Acknowledges the next `segments` one by one.
    pub fn acknowledge_at_once(&mut self, segments: u32) {
        self.quick = self.quick.max(at_most_u16(segments));
        self.expect_no_answer();
    }

    /// Records that the application is answering the data just arrived.
    pub const fn expect_answer(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.answers = true;
        }
    }

    /// Discards knowledge from data that arrived: it came with the SYN, which does not predict
    /// further arrivals (Linux, `tcp_fastopen_add_skb`, which calls no `tcp_event_data_recv`).
    pub const fn forget_arrivals(&mut self) {
        self.quick = self.quick_at_start;
        self.last_arrival = Compact::NONE;
    }

    /// Records that no answer brings acknowledgments (Linux, `inet_csk_exit_pingpong_mode`).
    const fn expect_no_answer(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.answers = false;
        }
    }

    /// Records that an acknowledgment was sent.
    #[inline]
    pub const fn on_sent(&mut self) {
        self.waiting = 0;
        self.held = 0;
        self.due = false;
        if let Some(reading) = &mut self.reading {
            reading.pushed = false;
        }
        self.deadline = Instant::FAR_FUTURE;
    }

    /// Makes the acknowledgment due if its deadline has passed.
    pub fn on_wakeup(&mut self, now: Instant) {
        if self.deadline <= now {
            self.make_due(now);
            self.expect_no_answer();
            self.deadline = Instant::FAR_FUTURE;
        }
    }

    /// Whether one must be sent now.
    #[inline]
    pub const fn is_due(&self) -> bool {
        self.due
    }

    /// Time at which the delayed one becomes due; [`Instant::FAR_FUTURE`] if no acknowledgment is
    /// delayed.
    #[inline]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl Reading {
    const fn new() -> Self {
        Self {
            full: MIN_FULL,
            pushed: false,
            answers: false,
        }
    }

    /// Takes a segment of `bytes`, a `fin` counted as one; returns whether they are more than a
    /// full one, and therefore acknowledged at once (Linux, `__tcp_ack_snd_check`). A FIN leaves no
    /// more to be read: its acknowledgment waits for the application's answer.
    #[inline]
    fn take(&mut self, bytes: u64, fin: bool) -> bool {
        let payload = bytes - u64::from(fin);
        if payload < u64::from(self.full) {
            self.pushed |= payload > 0;
        } else {
            self.full = u16::try_from(payload).unwrap_or(u16::MAX);
        }
        self.answers |= fin;
        fin && bytes > u64::from(self.full)
    }
}

/// The lower half of a stream offset, enough to distinguish gaps.
fn lower_half(offset: u64) -> u32 {
    u32::try_from(offset & u64::from(u32::MAX)).unwrap_or_default()
}

/// A count of segments in little room.
fn at_most_u16(segments: u32) -> u16 {
    u16::try_from(segments).unwrap_or(u16::MAX)
}

/// A span in whole microseconds, at most 71 minutes.
fn in_micros(span: Duration) -> u32 {
    u32::try_from(span.as_nanos() / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
