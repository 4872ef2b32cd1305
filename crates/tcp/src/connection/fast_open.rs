//! TCP Fast Open (RFC 7413): data in the SYN, and an answer before the handshake is complete.
//!
//! ```text
//!   client                                               server
//!     SYN, request of a cookie ────────────────────────▶
//!     ◀──────────────────────────────── SYN-ACK, cookie
//!     …                                        another connection
//!     SYN, cookie, data ───────────────────────────────▶  the data is delivered at once
//!     ◀──────────── SYN-ACK that acknowledges the data
//!     ◀────────────────────────── data, if it has some
//!     ACK ─────────────────────────────────────────────▶
//! ```
//!
//! A connection knows neither addresses nor cookies of other connections: its caller decides the
//! content of the SYN, and whether a cookie is valid.

use airtcp_packet::{FastOpen, Flags, Segment};
use airtcp_units::Instant;

use super::send_side::Opening;
use super::timestamps::TIMESTAMP_BYTES;
use super::{Connection, State};
use crate::observer::Observer;

/// A TCP header without options (RFC 9293 §3.1).
const HEADER_BYTES: u32 = 20;
/// The minimum payload that a router's report can lead to (Linux, `TCP_MIN_MSS` less options).
const MIN_PAYLOAD: u32 = 48;

/// Additions to a client's first SYN. A retransmitted SYN carries neither: the path may have
/// dropped the SYN for either (Linux, `tcp_retransmit_skb`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenSyn {
    /// A cookie, or the request of one; `None` without the option.
    pub option: Option<FastOpen>,
    /// Limit on the data, in bytes; zero with the request of a cookie.
    pub most: u32,
}

/// A server's decision on a SYN with data or a cookie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenAnswer {
    /// Whether the SYN's data is delivered at once and may be answered: its cookie is valid, or not
    /// required.
    pub opens: bool,
    /// A new cookie, for the SYN-ACK.
    pub grants: Option<FastOpen>,
}

/// Whether a SYN's data arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynData {
    /// The SYN carried no data, or its fate is not known yet.
    #[default]
    None,
    /// The SYN-ACK acknowledges all of it; for a server, it was delivered.
    Accepted,
    /// The SYN-ACK does not acknowledge all of it, and the rest is retransmitted.
    Refused,
}

/// The part of a handshake specific to Fast Open.
#[derive(Clone, Debug, Default)]
pub(super) struct FastOpening {
    asks: Option<FastOpenSyn>,
    answers: FastOpenAnswer,
    /// Bytes of data that the SYN carried.
    carried: u32,
}

impl Connection {
    /// Adds the option of `syn` to the first SYN, and data that is [written](Self::write) until it
    /// is polled, up to its limit. Only for a connection that [opens](Self::connect) and has not
    /// been polled.
    pub fn open_fast(&mut self, syn: FastOpenSyn) {
        if self.state == State::SynSent {
            self.handshake().fast.asks = Some(syn);
        }
    }

    /// Applies the listener's decision on the SYN that is [handled](Self::handle) next. Only for a
    /// connection that [listens](Self::listen).
    pub fn answer_fast_open(&mut self, answer: FastOpenAnswer) {
        if self.state == State::Listen {
            self.handshake().fast.answers = answer;
        }
    }

    /// The request of our SYN, until it is answered, and whether the SYN was retransmitted.
    #[must_use]
    pub fn fast_open_asked(&self) -> Option<(FastOpenSyn, bool)> {
        let handshake = self.handshake.as_ref()?;
        Some((handshake.fast.asks?, handshake.is_retransmitted()))
    }

    /// Expiries of the SYN's timer, until the handshake is complete.
    #[must_use]
    pub fn syn_expiries(&self) -> u32 {
        self.handshake
            .as_ref()
            .map_or(0, |handshake| handshake.expiries())
    }

    /// Whether the SYN's data arrived.
    #[must_use]
    pub const fn syn_data(&self) -> SynData {
        self.syn_data
    }

    /// Whether data flows although the handshake is not complete: on a server after a SYN with a
    /// valid cookie.
    #[must_use]
    pub fn is_open_early(&self) -> bool {
        self.state == State::SynReceived
            && self
                .handshake
                .as_ref()
                .is_some_and(|handshake| handshake.fast.answers.opens)
    }

    /// Handles a router's report that only `bytes` of TCP fit where our SYN was larger; returns
    /// whether it carried data: it is then retransmitted without it.
    pub(super) fn on_syn_too_big(&mut self, bytes: u32) -> bool {
        let stamps = if self.timestamps.enabled {
            TIMESTAMP_BYTES
        } else {
            0
        };
        let handshake = self.handshake();
        let carries = handshake.fast.carried > 0 && !handshake.is_retransmitted();
        if carries {
            handshake.syn_due = true;
            let payload = bytes.saturating_sub(HEADER_BYTES + stamps);
            self.sender.offer_less(payload.max(MIN_PAYLOAD));
        }
        carries
    }

    /// Adds Fast Open's option and data to the first transmission of a SYN, or of the SYN-ACK if it
    /// `answers` one.
    pub(super) fn add_fast_open(&mut self, segment: &mut Segment, answers: bool) {
        let written = self.sender.written();
        let fast = &mut self.handshake().fast;
        let option = if answers {
            fast.answers.grants
        } else {
            let asks = fast.asks.unwrap_or_default();
            fast.carried = u32::try_from(written).unwrap_or(u32::MAX).min(asks.most);
            segment.payload_bytes = fast.carried;
            asks.option
        };
        if let Some(option) = option {
            segment.set_fast_open(option);
        }
    }

    /// The stream offset that `segment`, an answer to our SYN, acknowledges, if the SYN covers it:
    /// the start of the stream or the end of the SYN's data.
    pub(super) fn acknowledged_of_syn(&self, segment: &Segment) -> Option<u64> {
        let carried = self
            .handshake
            .as_ref()
            .map_or(0, |handshake| handshake.fast.carried);
        let offset = segment.acknowledgment.distance(self.sequence(0));
        u64::try_from(offset)
            .ok()
            .filter(|&offset| offset <= u64::from(carried))
    }

    /// Informs the sender of the data sent in the SYN, once the peer's SYN is known: everything
    /// below `acknowledged` has arrived, and the rest is lost if the peer `refuses` it. Returns
    /// whether it arrived.
    pub(super) fn settle_syn_data(&mut self, acknowledged: u64, refuses: bool) -> SynData {
        let handshake = self.handshake();
        let (carried, sent_at) = (u64::from(handshake.fast.carried), handshake.first_sent_at());
        if carried == 0 {
            return SynData::None;
        }
        let sender = self.sender.get_mut();
        sender.on_sent_in_syn(sent_at, carried, acknowledged);
        if acknowledged == carried {
            return SynData::Accepted;
        }
        if refuses {
            sender.on_syn_data_refused();
            self.rare_mut().syn_data_end = carried;
        }
        SynData::Refused
    }

    /// Whether a retransmission that ends at `offset` carries the end of the data of a SYN that was
    /// not accepted; it is pushed as in the SYN (Linux, `tcp_send_syn_data`).
    pub(super) fn ends_refused_syn_data(&self, offset: u64) -> bool {
        self.syn_data == SynData::Refused
            && self
                .rare
                .as_ref()
                .is_some_and(|rare| rare.syn_data_end == offset)
    }

    /// Processes the SYN-ACK to a SYN with data that arrived up to `acknowledged`, in a
    /// simultaneous open.
    pub(super) fn take_answer_to_syn_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        acknowledged: u64,
        observer: &mut impl Observer,
    ) {
        let carried = self.handshake().fast.carried;
        let mut answer = *segment;
        // The window of a SYN is not scaled (RFC 7323 §2.2).
        answer.window >>= self.peer_scale;
        self.take_acknowledgment(now, &answer, [0, acknowledged], None, observer);
        self.syn_data = if acknowledged == u64::from(carried) {
            SynData::Accepted
        } else {
            SynData::Refused
        };
    }

    /// Takes the data and the FIN of a SYN-ACK at the start of its stream (Linux,
    /// `tcp_fastopen_add_skb`): only if our SYN requested Fast Open and all of its data is
    /// acknowledged.
    pub(super) fn take_syn_ack_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        if segment.payload_bytes > 0 || segment.flags.contains(Flags::FIN) {
            self.take_data(now, segment, 0, observer);
        }
    }

    /// Opens the connection by a SYN with a valid cookie: its data is delivered, and written data
    /// may be sent.
    pub(super) fn open_early(
        &mut self,
        now: Instant,
        segment: &Segment,
        observer: &mut impl Observer,
    ) {
        // The window of a SYN is not scaled (RFC 7323 §2.2).
        let window = u64::from(segment.window);
        self.largest_window = 0;
        self.note_largest_window(window);
        self.sender.on_established(window, Opening::Untimed);
        if segment.payload_bytes > 0 {
            let mut data = *segment;
            data.flags = Flags::ACK;
            self.take_data(now, &data, 0, observer);
            self.receiver.forget_arrivals();
            self.syn_data = SynData::Accepted;
        }
    }
}
