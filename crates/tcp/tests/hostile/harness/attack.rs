//! The effects of a step on the connection, above all forged packets.

use std::rc::Rc;

use airtcp_packet::{
    Ecn, Flags, LinkFeedback, SackBlock, SackBlocks, Segment, SequenceNumber, Timestamps,
};
use airtcp_tcp::State;
use airtcp_units::Duration;

use super::plan::{
    Acknowledges, Forgery, Kind, Mangling, Operation, Place, Report, Stamps, Treatment,
};
use super::world::{Packet, World};

/// No packet lives longer (the MSL of RFC 9293 §3.4.2). One that did could set TS.Recent back after
/// 24 days without a segment, when any timestamp is believed (RFC 7323 §5.5): all further segments
/// of the peer would be rejected.
const MAX_LIFE: Duration = Duration::from_secs(120);

/// Length of a silence after which old timestamps may pass for recent ones.
const LONG_SILENCE: u64 = 10_000;

/// Immediate answers to copies of one forged packet: a challenge (RFC 5961 §7), and the
/// acknowledgment that was due anyway.
const MAX_CHALLENGES: u64 = 2;
/// Marked packets without data for each answer (RFC 9768 §3.2.2.5.1).
const MARKS_AN_ANSWER: u64 = 7;

/// ECE and CWR.
const MARK_FLAGS: u8 = 0xc0;

impl World<'_> {
    pub fn perform(&mut self, operation: &Operation) {
        match *operation {
            // Counted where it is applied.
            Operation::Treat {
                to,
                count,
                treatment,
            } => {
                self.treatments[to].push((count, treatment));
            }
            Operation::Replay {
                to,
                back,
                first,
                copies,
            } => self.replay(to, back, first, copies),
            Operation::Forge {
                to,
                forgery,
                copies,
            } => self.forge(to, &forgery, copies),
            Operation::Freeze { end } => {
                self.outcome.count("freeze");
                self.ends[end].connection.freeze(self.now);
                self.poll(end, None);
            }
            Operation::Thaw { end } => {
                self.ends[end].connection.thaw(self.now);
                self.poll(end, None);
            }
            Operation::NoDelay { end, on } => {
                self.outcome.count("no delay");
                self.ends[end].connection.set_no_delay(on);
                self.poll(end, None);
            }
            Operation::LinkReport { end, delivered } => self.link_report(end, delivered),
            Operation::Silence { seconds } => {
                self.outcome.count("silence");
                self.silent_until = self.now + Duration::from_secs(seconds);
                self.slept |= seconds > LONG_SILENCE;
            }
            Operation::Abort { end, release } if self.plan.lethal => {
                self.outcome.count("abort");
                self.wounded = true;
                let connection = &mut self.ends[end].connection;
                if release {
                    connection.release(self.now);
                } else {
                    connection.abort(self.now);
                }
                self.poll(end, None);
            }
            Operation::Abort { .. } => {}
        }
    }

    fn link_report(&mut self, end: usize, delivered: Option<(u32, u32)>) {
        self.outcome.count("link report");
        let una = self.own_number(end, self.ends[end].connection.sender().una());
        let feedback = delivered.map_or(LinkFeedback::BadState, |(behind, retransmissions)| {
            LinkFeedback::Delivered {
                sequence: una + behind,
                retransmissions,
            }
        });
        self.ends[end]
            .connection
            .on_feedback(self.now, &feedback, &mut ());
        self.poll(end, None);
    }

    fn replay(&mut self, to: usize, back: usize, first: bool, copies: u64) {
        let history = &self.history[to];
        let packet = if first {
            history.get(back % 3)
        } else {
            history.iter().rev().nth(back)
        };
        // An old SYN at an endpoint that listens opens another connection.
        if let Some(packet) = packet.cloned()
            && self.now - packet.sent_at <= MAX_LIFE
            && !self.ends[to].is_opening()
        {
            self.outcome.count("replay");
            for _ in 0..copies {
                self.deliver(&packet);
            }
        }
    }

    fn forge(&mut self, to: usize, forgery: &Forgery, copies: u64) {
        let synchronized = |end: usize| {
            let state = self.ends[end].connection.state();
            !self.ends[end].is_opening() && state != State::Closed
        };
        if !synchronized(0) || !synchronized(1) {
            return;
        }
        let lethal = self.is_lethal(to, forgery);
        if lethal && !self.plan.lethal {
            return;
        }
        self.wounded |= lethal;
        self.outcome.count(forgery.name());
        let segment = self.forged(to, forgery);
        let packet = Packet {
            to,
            bytes: Rc::new(self.wire.pack(1 - to, &segment)),
            intact: None,
            damaged: None,
            piece: None,
            depth: 0,
            forged: true,
            sent_at: self.now,
        };
        let counts = self.ends[to].connection.has_accurate_ecn()
            && Ecn::from_bits(forgery.marks) == Ecn::CongestionExperienced;
        // Some may have been counted before.
        let reports = u64::from(counts) * copies.div_ceil(MARKS_AN_ANSWER);
        let limited = !matches!(forgery.kind, Kind::Data { .. } | Kind::Anything { .. });
        let (mut answers, mut resets) = (0, 0);
        for _ in 0..copies {
            let is_closed = self.ends[to].connection.state() == State::Closed;
            let before = self.bare_sent;
            self.deliver(&packet);
            let sent = self.bare_sent - before;
            // Once a copy has ended the connection, each later one belongs to no connection, and is
            // answered with a reset (RFC 9293 §3.10.7.1).
            if is_closed {
                resets = resets.max(sent);
            } else {
                answers += sent;
            }
        }
        assert!(
            !limited || answers <= MAX_CHALLENGES + reports && resets <= 1,
            "storm: {answers} answers to {copies} copies of {segment:?}, and {resets} to each when \
             closed"
        );
    }

    fn stamped(&self, to: usize) -> bool {
        let witness = &self.ends[to].witness;
        witness.own_stamp.is_some() && witness.peer_stamp.is_some()
    }

    /// Whether it does something that no endpoint can distinguish from its peer's actions, or that
    /// RFC 5961 and RFC 7323 do not protect against.
    fn is_lethal(&self, to: usize, forgery: &Forgery) -> bool {
        let inside = matches!(forgery.place, Place::Exact | Place::Inside(_));
        let refused_by_stamps = self.stamped(to)
            && match forgery.stamps {
                // Linux accepts segments without (`tcp_validate_incoming`).
                Stamps::Missing => self.ends[to].config.quirks.timestamps_required,
                Stamps::Old(_) => !self.slept,
                _ => false,
            };
        let refused_by_acknowledgment = matches!(
            forgery.acknowledges,
            Acknowledges::TooOld(_) | Acknowledges::Ahead(_)
        );
        match forgery.kind {
            Kind::Anything { .. } => true,
            Kind::Reset { .. } => self.resets(to, forgery),
            Kind::Syn { .. } => false,
            _ if !inside || refused_by_stamps || refused_by_acknowledgment => false,
            Kind::Data { .. } => true,
            // A number inside the window makes the peer's real window look old (SND.WL1). A
            // timestamp that has jumped makes everything later look old, and so does one from
            // before a long silence, after which any is believed (RFC 7323 §5.5).
            Kind::Bare => {
                forgery.place != Place::Exact
                    || forgery.acknowledges == Acknowledges::Optimistic
                    || self.stamped(to)
                        && (self.slept || matches!(forgery.stamps, Stamps::Jumped(_)))
            }
        }
    }

    /// Whether a forged reset comes from a number that resets: the next byte, the end of the
    /// highest range that was reported, or the peer's FIN (Linux, `tcp_validate_incoming`).
    fn resets(&self, to: usize, forgery: &Forgery) -> bool {
        let receiver = self.ends[to].connection.receiver();
        let at = self.forged(to, forgery).sequence;
        let next = receiver.next_expected();
        let reported = receiver.highest_reported().unwrap_or(next);
        let fin = next - u64::from(receiver.is_finished());
        [next, reported, fin]
            .map(|offset| self.own_number(1 - to, offset))
            .contains(&at)
    }

    /// The sequence number of a stream offset that an end sends.
    fn own_number(&self, end: usize, offset: u64) -> SequenceNumber {
        SequenceNumber(self.plan.initial_numbers[end]) + 1 + offset as u32
    }

    fn forged(&self, to: usize, forgery: &Forgery) -> Segment {
        let end = &self.ends[to];
        let (sender, witness) = (end.connection.sender(), &end.witness);
        let window = end.connection.receiver().acceptable();
        let (flags, bytes) = match forgery.kind {
            Kind::Bare => (Flags::ACK, 0),
            Kind::Data { bytes, fin: false } => (Flags::ACK | Flags::PSH, bytes),
            Kind::Data { bytes, fin: true } => (Flags::ACK | Flags::FIN, bytes),
            Kind::Reset { ack: false } => (Flags::RST, 0),
            Kind::Reset { ack: true } => (Flags::RST | Flags::ACK, 0),
            Kind::Syn { ack: false } => (Flags::SYN, 0),
            Kind::Syn { ack: true } => (Flags::SYN | Flags::ACK, 0),
            Kind::Anything { flags, bytes } => (Flags::from_bits(flags), bytes),
        };
        let next = self.own_number(1 - to, window.start);
        let length = u32::from(bytes) + 1;
        let sequence = match forgery.place {
            Place::Exact => next,
            Place::Inside(by) => {
                next + 1 + u32::from(by) % (window.end - window.start).max(1) as u32
            }
            Place::Below(by) => SequenceNumber(next.0.wrapping_sub(by + length)),
            Place::Beyond(by) => self.own_number(1 - to, window.end) + by,
        };
        let una = self.own_number(to, sender.una());
        let below = |by: u64| SequenceNumber(una.0.wrapping_sub(by as u32));
        let acknowledgment = match forgery.acknowledges {
            Acknowledges::Right => una,
            Acknowledges::Old(by) => {
                below(u64::from(by).min(witness.largest_window).min(sender.una()))
            }
            Acknowledges::TooOld(by) => below(witness.largest_window + u64::from(by)),
            Acknowledges::Ahead(by) => self.own_number(to, sender.nxt()) + by,
            Acknowledges::Optimistic => self.own_number(to, sender.nxt()),
        };
        let known = Timestamps {
            value: witness.peer_stamp.unwrap_or_default(),
            echo: witness.own_stamp.unwrap_or_default(),
        };
        let stamped = |value: u32| Some(Timestamps { value, ..known });
        let timestamps = match forgery.stamps {
            Stamps::Right if self.stamped(to) => Some(known),
            Stamps::Right | Stamps::Missing => None,
            Stamps::Old(by) => stamped(known.value.wrapping_sub(by)),
            Stamps::Jumped(by) => stamped(known.value.wrapping_add(by)),
        };
        Segment {
            sequence,
            acknowledgment,
            payload_bytes: u32::from(bytes),
            window: witness.window_field(forgery.window_shift),
            flags: flags | Flags::from_bits(forgery.marks & MARK_FLAGS),
            ecn: Ecn::from_bits(forgery.marks),
            timestamps,
            tail: self.lies(to, forgery.report, timestamps.is_some()).into(),
            ..Segment::default()
        }
    }

    /// A SACK option that may be false.
    fn lies(&self, to: usize, report: Report, stamped: bool) -> SackBlocks {
        let sender = self.ends[to].connection.sender();
        let at = |offset: u64| self.own_number(to, offset);
        let (una, nxt) = (sender.una(), sender.nxt());
        let mut blocks = SackBlocks::new();
        let mut push = |start: u64, end: u64| {
            blocks.push(SackBlock {
                start: at(start),
                end: at(end),
            });
        };
        match report {
            Report::Nothing => {}
            Report::Outstanding => push(nxt.min(una + sender.mss()), nxt),
            Report::Duplicate(bytes) => push(una.saturating_sub(u64::from(bytes)), una),
            Report::Unsent => push(nxt, nxt + 10_000),
            Report::Inverted => push(nxt, una),
            Report::Ladder(apart) => {
                let room = if stamped { 3 } else { 4 };
                for step in 1..=room {
                    let start = una + step * u64::from(apart);
                    push(start, start + u64::from(apart) / 2 + 1);
                }
            }
        }
        blocks
    }
}

impl Treatment {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lose => "lose",
            Self::Delay { .. } => "delay",
            Self::Duplicate { .. } => "duplicate",
            Self::Flip { .. } => "flip",
            Self::Cut { .. } => "cut",
            Self::Mangle { .. } => "mangle",
            Self::Window { .. } => "window",
            Self::Mark { .. } => "mark",
        }
    }
}

impl Mangling {
    /// Whether an endpoint may drop a packet that carries it.
    pub const fn may_drop(self) -> bool {
        matches!(self, Self::EndAtOnce)
    }

    /// Whether the two endpoints could disagree on the negotiated options.
    pub const fn breaks_negotiation(self) -> bool {
        matches!(self, Self::StripFromSyn { .. } | Self::EndAtOnce)
    }
}

impl Forgery {
    pub const fn name(&self) -> &'static str {
        match (self.kind, self.place) {
            (Kind::Bare, _) => "forged acknowledgment",
            (Kind::Data { .. }, _) => "forged data",
            (Kind::Reset { .. }, Place::Exact) => "exact reset",
            (Kind::Reset { .. }, Place::Inside(_)) => "reset inside the window",
            (Kind::Reset { .. }, _) => "reset outside the window",
            (Kind::Syn { .. }, _) => "forged SYN",
            (Kind::Anything { .. }, _) => "anything",
        }
    }
}
