//! Labels of retransmissions.

use airtcp_units::{Duration, Instant};

/// Names of an enumeration's values, as they stand in tables.
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
        /// A probe of a receive window that is shut (RFC 9293 §3.8.6.1).
        WindowProbe = "window-probe",
        /// Nothing that is seen here.
        Unclear = "unclear",
    }
}

named! {
    /// Whether the receiver lacked the data.
    Need {
        /// It did.
        Needed = "needed",
        /// It did not: an earlier transmission arrived.
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
        /// The ACK echoes the retransmission's own timestamp.
        OwnEcho = "echo of its own timestamp",
        /// The data was acknowledged when it was retransmitted.
        Acknowledged = "acknowledged before",
        /// The data had passed here before, at the receiver.
        Received = "received before",
        /// The receiver had refused an earlier transmission, which came too late (RFC 7323 §5).
        Refused = "an earlier transmission was refused for its timestamp",
        /// It fills a hole, and was sent after what revealed the hole.
        SentLater = "sent after what revealed the hole",
        /// The answer came sooner than any round trip.
        TooSoon = "answered sooner than a round trip",
        /// After the timeout, ACKs of data that was not retransmitted (RFC 5682 §2).
        OriginalsAcknowledged = "originals acknowledged after the timeout",
        /// Without SACK: it was acknowledged with what an earlier packet repaired, hence had waited
        /// behind that.
        RepairedBefore = "acknowledged by an earlier packet's answer",
        /// Without SACK: the acknowledgment stopped short of what had been sent before it and was
        /// not lost, hence answered an earlier packet.
        StoppedShort = "acknowledged before what was sent earlier",
        /// The answer came a round trip later, and nothing speaks for an earlier transmission.
        Answered = "answered a round trip later",
        /// It fills a hole later than packets of this flow overtake each other.
        HoleFilled = "fills a hole too late for overtaking",
        /// No evidence.
        NoAnswer = "no answer",
    }
}

impl Evidence {
    /// Whether it proves the verdict; otherwise it makes it likely.
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

    /// `proved` or `likely`, as it stands in tables.
    #[must_use]
    pub const fn sureness(self) -> &'static str {
        if self.is_proof() { "proved" } else { "likely" }
    }
}

named! {
    /// Why there was something to retransmit.
    Cause {
        /// The answer was late: the timer expired though nothing was lost.
        DelaySpike = "delay-spike",
        /// Packets overtook each other.
        Reordering = "reordering",
        /// Lost at any length of the queue.
        Radio = "radio",
        /// Lost where the queue was full.
        TailDrop = "tail-drop",
        /// Dropped by a queue that looks after its own delay (RFC 7567): above some delay, not at
        /// the longest.
        Aqm = "aqm",
        /// Dropped by a policer, a token bucket without a queue.
        Policer = "policer",
        /// A queue's or the radio's: it met a queue, and the losses are too few to tell which.
        QueueOrRadio = "queue-or-radio",
        /// Lost with nothing behind it that would reveal the loss.
        TailOfFlight = "tail-of-flight",
        /// A retransmission that was lost itself.
        LostRetransmission = "lost-retransmission",
        /// The capture does not tell.
        NotShown = "not-shown",
    }
}

/// A retransmission and its labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// Its place in [`Analysis::sent`](super::Analysis::sent).
    pub sent: usize,
    /// When it passed here.
    pub time: Instant,
    /// Its number in the capture.
    pub number: u64,
    /// The number of the transmission before it, where that was seen.
    pub original: Option<u64>,
    /// Its first byte, counted from the first byte of data.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// Which transmission of these bytes it is: 1 is the first retransmission.
    pub attempt: u32,
    /// Its trigger.
    pub trigger: Trigger,
    /// Timeouts in a row before it, for those that a timeout triggered.
    pub backoff: u32,
    /// The timeout as reconstructed.
    pub timeout: Duration,
    /// Whether it was needed.
    pub need: Need,
    /// Evidence for it.
    pub evidence: Evidence,
    /// Why there was something to retransmit.
    pub cause: Cause,
    /// Cause of the loss of the transmission before it: radio, tail drop, AQM, policer, one of two,
    /// or not shown. `None` where nothing was lost.
    pub loss: Option<Cause>,
    /// Queue length at the lost transmission, in bytes, interpolated from its neighbours.
    pub queue_bytes: Option<u64>,
    /// Lateness of the original behind what overtook it or behind the timer: of needless ones.
    pub late_by: Option<Duration>,
    /// Bytes that had overtaken the original when it was retransmitted, where it was overtaken.
    pub overtaken_by: u64,
    /// Whether the loss was before the place of capture, as seen from the sender.
    pub is_upstream: bool,
    /// The radio's retry bit was set on the retransmission's frame.
    pub radio_retry: bool,
}
