//! State of the box for one connection with data to the mobile.

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::estimator::Estimator;
use super::self_clocking::SelfClock;
use super::timestamps::Stamps;
use super::{InformationBoxConfig, PassiveMethod};
use crate::agent::Toward;
use crate::frame::Urgency;

/// An acknowledgment that waits for its echo.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// The wireless half as last measured when it passed.
    wireless: Option<Duration>,
    /// It left nothing unacknowledged: the sender may have had nothing more to send. A sample from
    /// its later data is accepted only if it makes the wired half shorter.
    silent: bool,
}

/// The reading of the halves.
#[derive(Clone, Debug)]
enum Halves {
    Timestamps {
        /// Of the wired host's data.
        data: Stamps<()>,
        /// Of the mobile's acknowledgments.
        acknowledgments: Stamps<Note>,
        wired: Option<Duration>,
        wireless: Option<Duration>,
    },
    SelfClocking(SelfClock),
}

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    halves: Halves,
    estimator: Estimator,
    /// The SYN's number, to distinguish a new connection from a retransmitted SYN.
    initial: Option<SequenceNumber>,
    /// The end of the newest data for the mobile.
    sent: Option<SequenceNumber>,
    /// Bytes of the longest segment for the mobile.
    longest: u32,
    /// Offset up to which the mobile has acknowledged.
    acknowledged: Option<SequenceNumber>,
    /// Repetitions of the newest acknowledgment.
    duplicates: u32,
    /// Time at which the sender's timer was last restarted, as observed here (RFC 6298 §5).
    timer_started: Instant,
}

/// RFC 5681 §3.2.
const DUPLICATE_THRESHOLD: u32 = 3;

impl Flow {
    pub(super) const fn new(method: PassiveMethod) -> Self {
        let halves = match method {
            PassiveMethod::Timestamps { .. } => Halves::Timestamps {
                data: Stamps::new(),
                acknowledgments: Stamps::new(),
                wired: None,
                wireless: None,
            },
            PassiveMethod::SelfClocking => Halves::SelfClocking(SelfClock::new()),
        };
        Self {
            halves,
            estimator: Estimator::new(),
            initial: None,
            sent: None,
            longest: 0,
            acknowledged: None,
            duplicates: 0,
            timer_started: Instant::ZERO,
        }
    }

    /// Whether a SYN with this number belongs to another connection than this.
    pub(super) fn is_of_another(&self, initial: SequenceNumber) -> bool {
        self.initial != Some(initial)
    }

    pub(super) const fn begin(&mut self, initial: SequenceNumber) {
        self.initial = Some(initial);
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.estimator.round_trip()
    }

    pub(super) fn urgency(&self, config: &InformationBoxConfig, now: Instant) -> Option<Urgency> {
        let timeout = self
            .estimator
            .timeout(config.timeout_floor, config.timeout_ceiling)?;
        let one_way = self.wired()? / 2;
        Some(Urgency {
            expires: now + (timeout - one_way),
            timeout,
            round_trip: self.estimator.round_trip()?,
            in_flight: self.in_flight(),
        })
    }

    /// Segments that passed and are not acknowledged: from the highest sequence number and the
    /// highest acknowledgment, in segments as long as the longest that passed.
    fn in_flight(&self) -> u32 {
        match (self.sent, self.acknowledged) {
            (Some(sent), Some(acknowledged)) if sent.after(acknowledged) => {
                let bytes = sent.distance(acknowledged).unsigned_abs();
                bytes.div_ceil(self.longest.max(1))
            }
            _ => 0,
        }
    }

    fn wired(&self) -> Option<Duration> {
        match &self.halves {
            Halves::Timestamps { wired, .. } => *wired,
            Halves::SelfClocking(clock) => clock.wired(),
        }
    }

    /// Whether all that passed to the mobile is acknowledged.
    fn is_silent(&self) -> bool {
        self.sent.is_none() || self.sent == self.acknowledged
    }

    pub(super) fn observe(
        &mut self,
        config: &InformationBoxConfig,
        now: Instant,
        toward: Toward,
        segment: &Segment,
    ) {
        // A wired half longer than the sender's timer means a host that waits.
        let most = self
            .estimator
            .timeout(config.timeout_floor, config.timeout_ceiling)
            .unwrap_or(config.timeout_ceiling);
        let read = match config.method {
            PassiveMethod::Timestamps { tick } => in_ticks(now, tick),
            PassiveMethod::SelfClocking => now,
        };
        match toward {
            Toward::Mobile => self.down(now, read, most, segment),
            Toward::Wired => self.up(now, read, segment),
        }
    }

    /// Data, and the wired host's acknowledgments, on the way to the mobile.
    fn down(&mut self, now: Instant, read: Instant, most: Duration, segment: &Segment) {
        let has_echo = segment.flags.contains(Flags::ACK);
        let end = segment.sequence + segment.sequence_length();
        let carries = segment.sequence_length() > 0;
        let new = carries && self.sent.is_none_or(|sent| end.after(sent));
        self.longest = self.longest.max(segment.sequence_length());
        if carries && !new {
            self.on_repetition(now, segment.sequence);
        }
        let silent = self.is_silent();
        match &mut self.halves {
            Halves::Timestamps {
                data,
                acknowledgments,
                wired,
                ..
            } => {
                if let Some(stamps) = segment.timestamps {
                    if has_echo
                        && let Some((half, note)) = acknowledgments.on_echo(read, stamps.echo)
                    {
                        let lower = wired.is_none_or(|known| half < known);
                        if half <= most && (lower || !note.silent) {
                            *wired = Some(half);
                            if let Some(wireless) = note.wireless {
                                self.estimator.on_sample(half + wireless);
                            }
                        }
                    }
                    if carries {
                        data.on_stamp(read, stamps.value, ());
                    }
                }
            }
            Halves::SelfClocking(clock) => {
                if has_echo {
                    clock.on_answer(now, segment.acknowledgment, most);
                }
                if new {
                    clock.on_new_data(now, end, silent, most);
                } else if carries {
                    clock.on_repetition(segment.sequence);
                }
            }
        }
        if new {
            if silent {
                self.timer_started = now;
            }
            self.sent = Some(end);
        }
    }

    /// The sender retransmits. Its timer has expired if it sends the first missing segment, has
    /// received too few duplicate acknowledgments, and a round trip has passed since it last
    /// received an acknowledgment (the repairs of a recovery follow an acknowledgment more
    /// closely).
    fn on_repetition(&mut self, now: Instant, sequence: SequenceNumber) {
        let first_missing = self
            .acknowledged
            .is_none_or(|acknowledged| acknowledged == sequence);
        let quiet = self
            .estimator
            .round_trip()
            .is_some_and(|round_trip| now - self.timer_started > round_trip);
        if first_missing && quiet && self.duplicates < DUPLICATE_THRESHOLD {
            self.estimator.back_off();
            self.timer_started = now;
        }
    }

    /// Acknowledgments, and data from the mobile, on the way to the wired host.
    fn up(&mut self, now: Instant, read: Instant, segment: &Segment) {
        let carries = segment.sequence_length() > 0;
        let number = segment.acknowledgment;
        let acknowledges =
            segment.flags.contains(Flags::ACK) && self.sent.is_some_and(|sent| !number.after(sent));
        let more = acknowledges && self.acknowledged.is_none_or(|before| number.after(before));
        if more {
            self.acknowledged = Some(number);
            self.duplicates = 0;
            self.timer_started = now;
        } else if acknowledges && !carries && self.acknowledged == Some(number) {
            self.duplicates = self.duplicates.saturating_add(1);
        }
        let silent = self.is_silent() && !segment.flags.contains(Flags::SYN);
        match &mut self.halves {
            Halves::Timestamps {
                data,
                acknowledgments,
                wired,
                wireless,
            } => {
                let Some(stamps) = segment.timestamps else {
                    return;
                };
                // Only echoes that advance the window measure (RFC 7323 §4.1).
                if more && let Some((half, ())) = data.on_echo(read, stamps.echo) {
                    *wireless = Some(half);
                    // The first time that both halves are known: the handshake.
                    if let (None, Some(wired)) = (self.estimator.round_trip(), *wired) {
                        self.estimator.on_sample(wired + half);
                    }
                }
                let note = Note {
                    wireless: *wireless,
                    silent,
                };
                acknowledgments.on_stamp(read, stamps.value, note);
            }
            Halves::SelfClocking(clock) => {
                if more
                    && let Some(half) = clock.on_acknowledgment(now, number)
                    && let Some(wired) = clock.wired()
                {
                    self.estimator.on_sample(wired + half);
                }
                if carries {
                    clock.on_question(now, segment);
                }
            }
        }
    }
}

/// The last tick at or before `now`.
fn in_ticks(now: Instant, tick: Duration) -> Instant {
    let ticks = now.as_nanos() / tick.as_nanos().max(1);
    Instant::ZERO + tick * ticks
}
