//! A plan: two configurations, two applications, a path, and the actions of an attacker and a bad
//! network, step by step. A plan is plain data, so that it can be printed and shrunk.

use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};

/// Everything that decides a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub profiles: [Profile; 2],
    pub configs: [Config; 2],
    pub applications: [Application; 2],
    pub initial_numbers: [u32; 2],
    /// When the run starts: near a wrap of a timestamp clock in some.
    pub start: Instant,
    /// One-way delay towards each end.
    pub delays: [Duration; 2],
    pub ipv6: bool,
    /// Both ends connect, and neither listens (RFC 9293 §3.5, figure 8).
    pub both_open: bool,
    /// Whether the attacker may do things that no endpoint can survive: it knows every number and
    /// uses them.
    pub lethal: bool,
    pub steps: Vec<Step>,
}

/// The behaviour of one application.
#[derive(Clone, Copy, Debug)]
pub struct Application {
    /// Total bytes it writes.
    pub bytes: u64,
    /// Bytes per write, and the pause between writes.
    pub write: (u64, Duration),
    /// Bytes per read, and the pause between reads.
    pub read: (u64, Duration),
    /// Earliest time after the start at which it closes.
    pub close_after: Duration,
}

/// An operation, and the number of deliveries and wake-ups before it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub after: u64,
    pub operation: Operation,
}

/// An operation on the connection.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// The next `count` packets towards end `to` are treated.
    Treat {
        to: usize,
        count: u64,
        treatment: Treatment,
    },
    /// A packet sent towards end `to` is replayed: the one `back` before the last, or one of the
    /// first.
    Replay {
        to: usize,
        back: usize,
        first: bool,
        copies: u64,
    },
    /// A packet that nobody sent arrives at end `to`.
    Forge {
        to: usize,
        forgery: Forgery,
        copies: u64,
    },
    /// The end announces a window of zero (Freeze-TCP).
    Freeze { end: usize },
    /// It does so no longer.
    Thaw { end: usize },
    /// TCP_NODELAY.
    NoDelay { end: usize, on: bool },
    /// The link reports that it is bad, or that it has delivered a segment.
    LinkReport {
        end: usize,
        delivered: Option<(u32, u32)>,
    },
    /// Neither application writes or closes.
    Silence { seconds: u64 },
    /// The endpoint gives up, or releases the connection: lethal.
    Abort { end: usize, release: bool },
}

/// The treatment of a packet in flight.
#[derive(Clone, Copy, Debug)]
pub enum Treatment {
    Lose,
    Delay {
        by: Duration,
    },
    /// A second copy arrives, this much later.
    Duplicate {
        later: Duration,
    },
    /// One bit is flipped.
    Flip {
        bit: u64,
    },
    /// Only the first bytes arrive.
    Cut {
        keep: u64,
    },
    /// Its options are rewritten, with correct checksums.
    Mangle {
        mangling: Mangling,
    },
    /// Its window is rewritten.
    Window {
        rule: WindowRule,
    },
    /// Its congestion marks are rewritten.
    Mark {
        rule: MarkRule,
    },
}

/// A way of rewriting options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mangling {
    /// NOPs in front.
    Pad { bytes: usize },
    /// An option of an unknown kind in front (RFC 6994).
    Unknown { bytes: u8 },
    /// An option at the end with an impossible length.
    Malformed { length: u8 },
    /// An end of the option list in front of everything.
    EndAtOnce,
    /// The urgent flag with a pointer, and both bits of ECN.
    UrgentAndEcn { pointer: u16 },
    /// Of a first SYN: an option of this kind is removed.
    StripFromSyn { kind: u8 },
    /// Of a SYN: the MSS.
    Mss { value: u16 },
}

/// A way of rewriting a window: never to a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    Zero,
    /// Shifted right.
    Shrink {
        shift: u32,
    },
    /// At most this field.
    AtMost {
        field: u16,
    },
    /// A copy with window zero goes in front: the window closes and reopens.
    ShutBefore,
    /// A copy with window zero follows.
    ShutAfter,
}

/// A way of rewriting congestion marks (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkRule {
    /// A router is congested: it marks ECN-capable packets.
    Congested,
    /// The field of the IP header is overwritten, capable or not: 0 bleaches it.
    Field { bits: u8 },
    /// ECE and CWR are set or cleared, on any packet.
    Flags { ece: bool, cwr: bool },
}

/// A packet that nobody sent, relative to its victim's expectations.
#[derive(Clone, Copy, Debug)]
pub struct Forgery {
    pub kind: Kind,
    pub place: Place,
    pub acknowledges: Acknowledges,
    pub stamps: Stamps,
    /// Shift of the window that was last announced to the victim; 16 is zero.
    pub window_shift: u32,
    pub report: Report,
    /// ECE and CWR, as the flags' highest bits, and the field of the IP header as the lowest.
    pub marks: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only an acknowledgment.
    Bare,
    Data {
        bytes: u16,
        fin: bool,
    },
    Reset {
        ack: bool,
    },
    Syn {
        ack: bool,
    },
    /// Arbitrary flags: lethal.
    Anything {
        flags: u8,
        bytes: u16,
    },
}

/// The place of its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Exact,
    /// This far inside the window.
    Inside(u16),
    /// Entirely this far below the next expected byte.
    Below(u32),
    /// This far beyond the window.
    Beyond(u32),
}

/// The place of its acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledges {
    /// The last one acknowledged.
    Right,
    /// Less, within the largest window.
    Old(u16),
    /// Less than that.
    TooOld(u32),
    /// Beyond the data sent.
    Ahead(u32),
    /// Data that was sent but has not arrived: lethal.
    Optimistic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    Right,
    /// This many ticks before the last: far more than a connection without a long silence has seen.
    Old(u32),
    Jumped(u32),
    Missing,
}

/// The content of its SACK option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    Nothing,
    /// All outstanding data except the first segment.
    Outstanding,
    /// The last bytes that were acknowledged: a duplicate (RFC 2883).
    Duplicate(u16),
    /// Data never sent.
    Unsent,
    /// Ends before it starts.
    Inverted,
    /// Four ranges with starts this far apart.
    Ladder(u16),
}

impl Treatment {
    /// Whether it may remove a packet from the network or make its sender believe so.
    pub const fn may_lose(self) -> bool {
        match self {
            Self::Lose | Self::Flip { .. } | Self::Cut { .. } | Self::Delay { .. } => true,
            Self::Duplicate { .. } | Self::Window { .. } | Self::Mark { .. } => false,
            Self::Mangle { mangling } => matches!(mangling, Mangling::EndAtOnce),
        }
    }
}

impl Plan {
    /// Whether nothing in it loses a packet or holds one back.
    pub fn loses_nothing(&self) -> bool {
        !self.lethal
            && self.steps.iter().all(|step| match step.operation {
                Operation::Treat { treatment, .. } => !treatment.may_lose(),
                _ => true,
            })
    }
}
