//! Opening a connection: SYN, SYN-ACK, options (RFC 9293 §3.5, RFC 7323 §2 and §3, RFC 2018 §2).

use airtcp_packet::{Flags, Segment, SequenceNumber};
use airtcp_units::{Duration, Instant};

use super::ecn::EcnState;
use super::fast_open::{FastOpening, SynData};
use super::patience::time_of;
use super::send_side::Opening;
use super::timestamps::TIMESTAMP_BYTES;
use super::{Connection, State};
use crate::config::{HandshakeAck, RepeatedSyn, TimeoutConfig};
use crate::observer::{Event, Observer};
use crate::receiver::Receiver;

/// The window field has 16 bits, and may be shifted by up to 14 (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;
/// The MSS of a peer without the option (RFC 9293 §3.7.1, MUST-15).
const DEFAULT_MSS: u32 = 536;
/// The least MSS accepted from a peer, options included: segments of one byte would each cost fifty
/// times their payload (Linux, `tcp_min_snd_mss`; CVE-2019-11479).
const MIN_MSS: u32 = 48;
/// The first RTO for data if the SYN's timer expired (RFC 6298 §5.7).
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);

/// The SYN or SYN-ACK in flight.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// Whether it must be sent now.
    pub syn_due: bool,
    /// Whether it offers window scaling: a SYN-ACK does not if the peer's SYN did not.
    offers_scale: bool,
    /// Time of its retransmission.
    pub deadline: Instant,
    expiries: u32,
    /// Number of transmissions, and the time of the last.
    transmissions: u32,
    sent_at: Instant,
    first_sent_at: Instant,
    /// State of Fast Open.
    pub fast: FastOpening,
}

impl Default for Handshake {
    fn default() -> Self {
        Self {
            syn_due: false,
            offers_scale: true,
            deadline: Instant::FAR_FUTURE,
            expiries: 0,
            transmissions: 0,
            sent_at: Instant::ZERO,
            first_sent_at: Instant::ZERO,
            fast: FastOpening::default(),
        }
    }
}

impl Handshake {
    /// Records that a SYN-ACK left at an unknown time without state being kept: its answer is timed
    /// as if it had been retransmitted, by its echo or not at all, and it is not retransmitted.
    pub const fn on_answered_before(&mut self) {
        self.syn_due = false;
        self.transmissions = 2;
        self.deadline = Instant::FAR_FUTURE;
    }

    /// Whether more than one left.
    pub const fn is_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Number of times that the timer expired.
    pub const fn expiries(&self) -> u32 {
        self.expiries
    }

    /// Time at which the first left.
    pub const fn first_sent_at(&self) -> Instant {
        self.first_sent_at
    }

    /// Records that one leaves; the first `linear` timeouts are not doubled.
    fn on_sent(&mut self, now: Instant, config: &TimeoutConfig, linear: u8) {
        self.syn_due = false;
        if self.transmissions == 0 {
            self.first_sent_at = now;
        }
        self.transmissions = self.transmissions.saturating_add(1);
        self.sent_at = now;
        let doublings = self.expiries.saturating_sub(linear.into()).min(16);
        self.deadline = now + (config.initial * (1 << doublings)).min(config.max);
    }
}

/// The smallest shift with which a window of `buffer` bytes fits the field.
pub fn window_scale(buffer: u64) -> u8 {
    (0..MAX_SCALE)
        .find(|&scale| buffer >> scale <= u64::from(u16::MAX))
        .unwrap_or(MAX_SCALE)
}

impl Connection {
    /// The handshake in progress.
    pub(super) fn handshake(&mut self) -> &mut Handshake {
        self.handshake.get_or_insert_default()
    }

    /// Time at which the SYN or SYN-ACK is retransmitted.
    pub(super) fn handshake_deadline(&self) -> Instant {
        self.handshake
            .as_ref()
            .map_or(Instant::FAR_FUTURE, |handshake| handshake.deadline)
    }

    /// Returns the SYN or SYN-ACK, if it is due.
    pub(super) fn poll_handshake(&mut self, now: Instant) -> Option<Segment> {
        let handshake = self.handshake.as_mut()?;
        if !handshake.syn_due {
            return None;
        }
        let config = self.sender.config();
        let (mss, sack, wanted) = (config.mss, config.sack, config.ecn);
        let overhead = if config.timestamps {
            TIMESTAMP_BYTES
        } else {
            0
        };
        // SYN-ACKs double from the first (Linux, `tcp_retransmit_timer`, `reqsk_timer_handler`).
        let linear = match self.state {
            State::SynSent => config.limits.syn_linear_timeouts,
            _ => 0,
        };
        let sent = handshake.transmissions;
        let is_first = sent == 0;
        let offers_scale = handshake.offers_scale;
        handshake.on_sent(now, &config.timeout, linear);
        let window = if self.frozen {
            0
        } else {
            self.receiver.window()
        };
        // An answer carries only options that the peer offered (RFC 7323 §2.2 and §3.2, RFC 2018
        // §2); the others were dropped when its SYN arrived.
        let answers = self.state == State::SynReceived;
        let (flags, acknowledgment) = if answers {
            self.receiver.on_ack_sent();
            let next = self.receiver.next_expected();
            self.timestamps.on_ack_sent(next);
            (Flags::SYN | Flags::ACK, super::at(self.irs, next))
        } else {
            (Flags::SYN, SequenceNumber(0))
        };
        let marks = if answers && self.ecn.is_accurate() {
            self.confirm_accurate(sent)
        } else {
            self.ecn.handshake_flags(wanted, answers, sent)
        };
        let mut segment = Segment {
            sequence: self.iss,
            acknowledgment,
            flags: flags | marks,
            // The window of a SYN is never scaled (RFC 7323 §2.2).
            window: u16::try_from(window).unwrap_or(u16::MAX),
            timestamps: self.timestamps.option(now, || self.clock()),
            mss: Some(u16::try_from(mss + overhead).unwrap_or(u16::MAX)),
            window_scale: offers_scale.then_some(self.our_scale),
            sack_permitted: sack,
            ..Segment::default()
        };
        if is_first {
            self.add_fast_open(&mut segment, answers);
        }
        Some(segment)
    }

    pub(super) fn on_segment_in_listen(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        // RFC 9293 §3.10.7.2.
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.answer_stray(segment);
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.on_peer_syn(now, segment);
            self.state = State::SynReceived;
            self.handshake().syn_due = true;
            if self.is_open_early() {
                self.open_early(now, segment, observer);
            }
        }
    }

    pub(super) fn on_segment_in_syn_sent(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        // RFC 9293 §3.10.7.3.
        let acknowledges = segment.flags.contains(Flags::ACK);
        let acknowledged = self.acknowledged_of_syn(segment);
        if acknowledges && (acknowledged.is_none() || self.echoes_no_syn(now, segment)) {
            self.answer_stray(segment);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if acknowledges {
                self.on_reset(now, observer);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.on_peer_syn(now, segment);
        let acknowledged = acknowledged.unwrap_or(0);
        if acknowledges {
            // The echo in a SYN-ACK can be trusted; the window in a SYN is not scaled.
            let asked = self.fast_open_asked().is_some();
            let window = u64::from(segment.window);
            self.syn_data = self.settle_syn_data(acknowledged, true);
            self.on_established(now, window, segment, observer);
            if acknowledged > 0 {
                self.sender.on_window(now, acknowledged + window);
            }
            self.receiver.demand_acknowledgment();
            if asked && self.sender.written() > self.sender.nxt() {
                // A writer waits for the handshake: its data brings this acknowledgment and the
                // next (Linux, `tcp_rcv_synsent_state_process`, `sk_write_pending`).
                self.receiver.expect_answer();
            } else if asked && self.syn_data == SynData::Refused {
                // The retransmitted data brings it (Linux, `tcp_rcv_fastopen_synack`).
            } else if self.sender.config().quirks.handshake_ack == HandshakeAck::Alone {
                self.acks_out_of_turn = 1;
            }
            if asked && self.syn_data != SynData::Refused {
                self.take_syn_ack_data(now, segment, observer);
            }
        } else {
            // Both opened at the same time: answer with a SYN-ACK.
            self.settle_syn_data(0, false);
            self.state = State::SynReceived;
            self.handshake().syn_due = true;
        }
    }

    /// Whether `segment`, an answer to our SYN, echoes a timestamp that was in no SYN of ours: it
    /// belongs to an earlier connection (Linux, `tcp_rcv_synsent_state_process`).
    fn echoes_no_syn(&self, now: Instant, segment: &Segment) -> bool {
        let Some(timestamps) = segment.timestamps.filter(|_| self.timestamps.enabled) else {
            return false;
        };
        let first = self
            .handshake
            .as_ref()
            .map_or(now, |handshake| handshake.first_sent_at);
        let [first, last] = [first, now].map(|at| SequenceNumber(self.clock().value(at)));
        let echo = SequenceNumber(timestamps.echo);
        timestamps.echo != 0 && (echo.before(first) || last.before(echo))
    }

    /// Records the peer's initial sequence number and options.
    fn on_peer_syn(&mut self, now: Instant, segment: &Segment) {
        self.irs = segment.sequence;
        let opens = self.state == State::SynSent;
        self.ecn = EcnState::of_peer_syn(segment, self.sender.config().ecn, opens);
        self.begin_counting(segment);
        self.sender.heed_marks(self.ecn.feedback());
        self.timestamps.enabled &= segment.timestamps.is_some();
        if let Some(timestamps) = segment.timestamps {
            self.timestamps.on_segment(now, timestamps, 0);
        }
        match segment.window_scale {
            Some(scale) => self.peer_scale = scale.min(MAX_SCALE),
            None => {
                (self.peer_scale, self.our_scale) = (0, 0);
                self.handshake().offers_scale = false;
            }
        }
        // An MSS of zero counts as missing (Linux, `tcp_parse_options`).
        let peer_mss = segment.mss.filter(|&mss| mss > 0);
        let peer_mss = peer_mss.map_or(DEFAULT_MSS, u32::from).max(MIN_MSS);
        let config = self.sender.config();
        let sack = config.sack && segment.sack_permitted;
        // The room for timestamps goes to the payload if the peer does without them.
        let (overhead, freed) = match (config.timestamps, self.timestamps.enabled) {
            (_, true) => (TIMESTAMP_BYTES, 0),
            (true, false) => (0, TIMESTAMP_BYTES),
            (false, false) => (0, 0),
        };
        let ours = config.mss + freed;
        let mss = ours.min(peer_mss - overhead).max(1);
        // A window smaller than one step of the window field is announced as zero.
        let step = config.mss.max(1 << self.our_scale);
        self.sender.on_peer_syn(mss, sack, self.timestamps.enabled);
        self.receiver = Receiver::new(self.sender.config(), step);
    }

    /// Completes the handshake: the peer has acknowledged our SYN by `answer` and offers `window`
    /// bytes.
    pub(super) fn on_established(
        &mut self,
        now: Instant,
        window: u64,
        answer: &Segment,
        observer: &mut impl Observer,
    ) {
        self.state = if self.sender.is_closed() {
            State::FinWait1
        } else {
            State::Established
        };
        self.largest_window = 0;
        self.note_largest_window(window);
        let handshake = self.handshake.take().unwrap_or_default();
        let opening = self.opening(now, &handshake, answer);
        if let Opening::Timed(round_trip) | Opening::Restarted(round_trip) = opening {
            self.receiver.on_round_trip(round_trip);
        }
        self.sender.on_established(window, opening);
        self.receiver.set_pause(self.sender.first_timeout());
        observer.event(now, Event::Established);
    }

    /// The handshake's measurement for the sender. Karn's rule holds for the SYN too, whatever the
    /// reason for its retransmission, unless an echoed timestamp resolves the ambiguity.
    fn opening(&self, now: Instant, handshake: &Handshake, answer: &Segment) -> Opening {
        if handshake.transmissions == 1 && handshake.expiries == 0 {
            return Opening::Timed(now - handshake.sent_at);
        }
        if self.sender.config().quirks.repeated_syn == RepeatedSyn::Lost {
            return match handshake.expiries {
                0 => Opening::Untimed,
                1.. => Opening::TimedOut(RTO_AFTER_LOST_SYN),
            };
        }
        let echoed = answer.timestamps.filter(|_| self.timestamps.enabled);
        let first = self.clock().value(handshake.first_sent_at());
        let is_first = echoed.is_some_and(|option| option.echo == first);
        // Retransmitted more than once for whatever reason (Linux, `total_retrans`, `num_retrans`),
        // and by a timer (`undo_marker`, `num_timeout`).
        let restarts = handshake.expiries > 0 && handshake.transmissions > 2 && !is_first;
        let round_trip = echoed.and_then(|option| self.clock().echo(now, option));
        match (round_trip, restarts) {
            (Some(echo), true) => Opening::Restarted(echo.rtt),
            (Some(echo), false) => Opening::Timed(echo.rtt),
            (None, true) => Opening::TimedOut(RTO_AFTER_LOST_SYN),
            // Whether or not the timer expired.
            (None, false) => Opening::Unsure(RTO_AFTER_LOST_SYN),
        }
    }

    /// Whether the SYN is unanswered for as long as its retransmissions would take without linear
    /// timeouts (Linux, `retransmits_timed_out`).
    fn has_opened_too_long(&self, now: Instant) -> bool {
        let config = self.sender.config();
        let limits = &config.limits;
        let Some(handshake) = &self.handshake else {
            return false;
        };
        let (least, largest) = (config.timeout.initial, config.timeout.max);
        self.state == State::SynSent
            && limits.syn_linear_timeouts > 0
            && now - handshake.first_sent_at >= time_of(limits.syn_retries, least, largest)
    }

    /// Retransmits the SYN or SYN-ACK, a limited number of times (RFC 9293 §3.8.3; Linux,
    /// `tcp_write_timeout` and `reqsk_timer_handler`).
    pub(super) fn on_handshake_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.handshake_deadline() <= now {
            let is_late = self.has_opened_too_long(now);
            let retries = match self.state {
                State::SynSent => {
                    let limits = &self.sender.config().limits;
                    limits
                        .syn_retries
                        .saturating_add(limits.syn_linear_timeouts)
                }
                // One more where data flows already (Linux, `tcp_fastopen_synack_timer`).
                _ => {
                    let retries = self.sender.config().limits.synack_retries;
                    retries.saturating_add(self.is_open_early().into())
                }
            };
            let handshake = self.handshake();
            if is_late || handshake.expiries >= u32::from(retries) {
                self.on_patience_lost(now, observer);
                return;
            }
            handshake.expiries += 1;
            handshake.syn_due = true;
            handshake.deadline = Instant::FAR_FUTURE;
        }
    }
}
