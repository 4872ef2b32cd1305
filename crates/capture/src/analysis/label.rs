//! Labels of retransmissions.

use airtcp_units::{Duration, Instant};

/// Names of an enumeration's values, as used in tables.
macro_rules! named {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $value:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$inner])* $value,)*
        }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$value),*];

            /// Its name in tables.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)*
                }
            }
        }
    };
}

named! {
    /// Trigger of the retransmission.
    Trigger {
        /// The retransmission timer expired (RFC 6298 §5).
        Timeout = "timeout",
        /// A tail loss probe (RFC 8985 §7).
        TailProbe = "tail-probe",
        /// The receiver holds later data: duplicate ACKs, SACK, or a partial ACK in recovery.
        Fast = "fast",
        /// Continues a timeout's recovery, clocked by ACKs.
        GoOn = "go-on",
        /// A probe of a closed receive window (RFC 9293 §3.8.6.1).
        WindowProbe = "window-probe",
        /// No trigger visible at this vantage point.
        Unclear = "unclear",
    }
}

named! {
    /// Whether the receiver lacked the data.
    Need {
        /// The receiver lacked the data.
        Needed = "needed",
        /// The receiver had the data: an earlier transmission arrived.
        Needless = "needless",
        /// No answer came before the capture ended.
        Unknown = "unknown",
    }
}

named! {
    /// Evidence for the verdict on the need.
    Evidence {
        /// The receiver reported a duplicate (RFC 2883).
        Dsack = "D-SACK",
        /// The ACK echoes a timestamp from before the retransmission (RFC 3522).
        EarlierEcho = "echo of an earlier timestamp",
        /// The ACK echoes the retransmission's timestamp.
        OwnEcho = "echo of its own timestamp",
        /// The data was already acknowledged when it was retransmitted.
        Acknowledged = "acknowledged before",
        /// The data had passed here before, at the receiver.
        Received = "received before",
        /// The receiver had refused an earlier transmission, which came too late (RFC 7323 §5).
        Refused = "an earlier transmission was refused for its timestamp",
        /// It fills a hole, and was sent after the packet that revealed the hole.
        SentLater = "sent after what revealed the hole",
        /// The answer came sooner than any round trip.
        TooSoon = "answered sooner than a round trip",
        /// After the timeout, ACKs of data that was not retransmitted (RFC 5682 §2).
        OriginalsAcknowledged = "originals acknowledged after the timeout",
        /// Without SACK: it was acknowledged together with an earlier packet's repair, hence had
        /// waited for that.
        RepairedBefore = "acknowledged by an earlier packet's answer",
        /// Without SACK: the acknowledgment stopped short of earlier data that was not lost, hence
        /// answered an earlier packet.
        StoppedShort = "acknowledged before what was sent earlier",
        /// The answer came a round trip later, without evidence for an earlier transmission.
        Answered = "answered a round trip later",
        /// It fills a hole later than packets of this flow overtake each other.
        HoleFilled = "fills a hole too late for overtaking",
        /// No evidence.
        NoAnswer = "no answer",
    }
}

impl Evidence {
    /// Whether it proves the verdict; otherwise the verdict is only likely.
    #[must_use]
    pub const fn is_proof(self) -> bool {
        matches!(
            self,
            Self::Dsack
                | Self::EarlierEcho
                | Self::OwnEcho
                | Self::Acknowledged
                | Self::Received
                | Self::Refused
                | Self::SentLater
        )
    }

    /// `proved` or `likely`, as used in tables.
    #[must_use]
    pub const fn sureness(self) -> &'static str {
        if self.is_proof() { "proved" } else { "likely" }
    }
}

named! {
    /// Why the data was retransmitted.
    Cause {
        /// The answer was late: the timer expired though nothing was lost.
        DelaySpike = "delay-spike",
        /// Packets were reordered.
        Reordering = "reordering",
        /// The data had arrived, and the ACKs that reported it were lost.
        LostAcks = "lost-acks",
        /// The data had arrived, and an ACK that the receiver had held back had no room to
        /// report it: SACK has three or four blocks (RFC 2018 §3).
        CrowdedAcks = "crowded-acks",
        /// Lost at any length of the queue.
        Radio = "radio",
        /// Lost where the queue was full.
        TailDrop = "tail-drop",
        /// Dropped by an AQM (RFC 7567): above some delay, not at the longest.
        Aqm = "aqm",
        /// Dropped by a policer, a token bucket without a queue.
        Policer = "policer",
        /// By a queue or the radio: it met a queue, and there are too few losses to decide.
        QueueOrRadio = "queue-or-radio",
        /// Lost without later data that would reveal the loss.
        TailOfFlight = "tail-of-flight",
        /// A retransmission that was lost itself.
        LostRetransmission = "lost-retransmission",
        /// The capture does not show it.
        NotShown = "not-shown",
    }
}

/// A retransmission and its labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// Index in [`Analysis::sent`](super::Analysis::sent).
    pub sent: usize,
    /// Time at the capture.
    pub time: Instant,
    /// Packet number in the capture.
    pub number: u64,
    /// Packet number of the previous transmission, if captured.
    pub original: Option<u64>,
    /// First byte, relative to the first byte of data.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Number of earlier transmissions of these bytes: 1 is the first retransmission.
    pub attempt: u32,
    /// Its trigger.
    pub trigger: Trigger,
    /// Number of consecutive timeouts before it, if triggered by a timeout.
    pub backoff: u32,
    /// The RTO as reconstructed.
    pub timeout: Duration,
    /// Whether it was needed.
    pub need: Need,
    /// Evidence for it.
    pub evidence: Evidence,
    /// Why the data was retransmitted.
    pub cause: Cause,
    /// Cause of the loss of the previous transmission: radio, tail drop, AQM, policer, queue or
    /// radio, or not shown. `None` if nothing was lost.
    pub loss: Option<Cause>,
    /// Queue length met by the lost transmission, in bytes, interpolated from its neighbours.
    pub queue_bytes: Option<u64>,
    /// For needless ones, lateness of the original after the overtaking packet or the timer.
    pub late_by: Option<Duration>,
    /// Bytes that had overtaken the original by the time of the retransmission, if it was
    /// overtaken.
    pub overtaken_by: u64,
    /// Whether the loss was upstream of the capture, from the sender.
    pub is_upstream: bool,
    /// Whether the retry bit was set on the retransmission's frame.
    pub radio_retry: bool,
}
